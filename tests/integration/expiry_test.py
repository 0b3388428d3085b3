#!/usr/bin/python3
"""Expiry through the real daemon: over kills every item goes that has expired, and no other.

Run by CTest; by hand, for example with 100 kills: expiry_test.py --armatured PATH --armature PATH --kills 100 [unittest arguments]
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402

PATHS = argparse.Namespace()
TABLE = "Sessions"
KEYS = 400
FUTURE = 3600
FLAGS = ("--ttl_interval=10ms",)


def check(answer):
    status, document = answer
    if status != 200:
        raise AssertionError(document)
    return document


def set_expiry(daemon, on, attribute="ends"):
    check(daemon.json_call("UpdateTimeToLive", TableName=TABLE,
                           TimeToLiveSpecification={"Enabled": on, "AttributeName": attribute}))


def item_of(key, seconds, **more):
    return {"id": {"S": f"k{key}"}, "ends": {"N": str(int(time.time()) + seconds)}, **more}


def scan(daemon):
    items, members = {}, {}
    while True:
        page = check(daemon.json_call("Scan", TableName=TABLE, ConsistentRead=True, **members))
        items.update({item["id"]["S"]: item for item in page["Items"]})
        if "LastEvaluatedKey" not in page:
            return items
        members = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def expired(items):
    return [key for key, item in items.items() if int(item["ends"]["N"]) < time.time() - 1]


class Writer(threading.Thread):
    """Puts and deletes items that have expired or will not for an hour, until the daemon is gone."""

    def __init__(self, daemon, seed):
        super().__init__(daemon=True)
        self.server, self.rng, self.acknowledged = daemon, random.Random(seed), 0
        self.kept = {}  # key -> the last acknowledged write, or None for one whose outcome is unknown
        self.keys = range(seed % 3, KEYS, 3)

    def run(self):
        while True:
            key = self.rng.choice(self.keys)
            kind = self.rng.randrange(4)
            item = item_of(key, FUTURE if kind else -60)
            self.kept[f"k{key}"] = None
            try:
                if kind == 1:
                    status, _ = self.server.json_call("DeleteItem", TableName=TABLE, Key={"id": item["id"]})
                else:
                    status, _ = self.server.json_call("PutItem", TableName=TABLE, Item=item)
            except (OSError, urllib.error.URLError, ValueError):
                return
            if status == 200:
                self.kept[f"k{key}"] = (kind, item)
                self.acknowledged += 1


class ExpiryTest(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="armature_expiry_"))

    def await_true(self, holds, what):
        deadline = time.monotonic() + WAIT_S
        while not holds():
            self.assertLess(time.monotonic(), deadline, what)

    def test_over_kills_items_go_and_stay(self):
        rng = random.Random(PATHS.seed)
        with Daemon(PATHS.armatured, *FLAGS, data_dir=self.directory) as daemon:
            daemon.create_table(TABLE)
        acknowledged, is_on = 0, False
        for kill in range(PATHS.kills):
            with Daemon(PATHS.armatured, *FLAGS, data_dir=self.directory) as daemon:
                writers = [Writer(daemon, 3 * rng.getrandbits(40) + number) for number in range(3)]
                for writer in writers:
                    writer.start()
                wanted = rng.randrange(5, 200)
                # The setting changes while the table is being filled, too.
                if rng.random() < 0.6:
                    set_expiry(daemon, not is_on)
                    is_on = not is_on
                deadline = time.monotonic() + WAIT_S
                while sum(writer.acknowledged for writer in writers) < wanted and time.monotonic() < deadline:
                    time.sleep(0.001)
                daemon.kill()
                kept = {}
                for writer in writers:
                    writer.join(WAIT_S)
                    acknowledged += writer.acknowledged
                    kept.update(writer.kept)
            with Daemon(PATHS.armatured, *FLAGS, data_dir=self.directory) as daemon:
                items = scan(daemon)
                for key, last in kept.items():
                    if last is not None and last[0] >= 2:
                        self.assertEqual(items.get(key), last[1], f"seed {PATHS.seed}: lost, or gone before its time")
                daemon.kill()
        with Daemon(PATHS.armatured, *FLAGS, data_dir=self.directory) as daemon:
            if not is_on:
                set_expiry(daemon, True)
            stay = {key for key, item in scan(daemon).items() if int(item["ends"]["N"]) > time.time() + 60}
            self.await_true(lambda: not expired(scan(daemon)), f"seed {PATHS.seed}: items that do not go")
            self.assertEqual(set(scan(daemon)), stay)
            self.assertEqual(daemon.stop(), 0)
        verified = subprocess.run([PATHS.armature, "verify", "--data-dir", self.directory], capture_output=True, text=True,
                                  timeout=WAIT_S, check=False)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        print(f"expiry: kills={PATHS.kills} seed={PATHS.seed} acknowledged={acknowledged} kept={len(stay)}")

    def test_metrics_and_inspection(self):
        with Daemon(PATHS.armatured, *FLAGS, "--metrics_listen=127.0.0.1:0", data_dir=self.directory) as daemon:
            daemon.create_table(TABLE, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
            for key in range(30):
                check(daemon.json_call("PutItem", TableName=TABLE, Item=item_of(key, -60 if key < 20 else FUTURE)))

            def metric(name):
                with urllib.request.urlopen(f"http://{daemon.metrics}/metrics", timeout=WAIT_S) as answer:
                    lines = answer.read().decode().splitlines()
                return [float(line.split()[1]) for line in lines if line.startswith(name + " ")][0]

            self.assertEqual(metric("armature_expired_items_total"), 0)
            set_expiry(daemon, True)
            self.await_true(lambda: metric("armature_expired_items_total") == 20, "expired items")
            self.await_true(lambda: metric("armature_expiry_waiting_items") == 0, "waiting items")
            self.await_true(lambda: metric("armature_expiry_overdue_seconds") == 0, "overdue items")
            self.assertEqual(metric("armature_expiry_filling_tables"), 0)
            self.assertEqual(len(scan(daemon)), 10)
            self.assertEqual(daemon.stop(), 0)
        self.assertIn("EXPIRY", {family["Kind"] for family in self.inspect("directory")["Families"]})
        records = {record["Kind"]: record for record in self.inspect("meta")["Records"]}
        self.assertLessEqual({"Stream", "StreamSegment", "Expiry"}, set(records))
        self.assertEqual((records["Expiry"]["Phase"], records["Expiry"]["Generation"]), ("COMPLETE", 1))

    def inspect(self, command):
        inspected = subprocess.run(
            [PATHS.armature, "inspect", command, "--data-dir", self.directory, "--output", "json"],
            capture_output=True, text=True, timeout=WAIT_S, check=False)
        self.assertEqual(inspected.returncode, 0, inspected.stderr)
        return json.loads(inspected.stdout)

    def test_a_start_finds_the_items_that_expired_meanwhile(self):
        with Daemon(PATHS.armatured, "--ttl_interval=1h", data_dir=self.directory) as daemon:
            daemon.create_table(TABLE)
            set_expiry(daemon, True)
            for key in range(5):
                check(daemon.json_call("PutItem", TableName=TABLE, Item=item_of(key, -60)))
            self.assertEqual(daemon.stop(), 0)
        with Daemon(PATHS.armatured, *FLAGS, data_dir=self.directory) as daemon:
            self.await_true(lambda: not scan(daemon), "items that do not go")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    _, rest = parser.parse_known_args(namespace=PATHS)
    unittest.main(argv=[sys.argv[0], *rest])
