"""Segue and Rerun's own client against the same server, in turns; prints a table of medians and ratios.

usage: compare.py --server RERUN --data DIR --peer PYTHON [--peer PYTHON ..] [--rounds N] [QUERY ..]

RERUN is the server's binary, DIR the recordings of the dataset `heavy`, each PYTHON an interpreter that has
`rerun-sdk[catalog]`. Build `cargo build --release -p segue-benches --example scan` first.
"""

import argparse
import statistics

from bench import HERE, SCAN, measure, server, version

COLUMNS = ", ".join(f'"/joint/{x}:Scalars:scalars"' for x in "abcd")
# Contents, and the statement over the table `t`.
QUERIES = {
    "full": ("/**", "SELECT * FROM t"),
    "full_notime": ("/**", f"SELECT rerun_segment_id, frame_nr, {COLUMNS} FROM t"),
    "proj_contents": ("/joint/a", 'SELECT frame_nr, "/joint/a:Scalars:scalars" FROM t'),
    "limit10": ("/**", "SELECT * FROM t LIMIT 10"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--peer", action="append", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("queries", nargs="*")
    args = parser.parse_args()
    with server(args.server, [f"heavy={args.data}"]) as (pid, url):
        compare(args, pid, url)


def compare(args, pid, url):
    print("| query | client | rows | first s | total s | client CPU s | server CPU s | peak above idle MB | wire MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in args.queries or QUERIES:
        contents, sql = QUERIES[name]
        clients = {"segue": [SCAN, url, "heavy", "frame_nr", contents, sql]}
        for python in args.peer:
            clients[version(python)] = [python, HERE / "peer.py", url, name]
        runs = {client: [] for client in clients}
        for _ in range(args.rounds):
            for client, command in clients.items():
                runs[client].append(measure(command, pid))
        for client, all_runs in runs.items():
            print(f"| {name} | {client} | {row(all_runs)} |", flush=True)


def row(runs):
    def median(value):
        return statistics.median(value(run) for run in runs)

    rows = {run["rows"] for run in runs}
    cells = [
        "/".join(str(count) for count in sorted(rows)),
        f"{median(lambda r: r['first_s']):.2f}",
        f"{median(lambda r: r['total_s']):.2f}",
        f"{median(lambda r: r['cpu_s']):.2f}",
        f"{median(lambda r: r['server_cpu_s']):.2f}",
        f"{median(lambda r: r['peak'] - r['idle']) / 1e6:.0f}",
        f"{median(lambda r: r['wire']) / 1e6:.0f}",
    ]
    return " | ".join(cells)


main()
