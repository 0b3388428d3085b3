#!/usr/bin/python3
"""The daemon's log: priorities for the journal, its forms, and no warning while nothing is wrong."""

import argparse
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon, wait_for  # noqa: E402

# LimitNOFILE= of the unit.
UNIT_FILES = 65536
ARGS = None
CREDENTIALS = """{"access_keys": [{"id": "AKOPS", "secret": "a-secret-of-some-length", "policy": "ops"}],
"policies": {"ops": {"allow": [{"operations": ["*"], "tables": ["*"]}]}}}"""
INDEX = {"IndexName": "by_color", "KeySchema": [{"AttributeName": "color", "KeyType": "HASH"}],
         "Projection": {"ProjectionType": "ALL"}}


def limit_files():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = UNIT_FILES if hard == resource.RLIM_INFINITY else min(hard, UNIT_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 1024), limit))


class JournalledDaemon(Daemon):
    """A daemon whose standard error is the journal, as far as it can tell; a file."""

    def start(self):
        file = pathlib.Path(self.log_path)
        file.touch()
        told = file.stat()
        self.popen_options["env"] = {**os.environ, "JOURNAL_STREAM": f"{told.st_dev}:{told.st_ino}"}
        super().start()

    def lines(self, *priorities):
        """The lines of all starts that have one of the priorities, or all."""
        lines = pathlib.Path(self.log_path).read_text(errors="replace").splitlines()
        return [line for line in lines if not priorities or line.startswith(priorities)]


class Priorities(unittest.TestCase):
    def test_each_line_has_one(self):
        with JournalledDaemon(ARGS.armatured) as daemon:
            daemon.create_table("Items")
            self.assertEqual(daemon.stop(), 0)
            lines = daemon.lines()
            self.assertGreater(len(lines), 4)
            for line in lines:
                self.assertRegex(line, r"^<6>I\d{8} \d\d:\d\d:\d\d\.\d{6} +\d+ \w+\.cc:\d+\] \w", line)

    def test_warnings_and_errors_have_theirs(self):
        with tempfile.TemporaryDirectory(prefix="armature_log_") as directory:
            credentials = pathlib.Path(directory) / "credentials"
            credentials.write_text(CREDENTIALS)
            credentials.chmod(0o600)
            with JournalledDaemon(ARGS.armatured, "--insecure", f"--credentials_file={credentials}") as daemon:
                self.assertIn("insecure", "".join(daemon.lines("<4>W")))
                credentials.write_text("{")
                daemon.process.send_signal(signal.SIGHUP)
                wait_for(lambda: daemon.lines("<3>E"), "an error")
                self.assertIn("credentials are not read", daemon.lines("<3>E")[0])

    def test_a_start_that_fails_is_an_error(self):
        with tempfile.TemporaryFile() as file:
            told = os.fstat(file.fileno())
            environment = {**os.environ, "JOURNAL_STREAM": f"{told.st_dev}:{told.st_ino}"}
            subprocess.run([ARGS.armatured, "--data_dir="], stderr=file, env=environment, timeout=WAIT_S, check=False)
            file.seek(0)
            self.assertTrue(file.read().startswith(b"<3>armatured: --data_dir=: must name"))

    def test_none_without_a_journal(self):
        environment = {**os.environ, "JOURNAL_STREAM": "1:2"}
        with Daemon(ARGS.armatured, env=environment) as daemon:
            for line in daemon.log().splitlines():
                self.assertRegex(line, r"^I\d{8} ", line)


class Quiet(unittest.TestCase):
    """`journalctl -p warning` of a daemon with which all is well shows nothing."""

    def setUp(self):
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="armature_log_")))
        (directory / "backups").mkdir(mode=0o700)
        self.daemon = self.enterContext(JournalledDaemon(
            ARGS.armatured, f"--backup_dir={directory}/backups", "--metrics_listen=127.0.0.1:0", preexec_fn=limit_files))

    def call(self, operation, **members):
        status, answer = self.daemon.json_call(operation, **members)
        self.assertEqual(status, 200, answer)
        return answer

    def work(self, name):
        self.daemon.create_table(name, more_attributes=[{"AttributeName": "color", "AttributeType": "S"}],
                                 GlobalSecondaryIndexes=[INDEX],
                                 StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        self.call("UpdateTimeToLive", TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ends"})
        for number in range(20):
            self.call("PutItem", TableName=name, Item={"id": {"S": f"{number}"}, "color": {"S": "red"}, "ends": {"N": "1"}})

    def back_up(self, name):
        made = self.daemon.metric("armature_backups_total", 'result="ok"')
        self.call("CreateBackup", TableName=name, BackupName="backup")
        wait_for(lambda: self.daemon.metric("armature_backups_total", 'result="ok"') > made, "a backup")

    def check(self):
        self.assertGreater(len(self.daemon.lines("<6>")), 4)
        others = [line for line in self.daemon.lines() if not line.startswith("<6>")]
        self.assertEqual(others, [])

    def test_start_work_and_end_warn_of_nothing(self):
        self.check()
        self.work("Items")
        self.call("DeleteTable", TableName="Items")
        self.assertEqual(self.daemon.stop(), 0)
        self.daemon.start()
        self.assertEqual(self.daemon.stop(), 0)
        self.check()

    def test_backups_warn_of_nothing(self):
        self.work("Items")
        self.back_up("Items")
        self.work("More")
        self.back_up("More")
        self.assertEqual(self.daemon.stop(), 0)
        self.check()


class Forms(unittest.TestCase):
    def test_json_has_an_object_on_each_line(self):
        with Daemon(ARGS.armatured, "--log_format=json") as daemon:
            self.assertEqual(daemon.stop(), 0)
            entries = [json.loads(line) for line in daemon.log().splitlines()]
        self.assertGreater(len(entries), 4)
        for entry in entries:
            self.assertEqual(set(entry), {"time", "level", "thread", "source", "message"})
            self.assertRegex(entry["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
            self.assertRegex(entry["source"], r"^\w+\.cc:\d+$")
        self.assertTrue([entry for entry in entries if entry["message"].startswith("server: serving grpc=")])

    def test_json_also_tells_why_a_start_failed(self):
        run = subprocess.run([ARGS.armatured, "--log_format=json", "--data_dir="], capture_output=True, text=True,
                             timeout=WAIT_S, check=False)
        entry = json.loads(run.stderr)
        self.assertEqual(entry["level"], "error")
        self.assertTrue(entry["message"].startswith("armatured: --data_dir=: must name"), entry)

    def test_a_level_leaves_out_what_is_below_it(self):
        with Daemon(ARGS.armatured, "--log_level=warning", "--insecure") as daemon:
            lines = daemon.log().splitlines()
            self.assertEqual([line[0] for line in lines], ["W"], lines)
        with Daemon(ARGS.armatured, "--log_level=error", "--insecure") as daemon:
            self.assertEqual(daemon.log(), "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
