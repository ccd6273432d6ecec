"""The most memory that reading takes above an idle process, by window, beside Rerun's own client; prints a table.

usage: memory.py --server RERUN --heavy DIR [--multirate DIR] [--large DIR] [--peer PYTHON ..] [--window BYTES ..]
                 [--rounds N] [--peers-only] [QUERY ..]

`full` reads all of the dataset `heavy`, `mr_full_fill` all of `multirate` with latest-at fill, `large` all of a larger
`heavy`; `count` counts the rows of that one, with Segue alone. RERUN is the server's binary, each PYTHON an interpreter
that has `rerun-sdk[catalog]`. Segue is left out with `--peers-only`, and when it is not built and no window is given;
to build it: `cargo build --release -p segue-benches --example scan`.
"""

import argparse
import statistics
import sys

from bench import HERE, SCAN, measure, server, version

MIB = 1024 * 1024
FILLED = "SELECT * FROM segment_stream('multirate', 'time', fill => 'latest_at')"
# Dataset, index and statement of Segue, and the query of the peer where it has one.
QUERIES = {
    "full": ("heavy", "frame_nr", "SELECT * FROM t", "full"),
    "mr_full_fill": ("multirate", "time", FILLED, "mr_full_fill"),
    "large": ("large", "frame_nr", "SELECT * FROM t", "full"),
    "count": ("large", "frame_nr", "SELECT count(*) FROM t", None),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True)
    for dataset in ("heavy", "multirate", "large"):
        parser.add_argument(f"--{dataset}")
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--window", action="append", type=int, default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers-only", action="store_true")
    parser.add_argument("queries", nargs="*")
    args = parser.parse_args()
    folders = {name: getattr(args, name) for name in ("heavy", "multirate", "large")}
    datasets = [f"{name}={folder}" for name, folder in folders.items() if folder]
    windows = segue_windows(args)
    with server(args.server, datasets) as (pid, url):
        print("| query | client | window MB | rows | total s | client CPU s | peak above idle MB |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for name in args.queries or [name for name in QUERIES if folders[QUERIES[name][0]]]:
            measure_all(name, clients(name, args.peer, windows, url), args.rounds, pid)


def segue_windows(args):
    """The windows to run Segue with, none to leave it out."""
    if args.peers_only:
        return []
    if SCAN.exists():
        return args.window or [64 * MIB, 256 * MIB, 1024 * MIB]
    if args.window:
        sys.exit(f"{SCAN} is not built: no run with a window")
    print(f"{SCAN} is not built: peers only", file=sys.stderr)
    return []


def clients(name, peers, windows, url):
    """Commands by client and window."""
    dataset, index, sql, query = QUERIES[name]
    segue = [SCAN, url, dataset, index, "/**", sql]
    commands = {("segue", f"{window / 1e6:.0f}"): [*segue, str(window)] for window in windows}
    for python in peers if query else []:
        commands[(version(python), "-")] = [python, HERE / "peer.py", url, query, dataset]
    return commands


def measure_all(name, commands, rounds, pid):
    runs = {client: [] for client in commands}
    for _ in range(rounds):
        for client, command in commands.items():
            runs[client].append(measure(command, pid))
    for (client, window), own in runs.items():
        rows = "/".join(str(count) for count in sorted({run["rows"] for run in own}))
        total, cpu = (statistics.median(run[key] for run in own) for key in ("total_s", "cpu_s"))
        # The bound is for every run, so it is the worst that counts.
        peak = max(run["peak"] - run["idle"] for run in own) / 1e6
        print(f"| {name} | {client} | {window} | {rows} | {total:.2f} | {cpu:.2f} | {peak:.0f} |", flush=True)


main()
