#!/usr/bin/python3
"""Daemons with a database in RADOS: daemon_test.py ARMATURED ARMATURE, run by with_cluster.py.

A standby takes over with every acknowledged item when the active daemon is killed; a daemon that was paused meanwhile ends
with its exit status and does no harm; offline commands read the database of a stopped daemon.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

ARMATURED, ARMATURE = sys.argv[1:3]
LOST_DATABASE = 75
LEASE_SECONDS = 2


def place_of(name):
    """A place that no other run uses, in a cluster that may outlive this one."""
    return f"rados://{os.environ['ARMATURE_RADOS_POOL']}/{name}.{os.getpid()}"


class Daemon:
    def __init__(self, name_space):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [
                ARMATURED,
                f"--store={place_of(name_space)}",
                f"--rados_conf={os.environ['ARMATURE_RADOS_CONF']}",
                f"--rados_user={os.environ['ARMATURE_RADOS_USER']}",
                f"--lease_seconds={LEASE_SECONDS}",
                "--grpc_listen=off",
                "--http_listen=127.0.0.1:0",
            ],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.address = None

    def wait_until_ready(self):
        line = self.process.stdout.readline()
        if not line.startswith("ready"):
            raise AssertionError(f"not ready: {line!r}\n{self.errors()}")
        self.address = dict(word.split("=", 1) for word in line.split()[1:])["http"]

    def call(self, operation, body, timeout=30):
        request = urllib.request.Request(
            f"http://{self.address}/",
            json.dumps(body).encode(),
            {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"},
        )
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)

    def errors(self):
        self.log.seek(0)
        return self.log.read()

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(60)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Writer(threading.Thread):
    """Puts items until a put fails; `done` are those that were acknowledged."""

    def __init__(self, daemon, name):
        super().__init__()
        self.daemon_under_test, self.name_of_items, self.done, self.some = daemon, name, [], threading.Event()
        self.start()

    def run(self):
        try:
            for number in range(1_000_000):
                key = f"{self.name_of_items}{number}"
                self.daemon_under_test.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": key}, "v": {"S": "x" * 500}}})
                self.done.append(key)
                if len(self.done) == 100:
                    self.some.set()
        except (urllib.error.URLError, OSError, ValueError):
            pass
        finally:
            self.some.set()


class DaemonTest(unittest.TestCase):
    def start(self, name_space):
        daemon = Daemon(name_space)
        self.addCleanup(daemon.close)
        return daemon

    def create_table(self, daemon):
        daemon.call(
            "CreateTable",
            {
                "TableName": "rows",
                "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        while daemon.call("DescribeTable", {"TableName": "rows"})["Table"]["TableStatus"] != "ACTIVE":
            pass

    def check_items(self, daemon, keys):
        for key in keys:
            got = daemon.call("GetItem", {"TableName": "rows", "Key": {"k": {"S": key}}, "ConsistentRead": True})
            self.assertIn("Item", got, key)

    def test_a_standby_takes_over_from_a_killed_daemon(self):
        active = self.start("takeover")
        active.wait_until_ready()
        self.create_table(active)
        writer = Writer(active, "item")
        writer.some.wait()
        standby = self.start("takeover")
        active.end(signal.SIGKILL)
        writer.join()
        self.assertGreaterEqual(len(writer.done), 100)
        standby.wait_until_ready()
        self.check_items(standby, writer.done)
        self.assertEqual(standby.end(), 0, standby.errors())

    def test_a_daemon_that_was_replaced_while_it_was_paused_ends(self):
        paused = self.start("paused")
        paused.wait_until_ready()
        self.create_table(paused)
        paused.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "old"}}})
        paused.process.send_signal(signal.SIGSTOP)
        successor = self.start("paused")
        successor.wait_until_ready()
        successor.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "new"}}})
        paused.process.send_signal(signal.SIGCONT)
        # It ends by itself, and meanwhile serves nothing out of date.
        try:
            got = paused.call("GetItem", {"TableName": "rows", "Key": {"k": {"S": "new"}}, "ConsistentRead": True})
            self.assertIn("Item", got, "a stale read")
        except (urllib.error.URLError, OSError):
            pass
        self.assertEqual(paused.process.wait(60), LOST_DATABASE, paused.errors())
        self.assertIn("armatured: lost the database: ", paused.errors())
        self.check_items(successor, ["old", "new"])
        self.assertEqual(successor.end(), 0, successor.errors())

    def test_a_waiting_standby_ends_when_told(self):
        active = self.start("waiting")
        active.wait_until_ready()
        standby = self.start("waiting")
        while "waiting for the lease" not in standby.errors():
            self.assertIsNone(standby.process.poll(), standby.errors())
        self.assertEqual(standby.end(), 0, standby.errors())
        self.assertEqual(active.end(), 0, active.errors())

    def test_offline_commands_read_the_database_of_a_stopped_daemon(self):
        daemon = self.start("offline")
        daemon.wait_until_ready()
        self.create_table(daemon)
        daemon.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "a"}}})
        place = place_of("offline")
        self.assertEqual(daemon.end(), 0, daemon.errors())

        def run(*arguments):
            return subprocess.run([ARMATURE, *arguments], capture_output=True, text=True, check=False)

        verified = run("verify", "--data-dir", place, "--output", "json")
        self.assertEqual(verified.returncode, 0, verified.stderr)
        rows = run("inspect", "rows", "--data-dir", place, "--table-name", "rows", "--output", "json")
        self.assertEqual(rows.returncode, 0, rows.stderr)
        with tempfile.TemporaryDirectory() as backups:
            made = run("backup", "create", "--data-dir", place, "--to", backups)
            self.assertEqual(made.returncode, 0, made.stderr)
            restored = run("backup", "restore", "--dir", backups, "--id", "1", "--data-dir", place_of("copy"))
            self.assertEqual(restored.returncode, 0, restored.stderr)
        second = self.start("copy")
        second.wait_until_ready()
        self.check_items(second, ["a"])
        self.assertEqual(second.end(), 0, second.errors())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
