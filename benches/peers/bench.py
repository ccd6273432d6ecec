"""What the measurements have in common: a real server on loopback, and clients in processes of their own."""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
SCAN = HERE.parent.parent / "target/release/examples/scan"
# Seconds after which a run has failed.
LIMIT = 900


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


@contextlib.contextmanager
def server(binary, datasets):
    """A server of `NAME=DIR` datasets that answers, without its reports to its makers: process id and address."""
    with tempfile.TemporaryDirectory() as home:
        config = pathlib.Path(home, "rerun")
        config.mkdir(parents=True)
        quiet = {"analytics_enabled": False, "analytics_id": "0" * 32, "metadata": {}}
        quiet |= {"config_file_path": str(config / "analytics.json"), "data_dir_path": home}
        (config / "analytics.json").write_text(json.dumps(quiet))
        port = free_port()
        command = [binary, "server", "--host", "127.0.0.1", "--port", str(port)]
        for dataset in datasets:
            command += ["-d", dataset]
        environment = os.environ | {"XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            wait_for(port)
            yield process.pid, f"rerun+http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(LIMIT)


def wait_for(port):
    for _ in range(3000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
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


def version(python):
    """The name of the peer that an interpreter has."""
    show = "import rerun; print(rerun.__version__)"
    shown = subprocess.run([python, "-c", show], capture_output=True, text=True, timeout=LIMIT, check=True)
    return f"rerun {shown.stdout.strip()}"
