#!/usr/bin/python3
"""CPU of a call by library, of the daemon over gRPC and over HTTP, in turns on the same machine.

    tests/bench/profile_by_library.py --armatured PATH --bench PATH [--workload put] [--rounds 3] [--seconds 5]

Needs `perf` (Debian: linux-perf) and the right to use it. Each round measures the server CPU of a call, while perf samples where it is spent. Prints
medians of microseconds a call for each library that has more than 0.2 of them.
"""

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402

SHOWN_US = 0.2
WARMUP_SECONDS = 1


def shares_by_library(samples):
    """Library to its share of the samples."""
    text = subprocess.run(["perf", "report", "-i", samples, "--no-children", "--sort", "dso", "--stdio", "-g", "none"],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    shares = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and words[0].endswith("%"):
            shares[words[1]] = float(words[0][:-1]) / 100
    return shares


def measured(options, directory, protocol):
    """Calls a second, server CPU of a call in microseconds, and library to its part of that."""
    samples = os.path.join(directory, "samples")
    with Daemon(options.armatured) as daemon:
        load = subprocess.Popen(
            [options.bench, "--target", daemon.grpc, "--http_target", daemon.http, "--protocol", protocol, "--workload", options.workload,
             "--rounds", "1", "--warmup_seconds", str(WARMUP_SECONDS), "--seconds", str(options.seconds), "--without_echo", "--json"],
            stdout=subprocess.PIPE, text=True)
        # Begins with the warm-up, ends before the load.
        subprocess.run(["perf", "record", "-q", "-o", samples, "-p", str(daemon.process.pid), "--", "sleep", str(options.seconds)], check=True,
                       stderr=subprocess.DEVNULL)
        result = json.loads(load.communicate()[0])["workloads"][0]["workload"]
    if load.returncode != 0:
        sys.exit("the load failed")
    shares = shares_by_library(samples)
    return result["calls_per_second"], result["server_cpu_us"], {
        library: share * result["server_cpu_us"] for library, share in shares.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--bench", required=True, help="armature-bench")
    parser.add_argument("--workload", default="put")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    rounds = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(options.rounds):
            for protocol in ("grpc", "http"):
                rounds[protocol].append(measured(options, directory, protocol))

    def median(protocol, library):
        return statistics.median(parts.get(library, 0) for _, _, parts in rounds[protocol])

    libraries = {library for runs in rounds.values() for _, _, parts in runs for library in parts}
    print(f"{'us of a call':32}{'gRPC':>8}{'HTTP':>8}")
    for library in sorted(libraries, key=lambda each: -median("grpc", each) - median("http", each)):
        if max(median("grpc", library), median("http", library)) >= SHOWN_US:
            print(f"{library:32}{median('grpc', library):8.1f}{median('http', library):8.1f}")
    for title, column in (("all", 1), ("calls a second", 0)):
        print(f"{title:32}" + "".join(f"{statistics.median(run[column] for run in rounds[protocol]):8.1f}" for protocol in ("grpc", "http")))


if __name__ == "__main__":
    main()
