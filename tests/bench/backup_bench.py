#!/usr/bin/python3
"""Cost of a backup to concurrent writes, and duration of a restore.

    backup_bench.py --build build/release [--gigabytes 1] [--rounds 3] [--seconds 10] [--rate_mb N]

Loads a table, then measures puts of 300 bytes with and without a concurrent backup, in turns. Each backup uses a new
directory; the ratio is the median over the rounds. Then restores the last backup; the lower bound is a synced copy of the
same bytes. Not a test: slowness is no failure.
"""

import argparse
import base64
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402

ITEM_BYTES = 8000
TABLE = {
    "TableName": "Filled",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
}


class Bench:
    def __init__(self, options, directory):
        self.options = options
        self.directory = directory
        self.daemon = None

    def tool(self, *arguments, **more):
        command = [f"{self.options.build}/tools/armature/armature", "--endpoint", self.daemon.grpc, "--timeout", "600",
                   *map(str, arguments)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, **more).stdout

    def fill(self):
        self.tool("table", "create", "--cli-input-json", json.dumps(TABLE), "--wait")
        source = random.Random(1)
        with subprocess.Popen(
                [f"{self.options.build}/tools/armature/armature", "--endpoint", self.daemon.grpc, "load", "--table-name",
                 "Filled", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as load:
            for number in range(int(self.options.gigabytes * 1e9 / ITEM_BYTES)):
                # Random bytes, which compression does not make smaller.
                body = base64.b64encode(source.randbytes(ITEM_BYTES)).decode()
                load.stdin.write(json.dumps({"id": {"S": f"{number:012}"}, "body": {"B": body}}).encode() + b"\n")
            load.stdin.close()
        if load.returncode != 0:
            raise RuntimeError("the table could not be filled")

    def puts_per_second(self):
        done = subprocess.run(
            [f"{self.options.build}/tools/bench/armature-bench", "--target", self.daemon.grpc, "--workload", "put",
             "--without_echo", "--rounds", "1", "--seconds", str(self.options.seconds), "--item_bytes", "300", "--json"],
            check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)["workloads"][0]["workload"]["calls_per_second"]

    def backup_command(self, to):
        rate = [] if self.options.rate_mb is None else ["--rate-mb", str(self.options.rate_mb)]
        return [f"{self.options.build}/tools/armature/armature", "--endpoint", self.daemon.grpc, "backup", "create", "--to",
                str(to), *rate]

    def measure_writers(self):
        ratios = []
        for turn in range(self.options.rounds):
            alone = self.puts_per_second()
            to = self.directory / f"backups{turn}"
            begin = time.monotonic()
            with subprocess.Popen(self.backup_command(to), stdout=subprocess.PIPE) as backup:
                beside = self.puts_per_second()
                was_running = backup.poll() is None
                made = json.loads(backup.communicate()[0])
            took = time.monotonic() - begin
            ratios.append(beside / alone)
            note = "" if was_running else " (the backup ended first: fewer --seconds)"
            print(f"round {turn + 1}: {alone:,.0f} puts/s alone, {beside:,.0f} beside a backup of "
                  f"{made['AddedBytes'] / 1e6:,.0f} MB that took {took:.1f} s{note}", flush=True)
            if turn + 1 < self.options.rounds:
                shutil.rmtree(to)
        print(f"writers keep {statistics.median(ratios):.0%} of their throughput (median)")
        return to

    def measure_restore(self, backups):
        begin = time.monotonic()
        self.tool("backup", "restore", "--dir", backups, "--id", 1, "--data-dir", self.directory / "restored")
        restored = time.monotonic() - begin
        begin = time.monotonic()
        shutil.copytree(self.directory / "restored", self.directory / "copied")
        os.sync()
        copied = time.monotonic() - begin
        begin = time.monotonic()
        with Daemon(f"{self.options.build}/daemon/armatured", data_dir=self.directory / "restored"):
            started = time.monotonic() - begin
        print(f"restore: {restored:.1f} s, a copy of the same bytes {copied:.1f} s; the daemon serves after {started:.1f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate_mb", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="armature_bench_") as name:
        bench = Bench(options, pathlib.Path(name))
        with Daemon(f"{options.build}/daemon/armatured", data_dir=bench.directory / "data") as bench.daemon:
            bench.fill()
            backups = bench.measure_writers()
            bench.measure_restore(backups)


if __name__ == "__main__":
    main()
