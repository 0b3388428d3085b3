#!/usr/bin/python3
"""Daemons with a database in RADOS: daemon_test.py ARMATURED ARMATURE, run by with_cluster.py.

A standby takes over with every acknowledged item when the active daemon is killed; a daemon that was paused meanwhile ends
with its exit status and does no harm; offline commands read the database of a stopped daemon.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import DaemonProcess  # noqa: E402
from cluster_tool import CLUSTER_FLAGS, change_cluster, place_of  # noqa: E402

ARMATURED, ARMATURE = sys.argv[1:3]
LOST_DATABASE = 75
LEASE_SECONDS = 2


class Daemon(DaemonProcess):
    """A daemon with a database in RADOS, or in `data_dir`. It is started, and not waited for."""

    def __init__(self, name_space, *flags, data_dir=None, environment=None):
        self.directory = tempfile.TemporaryDirectory()
        place = name_space if (name_space or "").startswith("rados://") else place_of(name_space)
        has_listen = any(flag.startswith("--listen=") for flag in flags)
        super().__init__(
            ARMATURED,
            f"--lease_seconds={LEASE_SECONDS}",
            *flags,
            place=(f"--data_dir={data_dir}" if data_dir else f"--store={place}", *CLUSTER_FLAGS),
            listen=() if has_listen else ("--grpc_listen=off", "--http_listen=127.0.0.1:0"),
            log_path=f"{self.directory.name}/stderr",
            env=dict(os.environ, **(environment or {})),
        )
        self.spawn()

    def call(self, operation, body, timeout=30):
        request = urllib.request.Request(
            f"http://{self.http}/",
            json.dumps(body).encode(),
            {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"},
        )
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)

    def close(self):
        super().close()
        self.directory.cleanup()


def page(address, path):
    """Status and text of a page."""
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


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


class RadosTestCase(unittest.TestCase):
    def start(self, name_space, *flags, **options):
        daemon = Daemon(name_space, *flags, **options)
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

    def wait_until_logged(self, daemon, text):
        deadline = time.monotonic() + 60
        while text not in daemon.log():
            self.assertIsNone(daemon.process.poll(), daemon.log())
            self.assertLess(time.monotonic(), deadline, daemon.log())


class DaemonTest(RadosTestCase):
    def test_a_standby_takes_over_from_a_killed_daemon(self):
        active = self.start("takeover")
        active.wait_until("ready")
        self.create_table(active)
        writer = Writer(active, "item")
        writer.some.wait()
        standby = self.start("takeover")
        active.end(signal.SIGKILL)
        writer.join()
        self.assertGreaterEqual(len(writer.done), 100)
        standby.wait_until("ready")
        self.check_items(standby, writer.done)
        self.assertEqual(standby.end(), 0, standby.log())

    def test_a_standby_names_the_owner_until_it_takes_over(self):
        active = self.start("named")
        active.wait_until("ready")
        self.create_table(active)
        standby = self.start("named", "--metrics_listen=127.0.0.1:0")
        standby.wait_until("standby")
        waits_at = standby.http

        def refusal():
            with self.assertRaises(urllib.error.HTTPError) as raised:
                urllib.request.urlopen(f"http://{standby.http}/", b"{}", timeout=30)
            return raised.exception

        deadline = time.monotonic() + 60
        while refusal().headers["x-armature-owner"] is None:  # it listens before it has looked for the owner
            self.assertLess(time.monotonic(), deadline, standby.log())
        refused = refusal()
        self.assertEqual((refused.code, refused.headers["x-armature-owner"]), (503, active.http))
        self.assertIn("#ServiceUnavailable", refused.read().decode())
        # A load balancer may ask the address of clients.
        self.assertEqual(page(standby.http, "/healthz"), (200, "ok\n"))
        self.assertEqual(page(standby.http, "/readyz"), (503, "standby\n"))
        self.assertEqual(page(active.http, "/readyz"), (200, "ready\n"))
        self.assertEqual(page(active.http, "/healthz")[0], 200)
        metrics = f"http://{standby.metrics}"
        self.assertIn("armature_standby 1", urllib.request.urlopen(f"{metrics}/metrics", timeout=30).read().decode())
        shown = subprocess.run(
            [ARMATURE, "store", "status", place_of("named"), "--output", "json"], capture_output=True, text=True, check=True
        )
        self.assertEqual(json.loads(shown.stdout)["Owner"]["Service"], f"http={active.http}")
        self.assertEqual(active.end(), 0, active.log())
        standby.wait_until("ready")
        self.assertEqual(standby.http, waits_at)
        standby.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "synced"}}})
        scraped = urllib.request.urlopen(f"{metrics}/metrics", timeout=30).read().decode()
        for line in ("armature_standby 0", "armature_rados_epoch 2", "armature_rados_copies_max_bytes 0"):
            self.assertIn(f"\n{line}\n", scraped)
        for name in ("objects", "file_bytes"):
            self.assertRegex(scraped, rf"\narmature_rados_{name} [1-9]")
        syncs = re.search(r"^armature_rados_log_sync_duration_seconds_count (\d+)$", scraped, re.MULTILINE)
        self.assertGreater(int(syncs[1]), 0)
        self.assertEqual(standby.call("ListTables", {})["TableNames"], ["rows"])
        self.assertEqual(standby.end(), 0, standby.log())
        checked = subprocess.run([ARMATURE, "store", "fsck", place_of("named"), "--output", "json"], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertEqual(json.loads(checked.stdout)["Problems"], [])

    def test_a_standby_forwards(self):
        active = self.start("forward")
        active.wait_until("ready")
        self.create_table(active)
        standby = self.start("forward", "--forward")
        standby.wait_until("standby")
        deadline = time.monotonic() + 60
        while True:
            try:
                standby.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "through"}}})
                break
            except OSError:  # it listens before it has looked for the owner
                self.assertLess(time.monotonic(), deadline, standby.log())
        self.check_items(active, ["through"])
        self.assertEqual(active.end(), 0, active.log())
        standby.wait_until("ready")
        self.check_items(standby, ["through"])
        self.assertEqual(standby.end(), 0, standby.log())

    def test_one_port_for_both_protocols(self):
        """A client of gRPC with both addresses finds the owner, before and after a takeover, and with a standby that forwards."""
        def tables(addresses):
            listed = subprocess.run([ARMATURE, "--endpoint", ",".join(addresses), "table", "list", "--output", "json"],
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual(listed.returncode, 0, listed.stderr)
            return json.loads(listed.stdout)["TableNames"]

        active = self.start("one_port", "--listen=127.0.0.1:0")
        active.wait_until("ready")
        self.assertEqual(active.grpc, active.http)
        self.create_table(active)
        standby = self.start("one_port", "--listen=127.0.0.1:0")
        standby.wait_until("standby")
        waits_at = standby.http
        self.assertEqual(page(waits_at, "/readyz")[0], 503)
        self.assertEqual(tables([waits_at, active.http]), ["rows"])
        self.assertEqual(active.end(), 0, active.log())
        standby.wait_until("ready")
        self.assertEqual((standby.http, standby.grpc), (waits_at, waits_at))
        self.assertEqual(tables([waits_at]), ["rows"])
        relay = self.start("one_port", "--listen=127.0.0.1:0", "--forward")
        relay.wait_until("standby")
        self.wait_until_logged(relay, "the database is served by owner=")
        relayed_at = relay.grpc
        self.assertEqual(tables([relayed_at]), ["rows"])
        relay.http = relayed_at  # its port for both
        self.assertEqual(relay.call("ListTables", {})["TableNames"], ["rows"])
        self.assertEqual(standby.end(), 0, standby.log())
        relay.wait_until("ready")
        self.assertEqual(relay.grpc, relayed_at)
        self.assertEqual(tables([relayed_at]), ["rows"])

    def test_a_daemon_that_was_replaced_while_it_was_paused_ends(self):
        paused = self.start("paused")
        paused.wait_until("ready")
        self.create_table(paused)
        paused.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "old"}}})
        paused.process.send_signal(signal.SIGSTOP)
        successor = self.start("paused")
        successor.wait_until("ready")
        successor.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "new"}}})
        paused.process.send_signal(signal.SIGCONT)
        # It ends by itself, and meanwhile serves nothing out of date.
        try:
            got = paused.call("GetItem", {"TableName": "rows", "Key": {"k": {"S": "new"}}, "ConsistentRead": True})
            self.assertIn("Item", got, "a stale read")
        except (urllib.error.URLError, OSError):
            pass
        self.assertEqual(paused.process.wait(60), LOST_DATABASE, paused.log())
        self.assertIn("armatured: lost the database: ", paused.log())
        self.check_items(successor, ["old", "new"])
        self.assertEqual(successor.end(), 0, successor.log())

    def test_a_daemon_whose_write_is_not_answered_ends_and_loses_nothing(self):
        # Its lease outlasts the test: without one it would refuse the write before.
        daemon = self.start("unanswered", "--rados_timeout_seconds=3", "--lease_seconds=20")
        daemon.wait_until("ready")
        self.create_table(daemon)
        daemon.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "before"}}})
        change_cluster("kill-osd", "0")
        change_cluster("kill-osd", "1")
        try:
            # Only one of three replicas is left, so nothing can be acknowledged.
            with self.assertRaises(OSError):
                daemon.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "during"}}})
            self.assertEqual(daemon.process.wait(60), LOST_DATABASE, daemon.log())
            self.assertIn("armatured: lost the database: ", daemon.log())
        finally:
            change_cluster("start-osd", "0")
            change_cluster("start-osd", "1")
        successor = self.start("unanswered")
        successor.wait_until("ready")
        self.check_items(successor, ["before"])
        self.assertEqual(successor.end(), 0, successor.log())

    def hand_over(self, name_space, *options):
        command = [ARMATURE, "store", "handover", place_of(name_space), *options, "--output", "json"]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    def test_an_operator_hands_over_to_the_standby(self):
        active = self.start("handover")
        active.wait_until("ready")
        self.create_table(active)
        standby = self.start("handover")
        standby.wait_until("standby")
        writer = Writer(active, "item")
        writer.some.wait()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = pool.submit(self.hand_over, "handover")
            # A service manager starts it again at once, and it leaves the database to the one that waits.
            self.assertEqual(active.process.wait(60), LOST_DATABASE, active.log())
            self.assertIn("armatured: handed the database over: ", active.log())
            again = self.start("handover")
            shown = asked.result()
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(json.loads(shown.stdout)["Epoch"], 2)
        again.wait_until("standby")
        self.assertNotIn("lost the database", active.log())
        writer.join()
        standby.wait_until("ready")
        self.check_items(standby, writer.done)
        self.assertEqual(again.end(), 0, again.log())
        self.assertEqual(standby.end(), 0, standby.log())
        # Nobody is there to take over, and nobody to ask.
        asked = self.hand_over("handover")
        self.assertEqual(asked.returncode, 2, asked.stderr)
        self.assertIn("has no owner", asked.stderr)

    def test_a_handover_that_nobody_takes_is_told(self):
        active = self.start("alone")
        active.wait_until("ready")
        asked = self.hand_over("alone", "--wait", "10")
        self.assertEqual(active.process.wait(60), LOST_DATABASE, active.log())
        self.assertEqual(asked.returncode, 3, asked.stderr)
        self.assertIn("has no other owner yet: the former one has left", asked.stderr)
        # The next owner is not the one that was asked.
        again = self.start("alone")
        again.wait_until("ready")
        self.create_table(again)
        self.assertEqual(again.end(), 0, again.log())

    def test_a_handover_by_a_dead_owner_is_told(self):
        active = self.start("dead")
        active.wait_until("ready")
        active.end(signal.SIGKILL)
        # For longer than the lease of the dead one.
        asked = self.hand_over("dead", "--wait", str(LEASE_SECONDS + 3))
        self.assertEqual(asked.returncode, 3, asked.stderr)
        self.assertIn("its lease has run out: it is dead or cut off, and nobody waits", asked.stderr)

    def test_a_waiting_standby_ends_when_told(self):
        active = self.start("waiting")
        active.wait_until("ready")
        standby = self.start("waiting")
        self.wait_until_logged(standby, "waiting for the lease")
        self.assertEqual(standby.end(), 0, standby.log())
        self.assertEqual(active.end(), 0, active.log())

    def test_a_daemon_that_starts_while_the_cluster_does_not_answer_ends_when_told(self):
        osds = ("0", "1", "2")
        for osd in osds:
            change_cluster("kill-osd", osd)
        try:
            daemon = self.start("silent")
            self.wait_until_logged(daemon, "asking for the lease")
            self.assertEqual(daemon.end(), 0, daemon.log())
        finally:
            for osd in osds:
                change_cluster("start-osd", osd)

    def test_offline_commands_read_the_database_of_a_stopped_daemon(self):
        daemon = self.start("offline")
        daemon.wait_until("ready")
        self.create_table(daemon)
        daemon.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "a"}}})
        place = place_of("offline")
        self.assertEqual(daemon.end(), 0, daemon.log())

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
            moved = run("store", "copy", place, os.path.join(backups, "data"))
            self.assertEqual(moved.returncode, 0, moved.stderr)
            back = run("store", "copy", os.path.join(backups, "data"), place_of("back"))
            self.assertEqual(back.returncode, 0, back.stderr)
            again = run("store", "copy", place, place_of("back"))
            self.assertEqual(again.returncode, 2, again.stdout)
        third = self.start("back")
        third.wait_until("ready")
        self.check_items(third, ["a"])
        self.assertEqual(third.end(), 0, third.log())
        second = self.start("copy")
        second.wait_until("ready")
        self.check_items(second, ["a"])
        self.assertEqual(second.end(), 0, second.log())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
