#!/usr/bin/python3
"""Settings that change while the daemon serves: SIGHUP reads the file of flags again."""

import argparse
import http.client
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon, wait_for  # noqa: E402

ARGS = None
OTHER_VALUES = {"disk_reserve": "7%", "enforce_throughput": "false", "log_level": "warning"}


def live_flags():
    """The names of the flags that are live, and a value of each that is not its default."""
    document = subprocess.run([ARGS.armatured, "--print_flags_doc"], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^\| `--(\w+)[^|]*\| `?([^`|]*)`? \| ([^|]*) \| .* Live\. \|$", document, re.MULTILINE)
    flags = {}
    for name, initial, limits in rows:
        least = limits.split(" to ")[0]
        flags[name] = OTHER_VALUES.get(name) or (least if least != initial else limits.split(" to ")[1].split(",")[0])
    return flags


class Settings(unittest.TestCase):
    """A daemon with a file of flags."""

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="armature_settings_")))
        self.file = self.directory / "armatured.conf"

    def start(self, *flags, **settings):
        self.write(**settings)
        self.daemon = self.enterContext(
            Daemon(ARGS.armatured, f"--config={self.file}", "--metrics_listen=127.0.0.1:0", *flags))
        return self.daemon

    def write(self, **settings):
        self.file.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()), encoding="ascii")

    def reread(self):
        self.daemon.process.send_signal(signal.SIGHUP)

    def change(self, **settings):
        """Changes the file, and waits until the daemon has taken it."""
        seen = len(self.daemon.log())
        self.write(**settings)
        self.reread()
        wait_for(lambda: "setting changed" in self.daemon.log()[seen:], "the change of a setting")

    def call(self, operation, **members):
        status, answer = self.daemon.json_call(operation, **members)
        self.assertEqual(status, 200, answer)
        return answer


class Each(Settings):
    def test_every_live_flag_is_taken(self):
        archive = self.directory / "archive"
        backups = self.directory / "backups"
        archive.mkdir(mode=0o700)
        backups.mkdir(mode=0o700)
        places = {"archive_dir": archive, "backup_dir": backups}
        daemon = self.start(**places)
        flags = live_flags()
        self.assertGreater(len(flags), 15)
        # The last one would silence the others.
        quiet = flags.pop("log_level")
        self.change(**places, **flags)
        wait_for(lambda: daemon.log().count("setting changed --") == len(flags), "a line for each setting")
        for name, value in flags.items():
            self.assertRegex(daemon.log(), rf"setting changed --{name}=\S+ was=", value)
        # A change of the level is logged both ways, and nothing in between.
        self.change(**places, **flags, log_level=quiet)
        self.assertIn("--log_level=warning was=info", daemon.log())
        self.write(**places, **flags)
        self.reread()
        wait_for(lambda: "--log_level=info was=warning" in daemon.log(), "the usual level")
        self.assertEqual(daemon.log().count("got SIGHUP"), 2)
        self.assertEqual(daemon.stop(), 0)

    def test_the_console_shows_the_present_values_and_where_they_come_from(self):
        daemon = self.start(cache_mb=64)

        def setting(name):
            with urllib.request.urlopen(f"http://{daemon.http}/console/settings", timeout=WAIT_S) as answer:
                return next(flag for flag in json.load(answer)["Flags"] if flag["Name"] == name)

        self.change(cache_mb=32, watch_max=7)
        self.assertEqual([setting("cache_mb")[key] for key in ("Value", "Source", "Line")], ["32", "file", 1])
        self.assertEqual([setting("watch_max")[key] for key in ("Value", "Source", "Line")], ["7", "file", 2])
        self.change(cache_mb=32)
        self.assertEqual([setting("watch_max")[key] for key in ("Value", "Source")], ["1000", "default"])

    def test_fixed_ones_are_named_and_wait(self):
        daemon = self.start(cache_mb=64)
        self.write(cache_mb=64, read_threads=9)
        self.reread()
        wait_for(lambda: re.search(r"^W.*takes effect at the next start --read_threads=9 was=0$", daemon.log(),
                                   re.MULTILINE), "a warning")
        self.assertNotIn("setting changed", daemon.log())

    def test_a_wrong_file_changes_nothing(self):
        daemon = self.start(cache_mb=64)
        before = daemon.metric("armature_store_cache_max_bytes ")
        for text, message in (("cache_mb = 32\nno_such = 1\n", "there is no flag 'no_such'"),
                              ("cache_mb = 32\nwatch_max = many\n", "'many' is no value of watch_max"),
                              ("cache_mb = 32\nbackup_interval = 1h\n", "needs --backup_dir")):
            self.file.write_text(text, encoding="ascii")
            self.reread()
            wait_for(lambda: re.search(f"^E.*the settings stay as they are.*{re.escape(message)}", daemon.log(),
                                       re.MULTILINE), message)
            self.assertEqual(daemon.metric("armature_store_cache_max_bytes "), before)
        self.file.unlink()
        self.reread()
        wait_for(lambda: "the settings stay as they are: cannot read" in daemon.log(), "an error")


