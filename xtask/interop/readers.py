"""Reads the golden cases with the official Python client and compares.

    readers.py GOLDEN REAL-URL [SEGUE-URL]

GOLDEN is the folder with `cases.json` and the expected answers. All cases are
read from each server and compared with the files. What a client sees besides
(names, schemas, tables of segments, ranges) has to be equal at both servers.
Prints a line for each difference, and exits with 1 if there is one.
"""

import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import rerun as rr

# Values that are a server's own: where it keeps a segment and since when; that Segue calls a layer
# after its file, the other one `base`; and that Segue counts bytes as stored, the other one as in
# memory.
OWN = {"rerun_storage_urls", "rerun_last_updated_at", "rerun_layer_names", "rerun_size_bytes"}


def metadata(field):
    """What the protocol says about a column."""
    pairs = (field.metadata or {}).items()
    return {key: value for key, value in pairs if key.startswith(b"rerun:")}


def sorted_by(table, keys):
    return table.sort_by([(key, "ascending") for key in keys]) if keys else table


def differing(found, expected):
    """What differs between two tables, columns compared by name, values of `OWN` not at all."""
    if sorted(found.column_names) != sorted(expected.column_names):
        missing = sorted(set(expected.column_names) - set(found.column_names))
        extra = sorted(set(found.column_names) - set(expected.column_names))
        yield f"columns {missing} missing, {extra} not expected"
        return
    if found.num_rows != expected.num_rows:
        yield f"{found.num_rows} rows, not {expected.num_rows}"
        return
    for field in expected.schema:
        name, other = field.name, found.schema.field(field.name)
        if other.type != field.type:
            yield f"{name}: type {other.type}, not {field.type}"
        elif other.nullable != field.nullable:
            yield f"{name}: nullable {other.nullable}, not {field.nullable}"
        elif metadata(other) != metadata(field):
            yield f"{name}: metadata {metadata(other)}, not {metadata(field)}"
        if name in OWN:
            continue
        # As text, so that a NaN equals itself, and -0.0 does not equal 0.0.
        rows = zip(found[name].to_pylist(), expected[name].to_pylist())
        for row, (value, right) in enumerate(rows):
            if repr(value) != repr(right):
                yield f"{name}: row {row} is {value!r}, not {right!r}"
                break


def table_of(reader):
    """All rows of a reader, with its schema even if there are none."""
    batches = reader.collect()
    return pa.Table.from_batches(batches, batches[0].schema if batches else reader.schema())


def statement(sql, view):
    """The case's SQL over a view in place of the call of the function."""
    start = sql.index("segment_stream(")
    quoted, end = False, start
    while quoted or sql[end] != ")":
        quoted ^= sql[end] == "'"
        end += 1
    return sql[:start] + view + sql[end + 1 :]


def answer(client, case):
    """What the client says to a case."""
    dataset = client.get_dataset(case["dataset"])
    view = dataset.filter_contents(case["contents"])
    if case["segments"] is not None:
        view = view.filter_segments(case["segments"])
    options = dict(case.get("reader", {}))
    values = options.get("using_index_values")
    if isinstance(values, dict):
        typed = {segment: pa.array(list(at), pa.int64()).to_numpy() for segment, at in values.items()}
        options["using_index_values"] = typed
    elif values is not None:
        options["using_index_values"] = pa.array(values, pa.int64()).to_numpy()
    reader = view.reader(index=case["index"], **options)
    name = case["name"]
    sql = statement(case["sql"], name)
    if sql == f"SELECT * FROM {name}":
        return table_of(reader)
    segments = f"{case['dataset']}._segments"
    if segments in sql:
        client.ctx.register_view(f"{name}_segments", dataset.segment_table())
        sql = sql.replace(segments, f"{name}_segments")
    client.ctx.register_view(name, reader)
    return table_of(client.ctx.sql(sql))


def check(client, case, golden):
    """What is wrong with the answer to a case."""
    try:
        found = answer(client, case)
    except Exception as error:  # whatever the client raises is a result
        if not case.get("error"):
            yield f"{type(error).__name__}: {error}"
        elif case["peer_error"] not in str(error):
            yield f"{type(error).__name__}: {error}, not: {case['peer_error']}"
        return
    if case.get("error"):
        yield "no error"
        return
    expected = pq.read_table(golden / f"{case['name']}.parquet")
    yield from differing(sorted_by(found, case["sort"]), expected)


def schema_of(dataset):
    schema = dataset.schema()
    # The first is how 0.41 wants it, the second all that 0.36 has.
    return schema.to_arrow() if hasattr(schema, "to_arrow") else dataset.arrow_schema()


def seen(client):
    """What a client sees besides rows: tables by what they show."""
    tables = {"datasets": pa.table({"name": sorted(client.dataset_names())})}
    for name in client.dataset_names():
        dataset = client.get_dataset(name)
        segments = table_of(dataset.segment_table())
        ranges = table_of(dataset.get_index_ranges())
        ids = pa.table({"id": sorted(dataset.segment_ids())})
        tables |= {
            f"schema of {name}": schema_of(dataset).empty_table(),
            f"segments of {name}": sorted_by(segments, ["rerun_segment_id"]),
            f"ranges of {name}": sorted_by(ranges, ["rerun_segment_id"]),
            f"ids of {name}": ids,
        }
    return tables


def main():
    golden, *urls = sys.argv[1:]
    golden = pathlib.Path(golden)
    cases = json.loads((golden / "cases.json").read_text())
    right = None
    failures = 0
    for url in urls:
        client = rr.catalog.CatalogClient(url)
        wrong = [(case["name"], why) for case in cases for why in check(client, case, golden)]
        tables = seen(client)
        if right is None:
            right = tables
        for what in sorted(right.keys() | tables.keys()):
            if what not in right or what not in tables:
                wrong.append((what, "only at one of the servers"))
            else:
                wrong += [(what, why) for why in differing(tables[what], right[what])]
        for what, why in wrong:
            print(f"{url}: {what}: {why}")
        # The line that the caller looks for.
        print(f"{url}: {len(cases)} cases, {len(tables)} tables, {len(wrong)} differences")
        failures += len(wrong)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
