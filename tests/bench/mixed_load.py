#!/usr/bin/python3
"""Latencies of a mixed load at a share of its peak, while the daemon flushes, compacts, builds indexes and backs up.

    tests/bench/mixed_load.py --armatured PATH --armature PATH --bench PATH --out DIRECTORY [--minutes 60] [--share 0.6]
        [--workload ycsb-a] [--gsi 2] [--items 200000] [--pause 60] [--directory DIR]

The bench measures the peak in closed loop, and then runs the load by a schedule: latencies count from the scheduled time. In turns, with
pauses, a global index is built over all its items and deleted again, and the database is backed up, the first time whole and then what is new.
Prints the histogram of the bench, the number of calls over 100 ms, and how much went on beside it. Not a test: slowness is no failure.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402

COUNTERS = {
    "flushed": "armature_store_flush_bytes_total",
    "compacted": "armature_store_compaction_written_bytes_total",
    "stalled": "armature_store_write_stall_seconds_total",
}
PEAK_SECONDS = 20
# Backups that are kept: a directory of backups grows with each of them.
BACKUPS_OF_A_DIRECTORY = 5


class Beside:
    """Index builds and backups beside the load, on a thread, until it is stopped."""

    def __init__(self, options, daemon, directory):
        self.options = options
        self.daemon = daemon
        self.backups = directory / "backups"
        self.builds = []
        self.backup_seconds = []
        self.errors = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.stop.wait(self.options.pause):
                self.build_index(self.table())
                if not self.stop.wait(self.options.pause):
                    self.back_up()
        except Exception as error:  # told at the end
            self.errors.append(error)

    def call(self, operation, **members):
        status, answer = self.daemon.json_call(operation, **members)
        if status != 200:
            raise RuntimeError(answer)
        return answer

    def table(self):
        return next(name for name in self.call("ListTables")["TableNames"] if name.startswith("armature_bench_"))

    def indexes(self, table):
        described = self.call("DescribeTable", TableName=table)["Table"]
        return {index["IndexName"]: index["IndexStatus"] for index in described.get("GlobalSecondaryIndexes", [])}

    def build_index(self, table):
        begin = time.monotonic()
        self.call("UpdateTable", TableName=table, AttributeDefinitions=[
            {"AttributeName": "sk", "AttributeType": "N"}, {"AttributeName": "pk", "AttributeType": "S"}],
            GlobalSecondaryIndexUpdates=[{"Create": {
                "IndexName": "built", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
                    {"AttributeName": "sk", "KeyType": "HASH"}, {"AttributeName": "pk", "KeyType": "RANGE"}]}}])
        while self.indexes(table)["built"] != "ACTIVE":
            if self.stop.wait(0.2):
                return
        self.builds.append(time.monotonic() - begin)
        self.stop.wait(self.options.pause)
        self.call("UpdateTable", TableName=table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "built"}}])
        while "built" in self.indexes(table) and not self.stop.wait(0.2):
            pass

    def back_up(self):
        if len(self.backup_seconds) % BACKUPS_OF_A_DIRECTORY == 0:
            shutil.rmtree(self.backups, ignore_errors=True)
        begin = time.monotonic()
        subprocess.run([self.options.armature, "--endpoint", self.daemon.grpc, "--timeout", "600", "backup", "create", "--to",
                        str(self.backups)], check=True, stdout=subprocess.DEVNULL)
        self.backup_seconds.append(time.monotonic() - begin)


def counters(daemon):
    values = dict.fromkeys(COUNTERS, 0.0)
    for line in daemon.get_text("/metrics")[1].splitlines():
        for name, metric in COUNTERS.items():
            if line.startswith((f"{metric} ", f"{metric}{{")):
                values[name] += float(line.split()[-1])
    return values


def bench(options, daemon, seconds, *flags):
    command = [options.bench, "--target", daemon.grpc, "--workload", options.workload, "--gsi", options.gsi, "--items", options.items,
               "--seconds", seconds, "--rounds", 1, "--outstanding", 256, "--without_echo", *flags]
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)


def seconds_text(values):
    return f"{len(values)} ({', '.join(f'{value:.1f} s' for value in values[:8])}{', ...' if len(values) > 8 else ''})"


def measure(options, directory):
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    with Daemon(options.armatured, "--metrics_listen=127.0.0.1:0", data_dir=directory / "data") as daemon:
        peak_file = out / "peak.json"
        if bench(options, daemon, PEAK_SECONDS, "--out", peak_file).wait() != 0:
            raise RuntimeError("the peak could not be measured")
        peak = json.loads(peak_file.read_text())["workloads"][0]["workload"]["calls_per_second"]
        rate = peak * options.share
        print(f"peak {peak:,.0f} calls/s; the load: {rate:,.0f}/s for {options.minutes:g} minutes", flush=True)
        load = bench(options, daemon, options.minutes * 60, "--rate", f"{rate:.0f}", "--fsync_directory", directory, "--out",
                     out / "mixed.json")
        before = counters(daemon)
        beside = Beside(options, daemon, directory)
        beside.thread.start()
        printed, _ = load.communicate()
        beside.stop.set()
        beside.thread.join()
        if load.returncode != 0 or beside.errors:
            raise RuntimeError(f"the load ended with {load.returncode}; beside it: {beside.errors}\n{printed}")
        (out / "mixed.txt").write_text(printed)
        print(printed)
        grown = {name: value - before[name] for name, value in counters(daemon).items()}
        print(f"indexes built: {seconds_text(beside.builds)}\nbackups: {seconds_text(beside.backup_seconds)}\n"
              f"flushed {grown['flushed'] / 1e6:,.0f} MB, compacted {grown['compacted'] / 1e6:,.0f} MB, writes delayed for "
              f"{grown['stalled']:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True, help="the admin tool")
    parser.add_argument("--bench", required=True, help="armature-bench")
    parser.add_argument("--out", required=True, help="directory of results")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--share", type=float, default=0.6, help="of the peak")
    parser.add_argument("--workload", default="ycsb-a")
    parser.add_argument("--gsi", type=int, default=2)
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--pause", type=float, default=60, help="seconds between two of the builds and backups")
    parser.add_argument("--directory", default=os.environ.get("TMPDIR", "/tmp"), help="where to put data and backups")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="armature_bench_", dir=options.directory) as name:
        measure(options, pathlib.Path(name))


if __name__ == "__main__":
    main()
