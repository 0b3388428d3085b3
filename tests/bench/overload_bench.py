#!/usr/bin/python3
"""Overload of a daemon of its own on both fronts, by a schedule: the generator on one core, the daemon on the others."""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "support"))
from armature_daemon import Daemon  # noqa: E402
from floor_process import Floor  # noqa: E402
from raw_grpc_client import field, text_item  # noqa: E402

ROWS = 5000
TABLE = "Load"
NUMBER = "#" * 16


# Operation, request over HTTP, request over gRPC.
WORKLOADS = {
    "get": ("GetItem", b'{"TableName":"Load","Key":{"id":{"S":"k7"}}}',
            field(1, TABLE.encode()) + field(2, text_item(id="k7"))),
    "put": ("PutItem", b'{"TableName":"Load","Item":{"id":{"S":"%s"},"note":{"S":"x"}}}' % NUMBER.encode(),
            field(1, TABLE.encode()) + field(2, text_item(id=NUMBER, note="x"))),
    # Reads all rows on the read pool, and answers with none.
    "scan": ("Scan", b'{"TableName":"Load","FilterExpression":"note = :t","ExpressionAttributeValues":{":t":{"S":"y"}}}',
             field(1, TABLE.encode()) + field(9, b"note = :t") + field(15, field(1, b":t") + field(2, field(1, b"y")))),
}


def fill(daemon):
    daemon.create_table(TABLE)
    for begin in range(0, ROWS, 25):
        daemon.json_call("BatchWriteItem", RequestItems={TABLE: [
            {"PutRequest": {"Item": {"id": {"S": f"k{key}"}, "note": {"S": "x" * 100}}}}
            for key in range(begin, begin + 25)]})


def run(arguments, address, pid, workload, front, generator):
    """The last line of overload_bench."""
    operation, json_request, grpc_request = WORKLOADS[workload]
    is_grpc = front == "grpc"
    with tempfile.NamedTemporaryFile() as request:
        request.write(grpc_request if is_grpc else json_request)
        request.flush()
        bench = subprocess.Popen(
            [arguments.bench, f"--address={address}", f"--operation={operation}",
             f"--grpc={str(is_grpc).lower()}", f"--request={request.name}", f"--pid={pid}",
             f"--connections={32 if is_grpc else arguments.connections}",
             f"--calls_per_connection={100 if is_grpc else 1}", f"--seconds={arguments.seconds}",
             f"--times={arguments.times}"],
            stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {generator}))
        line = ""
        for line in bench.stdout:
            print(line, end="", flush=True)
        if bench.wait() != 0:
            raise SystemExit(f"overload_bench.py: {arguments.bench} failed with status {bench.returncode}")
        return line


def print_medians(name, lines):
    """Median and range of the figures with a goal."""
    figures = [("p99 to that at half load", r"first second ([\d.]+) times"), ("p99 to that at the peak", r"([\d.]+) times that at the peak"),
               ("% of the peak", r"(\d+) % of the peak"), ("s to recover", r"recovered after ([\d.]+) s")]
    print(f"{name}, median and range of {len(lines)} rounds:")
    for title, pattern in figures:
        values = [float(re.search(pattern, line)[1]) for line in lines]
        print(f"  {title:26} {statistics.median(values):7.1f}   {min(values):.1f} to {max(values):.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--bench", required=True, help="overload_bench")
    parser.add_argument("--workloads", default="get,put,scan")
    parser.add_argument("--fronts", default="http,grpc")
    parser.add_argument("--floor", action="append", default=[],
                        help="h2_floor or grpc_floor, may be repeated: its puts and gets (of no row) before those of the daemon, in turns")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--times", type=float, default=20)
    parser.add_argument("--connections", type=int, default=1000)
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    generator, served = cores[-1], cores[:-1] or cores

    def pin():
        os.sched_setaffinity(0, served)

    results = {}
    for name in [name for name in arguments.workloads.split(",") for _ in range(arguments.rounds)]:
        for front in arguments.fronts.split(","):
            for program in arguments.floor if front == "grpc" and name != "scan" else []:
                flags = ["--reads"] if name == "get" else []
                with tempfile.TemporaryDirectory() as directory, \
                        Floor(program, f"{directory}/floor", *flags, preexec_fn=pin) as floor:
                    title = f"{name}, {os.path.basename(program)}"
                    print(f"{title}:", flush=True)
                    results.setdefault(title, []).append(
                        run(arguments, floor.grpc, floor.process.pid, name, front, generator))
            with Daemon(arguments.armatured, "--metrics_listen=127.0.0.1:0", preexec_fn=pin) as daemon:
                fill(daemon)
                title = f"{name} over {front}"
                print(f"{title}:", flush=True)
                results.setdefault(title, []).append(
                    run(arguments, daemon.grpc if front == "grpc" else daemon.http, daemon.process.pid, name, front, generator))
    if arguments.rounds > 1:
        for title, lines in results.items():
            print_medians(title, lines)


if __name__ == "__main__":
    main()
