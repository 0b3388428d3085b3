#!/usr/bin/python3
"""Measures the daemon and other implementations of its API beside each other, in turns, over HTTP.

    tests/bench/peer_runs.py --armatured build/release/daemon/armatured --root /tmp/peers [--rounds 3] [--seconds 4]

Each server keeps its data in a file or directory on disk. Prints a table in Markdown: seconds from the start of the process
to the first answer, its memory with one small table (RSS), calls to fsync during 100 puts one after another (needs strace),
and puts and gets a second, by medians of the rounds. 16 connections of two processes send the requests and look only at the
status of the answers. Where a server is faster than this generator, its figures are the generator's. Peers are installed
below --root, as for tests/differential.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "differential"))
from peers import HEADERS, Side, free_port, install, installed_dynoxide  # noqa: E402

PROCESSES, CONNECTIONS = 2, 8
TABLE = {"TableName": "things", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
         "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}
TEXT = "x" * 270  # an item of about 300 bytes
KEYS = 2000


def command_of(name, options, data, port):
    """The command that starts a server with its data on disk, and the process group's environment."""
    root = pathlib.Path(options.root).resolve() / name
    if name == "armature":
        return [options.armatured, f"--data_dir={data}", f"--http_listen=127.0.0.1:{port}", "--grpc_listen=off"]
    if name == "dynoxide":
        command, _ = installed_dynoxide(root)(port)
        return [*command, "--db-path", f"{data}.db"]
    if not (root / "node_modules/dynalite").exists():
        root.mkdir(parents=True, exist_ok=True)
        install(["npm", "install", "--prefix", str(root), "--no-audit", "--no-fund", "dynalite@4.0.0"], root)
    return ["node", str(root / "node_modules/dynalite/cli.js"), "--host", "127.0.0.1", "--port", str(port), "--path", str(data),
            "--createTableMs", "0"]


@contextlib.contextmanager
def server(name, options):
    """A running server: its process, port and the seconds until its first answer."""
    with tempfile.TemporaryDirectory(prefix="armature_peer_", dir=options.data) as folder, open(os.devnull, "wb") as nowhere:
        port = free_port()
        command = command_of(name, options, pathlib.Path(folder) / "data", port)
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=nowhere, stderr=nowhere)
        try:
            side = Side(name, f"127.0.0.1:{port}")
            while side.call("ListTables", {})[0] != 200:
                if process.poll() is not None:
                    raise RuntimeError(f"{name} does not start: {' '.join(command)}")
            took = time.monotonic() - begin
            status, answer = side.call("CreateTable", TABLE)
            if status != 200:
                raise RuntimeError(f"{name}: {answer}")
            side.active("things")
            yield process, port, took
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()


def request_bytes(port, operation, document):
    body = json.dumps(document).encode()
    head = {**HEADERS, "X-Amz-Target": f"DynamoDB_20120810.{operation}", "Host": f"127.0.0.1:{port}",
            "Content-Length": str(len(body))}
    return b"POST / HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in head.items()).encode() + b"\r\n" + body


def request_maker(port, operation, first):
    """A function from a number to a request. Each put differs from all others, as a write that changes nothing may be left out."""
    key = {"id": {"S": "key-key-key"}}
    members = {"Item": {**key, "text": {"S": TEXT}, "version": {"S": "ver-ver-ver"}}} if operation == "PutItem" else {"Key": key}
    template = request_bytes(port, operation, {"TableName": "things", **members})

    def make(count):
        number = count * PROCESSES * CONNECTIONS + first
        return template.replace(b"key-key-key", b"%011d" % (number % KEYS)).replace(b"ver-ver-ver", b"%011d" % number)

    return make


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def exchange(self, request):
        self.socket.sendall(request)
        data = self.rest
        while b"\r\n\r\n" not in data:
            data += self.socket.recv(65536) or self.closed()
        head, _, body = data.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(data[:500])
        length = int(re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)[1])
        while len(body) < length:
            body += self.socket.recv(65536) or self.closed()
        self.rest = body[length:]

    def closed(self):
        raise RuntimeError("the server has closed the connection")


def run_connection(port, operation, first, end, counts):
    connection, count, make = Connection(port), 0, request_maker(port, operation, first)
    while time.monotonic() < end:
        connection.exchange(make(count))
        count += 1
    counts.append(count)


def run_process(port, operation, number, seconds, result):
    end, counts = time.monotonic() + seconds, []
    threads = [threading.Thread(target=run_connection, args=(port, operation, number * CONNECTIONS + i, end, counts))
               for i in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result.put(sum(counts) if len(counts) == CONNECTIONS else None)


def calls_per_second(port, operation, seconds):
    result = multiprocessing.Queue()
    processes = [multiprocessing.Process(target=run_process, args=(port, operation, number, seconds, result))
                 for number in range(PROCESSES)]
    for process in processes:
        process.start()
    counts = [result.get() for _ in processes]
    for process in processes:
        process.join()
    if None in counts:
        raise RuntimeError("calls have failed")
    return sum(counts) / seconds


def fsyncs(process, port):
    """Calls to fsync and fdatasync of the server during 100 puts; None without strace."""
    if shutil.which("strace") is None:
        return None
    with tempfile.NamedTemporaryFile("r") as log:
        tracer = subprocess.Popen(["strace", "-f", "-q", "-e", "trace=fsync,fdatasync", "-o", log.name, "-p", str(process.pid)],
                                  stderr=subprocess.DEVNULL)
        while not all(is_traced(thread) for thread in pathlib.Path(f"/proc/{process.pid}/task").iterdir()):
            if tracer.poll() is not None:
                return None
        connection, make = Connection(port), request_maker(port, "PutItem", 1)
        for number in range(100):
            connection.exchange(make(10**7 + number))
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        return len(re.findall(r" f(?:data)?sync\(", log.read()))


def is_traced(thread):
    status = (thread / "status").read_text(encoding="ascii")
    return re.search(r"TracerPid:\s+(\d+)", status)[1] != "0"


def rss_mb(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--root", required=True, help="where peers are installed")
    parser.add_argument("--data", help="directory for the data, on a real disk; default: that of temporary files")
    parser.add_argument("--servers", default="armature,dynoxide,dynalite")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    options = parser.parse_args()
    found = {name: {"start": [], "rss": [], "PutItem": [], "GetItem": []} for name in options.servers.split(",")}
    for _ in range(options.rounds):
        for name, figures in found.items():
            with server(name, options) as (process, port, took):
                figures["start"].append(took)
                figures["rss"].append(rss_mb(process))
                for operation in ("PutItem", "GetItem"):
                    figures[operation].append(calls_per_second(port, operation, options.seconds))
                figures["fsyncs"] = fsyncs(process, port)
    print("| | start, s | memory, MB | fsyncs in 100 puts | puts/s | gets/s |\n| --- | --- | --- | --- | --- | --- |")
    for name, figures in found.items():
        cells = [f"{statistics.median(figures[key]):,.{digits}f} ({min(figures[key]):,.{digits}f}-{max(figures[key]):,.{digits}f})"
                 for key, digits in (("start", 2), ("rss", 0), ("PutItem", 0), ("GetItem", 0))]
        print(f"| {name} | {cells[0]} | {cells[1]} | {figures['fsyncs']} | {cells[2]} | {cells[3]} |")


if __name__ == "__main__":
    main()
