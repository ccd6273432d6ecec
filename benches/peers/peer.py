"""One query with Rerun's own client in a fresh process; prints what it took as one line of JSON.

usage: peer.py URL QUERY [DATASET]

Needs `rerun-sdk[catalog]`. Times are in seconds, sizes in bytes.
"""

import json
import resource
import sys
import time

import rerun as rr
from datafusion import col

A = "/joint/a:Scalars:scalars"


def filled(multirate):
    return multirate.reader(index="time", fill_latest_at=True)


def frames(heavy):
    return heavy.reader(index="frame_nr")


QUERIES = {
    "full": frames,
    "full_notime": lambda heavy: frames(heavy).select(
        "rerun_segment_id", "frame_nr", *[f"/joint/{x}:Scalars:scalars" for x in "abcd"]
    ),
    "proj_contents": lambda heavy: frames(heavy.filter_contents("/joint/a")).select(
        col("frame_nr"), col(A)
    ),
    "limit10": lambda heavy: frames(heavy).limit(10),
    "mr_full_fill": filled,
}


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    url, query, *dataset = sys.argv[1:]
    client = rr.catalog.CatalogClient(url)
    idle, cpu_before, start = peak(), cpu(), time.perf_counter()
    frame = QUERIES[query](client.get_dataset(*(dataset or ["heavy"])))
    rows, first = 0, None
    for batch in frame.execute_stream():
        first = first or time.perf_counter() - start
        rows += batch.to_pyarrow().num_rows
    total = time.perf_counter() - start
    took = {"rows": rows, "first_s": first or total, "total_s": total, "cpu_s": cpu() - cpu_before}
    print(json.dumps(took | {"idle": idle, "peak": peak()}))


main()