class Effects(Settings):
    def test_memory_and_disk(self):
        daemon = self.start(cache_mb=64, disk_reserve=0)
        self.assertEqual(daemon.metric("armature_store_cache_max_bytes "), 64 << 20)
        self.change(cache_mb=32, disk_reserve="1M")
        wait_for(lambda: daemon.metric("armature_store_cache_max_bytes ") == 32 << 20, "the smaller cache")
        wait_for(lambda: daemon.metric("armature_disk_reserve_bytes ") == 1 << 20, "the reserve")
        # A reserve of half of a large disk is the way to refuse writes by hand.
        self.call("CreateTable", TableName="Items", BillingMode="PAY_PER_REQUEST",
                  AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                  KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}])
        self.call("PutItem", TableName="Items", Item={"id": {"S": "1"}})

    def test_slow_requests(self):
        daemon = self.start()
        daemon.create_table("Before")
        self.assertNotIn("request: slow", daemon.log())
        self.change(slow_request_ms=1)
        # The creation of a table waits for the disk.
        wait_for(lambda: daemon.create_table(f"After{len(daemon.log())}") or "request: slow operation=CreateTable"
                 in daemon.log(), "a slow request")

    def test_throughput(self):
        daemon = self.start()
        self.call("CreateTable", TableName="Small", AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                  KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                  ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
        large = {"id": {"S": "1"}, "text": {"S": "x" * 300_000}}
        wait_for(lambda: daemon.json_call("PutItem", TableName="Small", Item=large)[0] == 400, "throttling")
        self.change(enforce_throughput="false")
        for _ in range(10):
            self.call("PutItem", TableName="Small", Item=large)
        self.change(enforce_throughput="true")
        wait_for(lambda: daemon.json_call("PutItem", TableName="Small", Item=large)[0] == 400, "throttling")

    def test_connections(self):
        daemon = self.start()
        host, port = daemon.http.split(":")
        held = [self.enterContext(socket.create_connection((host, int(port)))) for _ in range(3)]
        for each in held:
            each.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertTrue(each.recv(1000).startswith(b"HTTP/1.1"))
        self.change(connections_per_address_max=2)
        # Open connections stay, and a further one is refused.
        held[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertTrue(held[0].recv(1000).startswith(b"HTTP/1.1"))
        refused = http.client.HTTPConnection(daemon.http, timeout=WAIT_S)
        self.addCleanup(refused.close)
        refused.request("GET", "/healthz")
        self.assertEqual(refused.getresponse().status, 503)
        self.change(connections_per_address_max=100)
        self.call("ListTables")

    def test_expiry(self):
        daemon = self.start(ttl_interval="24h")
        daemon.create_table("Items")
        self.call("UpdateTimeToLive", TableName="Items",
                  TimeToLiveSpecification={"Enabled": True, "AttributeName": "ends"})
        # The first sweep follows at once, the next one after the interval.
        self.call("PutItem", TableName="Items", Item={"id": {"S": "first"}, "ends": {"N": "1000"}})
        wait_for(lambda: self.call("DescribeTimeToLive", TableName="Items")["TimeToLiveDescription"]
                 ["TimeToLiveStatus"] == "ENABLED", "time to live")
        # No item expires that is older than five years.
        now = int(subprocess.run(["date", "+%s"], capture_output=True, text=True, check=True).stdout)
        self.call("PutItem", TableName="Items", Item={"id": {"S": "due"}, "ends": {"N": str(now - 60)}})
        self.change(ttl_interval="20ms")
        wait_for(lambda: "Item" not in self.call("GetItem", TableName="Items", Key={"id": {"S": "due"}}), "expiry")

    def test_backups_and_archive(self):
        archive = self.directory / "archive"
        backups = self.directory / "backups"
        archive.mkdir(mode=0o700)
        backups.mkdir(mode=0o700)
        places = {"archive_dir": archive, "backup_dir": backups}
        daemon = self.start(**places, archive_interval="1h")
        daemon.create_table("Items")
        self.assertEqual(daemon.metric("armature_backup_interval_seconds "), 0)
        self.change(**places, archive_interval="100ms", backup_interval="1s", backup_keep=2)
        self.assertEqual(daemon.metric("armature_backup_interval_seconds "), 1)
        wait_for(lambda: daemon.metric("armature_backups_total", 'result="ok"') >= 4, "scheduled backups")
        segments = daemon.metric("armature_archive_segments_total ")
        self.call("PutItem", TableName="Items", Item={"id": {"S": "1"}})
        wait_for(lambda: daemon.metric("armature_archive_segments_total ") > segments, "a segment")
        self.change(**places, archive_interval="100ms", backup_interval="0", backup_keep=2)
        self.assertEqual(daemon.metric("armature_backup_interval_seconds "), 0)

    def test_the_time_to_drain(self):
        daemon = self.start(drain_seconds=3600)
        host, port = daemon.http.split(":")
        unfinished = self.enterContext(socket.create_connection((host, int(port))))
        unfinished.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
                           b"X-Amz-Target: DynamoDB_20120810.ListTables\r\n\r\n{")
        self.change(drain_seconds=0)
        self.assertEqual(daemon.stop(), 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
