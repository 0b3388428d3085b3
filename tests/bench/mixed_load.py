#!/usr/bin/python3
"""Latencies of a mixed load at a share of its peak, while the daemon flushes, compacts, builds indexes and backs up.

    tests/bench/mixed_load.py --armatured PATH --armature PATH --bench PATH --out DIRECTORY [--minutes 60] [--share 0.6 | --rate N]
        [--workload ycsb-a] [--gsi 2] [--items 200000] [--pause 60] [--directory DIR] [--durability os]

The bench measures the peak in closed loop, unless there is a --rate, and then loads the items and runs the load by a schedule: latencies count
from the scheduled time. In turns, with pauses, a global index is built over all items and deleted again, and the database is backed up, the
first time whole and then what is new. --pause 0: nothing of that. Prints how fast the items were loaded and what that wrote, the histogram of
the bench, the number of calls over 100 ms, how often the disk alone took as long, and how much went on beside it. --durability os: no write
waits for the disk, which tells the daemon's part of the stalls. Not a test: slowness is no failure.
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
    "logged": "armature_store_log_bytes_total",
    "flushed": "armature_store_flush_bytes_total",
    "compacted": "armature_store_compaction_written_bytes_total",
    "stalled": "armature_store_write_stall_seconds_total",
}
PEAK_SECONDS = 20
ITEM_BYTES = 300
PROBE_EVERY = 0.05
STALL = 0.1
# Backups that are kept: a directory of backups grows with each of them.
BACKUPS_OF_A_DIRECTORY = 5


class DiskProbe:
    """Appends of 4 KiB with fdatasync on the disk of the data, a few each second: pauses of the disk itself."""

    def __init__(self, directory):
        self.seconds = []
        self.stop = threading.Event()
        self.file = open(directory / "probe", "wb", buffering=0)
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while not self.stop.wait(PROBE_EVERY):
            self.file.write(bytes(4096))
            begin = time.monotonic()
            os.fdatasync(self.file.fileno())
            self.seconds.append(time.monotonic() - begin)

    def end(self):
        self.stop.set()
        self.thread.join()
        self.file.close()
        values = sorted(self.seconds) or [0]
        p50, p99 = (1000 * values[int(len(values) * part)] for part in (0.5, 0.99))
        long = sum(value > STALL for value in values)
        print(f"disk alone, {len(values)} appends with fdatasync: p50 {p50:.1f} ms, p99 {p99:.1f} ms, max {1000 * values[-1]:.0f} ms, "
              f"{long} over {1000 * STALL:.0f} ms")


class Beside:
    """Index builds and backups beside the load, on a thread, until it is stopped."""

    def __init__(self, options, daemon, load, directory):
        self.options = options
        self.daemon = daemon
        self.load = load
        self.backups = directory / "backups"
        self.builds = []
        self.backup_seconds = []
        self.error = None
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        try:
            while self.options.pause > 0 and not self.stop.wait(self.options.pause):
                self.build_index(self.table())
                if not self.stop.wait(self.options.pause):
                    self.back_up()
        except Exception as error:
            # The bench deletes its table when it ends.
            if self.load.poll() is None:
                self.error = error
                self.load.terminate()

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
        while self.indexes(table).get("built") != "ACTIVE":
            if self.stop.wait(0.2):
                return
        self.builds.append(time.monotonic() - begin)
        if self.stop.wait(self.options.pause):
            return
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
    values = dict.fromkeys((*COUNTERS, "reads"), 0.0)
    for line in daemon.get_text("/metrics")[1].splitlines():
        if line.startswith("armature_requests_total{") and 'operation="GetItem"' in line:
            values["reads"] += float(line.split()[-1])
        for name, metric in COUNTERS.items():
            if line.startswith((f"{metric} ", f"{metric}{{")):
                values[name] += float(line.split()[-1])
    return values


def difference(after, before):
    return {name: value - before[name] for name, value in after.items()}


def written_text(grown):
    return (f"logged {grown['logged'] / 1e6:,.0f} MB, flushed {grown['flushed'] / 1e6:,.0f} MB, compacted "
            f"{grown['compacted'] / 1e6:,.0f} MB, writes delayed for {grown['stalled']:.1f} s")


def size_mb(directory):
    total = 0
    for path in directory.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # deleted meanwhile
            pass
    return total / 1e6


def await_load(options, daemon, load, directory):
    """Returns when the first reads of the load show that its items are there, and prints what the loading took."""
    begin = time.monotonic()
    before = counters(daemon)
    while load.poll() is None and counters(daemon)["reads"] == before["reads"]:
        time.sleep(0.5)
    took = time.monotonic() - begin
    rows_mb = options.items * ITEM_BYTES * (1 + options.gsi) / 1e6
    print(f"loaded {options.items:,} items of {ITEM_BYTES} bytes with {options.gsi} indexes in {took:.0f} s: {options.items / took:,.0f}/s, "
          f"{rows_mb:,.0f} MB of rows, {size_mb(directory / 'data'):,.0f} MB on disk; "
          f"{written_text(difference(counters(daemon), before))}", flush=True)


def bench(options, daemon, seconds, *flags):
    command = [options.bench, "--target", daemon.grpc, "--workload", options.workload, "--gsi", options.gsi, "--items", options.items,
               "--item_bytes", ITEM_BYTES, "--seconds", seconds, "--rounds", 1, "--outstanding", 256, "--connections", 4, "--without_echo", *flags]
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)


def seconds_text(values):
    return f"{len(values)} ({', '.join(f'{value:.1f} s' for value in values[:8])}{', ...' if len(values) > 8 else ''})"


def peak_of(options, daemon, out):
    path = out / "peak.json"
    if bench(options, daemon, PEAK_SECONDS, "--out", path).wait() != 0:
        raise RuntimeError("the peak could not be measured")
    peak = json.loads(path.read_text())["workloads"][0]["workload"]["calls_per_second"]
    print(f"peak: {peak:,.0f} calls/s", flush=True)
    return peak


def measure(options, directory):
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    with Daemon(options.armatured, "--metrics_listen=127.0.0.1:0", f"--durability={options.durability}", data_dir=directory / "data") as daemon:
        rate = options.rate or peak_of(options, daemon, out) * options.share
        print(f"the load: {rate:,.0f}/s for {options.minutes:g} minutes", flush=True)
        load = bench(options, daemon, options.minutes * 60, "--rate", f"{rate:.0f}", "--fsync_directory", directory, "--out",
                     out / "mixed.json")
        await_load(options, daemon, load, directory)
        before = counters(daemon)
        beside = Beside(options, daemon, load, directory)
        probe = DiskProbe(directory)
        beside.thread.start()
        probe.thread.start()
        printed, _ = load.communicate()
        grown = difference(counters(daemon), before)
        beside.stop.set()
        beside.thread.join()
        (out / "mixed.txt").write_text(printed)
        print(printed)
        probe.end()
        if load.returncode != 0 or beside.error is not None:
            raise RuntimeError(f"the load ended with {load.returncode}; beside it: {beside.error}")
        print(f"indexes built: {seconds_text(beside.builds)}\nbackups: {seconds_text(beside.backup_seconds)}\n"
              f"{written_text(grown)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True, help="the admin tool")
    parser.add_argument("--bench", required=True, help="armature-bench")
    parser.add_argument("--out", required=True, help="directory of results")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--share", type=float, default=0.6, help="of the peak")
    parser.add_argument("--rate", type=float, help="calls a second, instead of a share")
    parser.add_argument("--workload", default="ycsb-a")
    parser.add_argument("--gsi", type=int, default=2)
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--pause", type=float, default=60, help="seconds between builds and backups")
    parser.add_argument("--durability", default="sync", help="of the daemon")
    parser.add_argument("--directory", default=os.environ.get("TMPDIR", "/tmp"), help="where to put data and backups")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="armature_bench_", dir=options.directory) as name:
        measure(options, pathlib.Path(name))


if __name__ == "__main__":
    main()
