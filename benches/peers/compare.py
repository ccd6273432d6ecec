"""Segue and Rerun's own client against the same server, in turns; prints a table of medians and ratios.

usage: compare.py --server RERUN --data DIR --peer PYTHON [--peer PYTHON ..] [--rounds N] [QUERY ..]

RERUN is the server's binary, DIR the recordings of the dataset `heavy`, each PYTHON an interpreter that has
`rerun-sdk[catalog]`. Build `cargo build --release -p segue-benches --example scan` first.
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
SCAN = HERE.parent.parent / "target/release/examples/scan"
COLUMNS = ", ".join(f'"/joint/{x}:Scalars:scalars"' for x in "abcd")
# Contents, and the statement over the table `t`.
QUERIES = {
    "full": ("/**", "SELECT * FROM t"),
    "full_notime": ("/**", f"SELECT rerun_segment_id, frame_nr, {COLUMNS} FROM t"),
    "proj_contents": ("/joint/a", 'SELECT frame_nr, "/joint/a:Scalars:scalars" FROM t'),
    "limit10": ("/**", "SELECT * FROM t LIMIT 10"),
}
# Seconds after which a run has failed.
LIMIT = 300


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def start_server(binary, data, home):
    """A server on loopback that answers, without its reports to its makers."""
    config = pathlib.Path(home, "rerun")
    config.mkdir(parents=True)
    quiet = {"analytics_enabled": False, "analytics_id": "0" * 32, "metadata": {}}
    quiet |= {"config_file_path": str(config / "analytics.json"), "data_dir_path": home}
    (config / "analytics.json").write_text(json.dumps(quiet))
    port = free_port()
    command = [binary, "server", "--host", "127.0.0.1", "--port", str(port), "-d", f"heavy={data}"]
    environment = os.environ | {"XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}
    server = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, f"rerun+http://127.0.0.1:{port}"
        time.sleep(0.1)
    server.kill()
    sys.exit("the server does not start")


def server_cpu(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def loopback():
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        if line.strip().startswith("lo:"):
            return int(line.split()[9])
    return 0


def measure(command, pid):
    cpu, wire = server_cpu(pid), loopback()
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr}")
    took = json.loads(done.stdout.splitlines()[-1])
    took["server_cpu_s"], took["wire"] = server_cpu(pid) - cpu, loopback() - wire
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--peer", action="append", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("queries", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        server, url = start_server(args.server, args.data, home)
        try:
            compare(args, server.pid, url)
        finally:
            server.terminate()
            server.wait()


def compare(args, pid, url):
    print("| query | client | rows | first s | total s | client CPU s | server CPU s | peak above idle MB | wire MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in args.queries or QUERIES:
        contents, sql = QUERIES[name]
        clients = {"segue": [SCAN, url, "heavy", "frame_nr", contents, sql]}
        for python in args.peer:
            version = "import rerun; print(rerun.__version__)"
            version = subprocess.run([python, "-c", version], capture_output=True, text=True).stdout
            clients[f"rerun {version.strip()}"] = [python, HERE / "peer.py", url, name]
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
