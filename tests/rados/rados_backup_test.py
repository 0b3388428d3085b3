#!/usr/bin/python3
"""Backups in RADOS: rados_backup_test.py ARMATURED ARMATURE, run by with_cluster.py.

Databases in directories and in RADOS are backed up into a namespace of backups, by commands, clients and schedule, and
restored from it. One process owns that namespace at a time; a daemon that loses it, or dies, damages no backup.
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster_tool import change_cluster, place_of  # noqa: E402
from daemon_test import ARMATURE, RadosTestCase  # noqa: E402

WAIT_SECONDS = 180
API_ERROR, USAGE_ERROR, INPUT_ERROR = 1, 2, 5


def run(*arguments, daemon=None):
    endpoint = ["--endpoint", daemon.grpc] if daemon else []
    return subprocess.run([ARMATURE, *endpoint, *arguments, "--output", "json"], capture_output=True, text=True, check=False)


class BackupTest(RadosTestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="armature_backup_")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def start_ready(self, name, *flags, is_local=True, **options):
        """A daemon that serves; its database is in the directory `name` of the test, or in that namespace."""
        if is_local:
            options["data_dir"] = self.directory / name
        daemon = self.start(name, "--grpc_listen=127.0.0.1:0", *flags, **options)
        daemon.wait_until("ready")
        return daemon

    def put(self, daemon, key, size=100):
        daemon.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": key}, "v": {"S": "x" * size}}})

    def fill(self, daemon):
        """Rows of 18 MB: a slow backup of them takes longer than any wait for its place."""
        for number in range(60):
            self.put(daemon, f"row{number}", 300_000)

    def done(self, *arguments, daemon=None, code=0):
        ended = run(*arguments, daemon=daemon)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return json.loads(ended.stdout) if code == 0 and ended.stdout else ended.stderr

    def ids(self, place):
        return [each["Id"] for each in self.done("backup", "list", "--dir", place)["Backups"]]

    def wait_until(self, holds, daemon):
        deadline = time.monotonic() + WAIT_SECONDS
        while not holds():
            self.assertLess(time.monotonic(), deadline, daemon.log())

    def wait_for_log(self, daemon, text):
        self.wait_until(lambda: text in daemon.log(), daemon)

    def start_slow_backup(self, daemon, place):
        """Begins a backup that takes minutes. Returns the number of its job."""
        job = self.done("backup", "create", "--to", place, "--rate-mb", "1", "--no-wait", daemon=daemon)
        self.wait_for_log(daemon, f"backup: opened place={place}")
        return job["Id"]

    def test_a_local_database_is_restored_into_a_directory_and_into_rados(self):
        backups = place_of("local.backups")
        daemon = self.start_ready("local")
        self.create_table(daemon)
        self.put(daemon, "first")
        self.assertEqual(self.done("backup", "create", "--to", backups, daemon=daemon)["Id"], 1)
        self.put(daemon, "second")
        self.assertEqual(self.done("backup", "create", "--to", backups, "--keep", "5", daemon=daemon)["Id"], 2)
        # The daemon has given the place back: commands may have it.
        self.assertEqual(self.ids(backups), [1, 2])
        self.done("backup", "verify", "--dir", backups)
        self.done("backup", "restore-table", "--dir", backups, "--id", "1", "--table-name", "rows",
                  "--target-table-name", "then", "--wait", daemon=daemon)
        items = daemon.call("Scan", {"TableName": "then"})["Items"]
        self.assertEqual([item["k"]["S"] for item in items], ["first"])
        self.assertEqual(daemon.end(), 0, daemon.log())

        self.done("backup", "create", "--data-dir", self.directory / "local", "--to", backups)
        self.done("--yes", "backup", "delete", "--dir", backups, "--id", "2")
        self.assertEqual(self.ids(backups), [1, 3])
        self.done("backup", "restore", "--dir", backups, "--id", "1", "--data-dir", self.directory / "copy")
        self.done("backup", "restore", "--dir", backups, "--id", "3", "--data-dir", place_of("local.copy"))
        copy = self.start_ready("copy")
        self.check_items(copy, ["first"])
        self.assertEqual(copy.end(), 0, copy.log())
        moved = self.start_ready("local.copy", is_local=False)
        self.check_items(moved, ["first", "second"])
        self.assertEqual(moved.end(), 0, moved.log())

    def test_a_schedule_and_the_api_back_up_a_database_in_rados(self):
        backups = place_of("api.backups")
        flags = (f"--backup_dir={backups}", "--backup_interval=1s", "--backup_keep=2")
        daemon = self.start_ready("api", *flags, is_local=False)
        self.create_table(daemon)
        self.put(daemon, "kept")
        self.wait_until(lambda: daemon.log().count("backup: created") >= 4, daemon)
        arn = daemon.call("CreateBackup", {"TableName": "rows", "BackupName": "by-hand"})["BackupDetails"]["BackupArn"]
        self.wait_until(
            lambda: daemon.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]["BackupDetails"]["BackupStatus"]
            == "AVAILABLE",
            daemon,
        )
        listed = daemon.call("ListBackups", {})["BackupSummaries"]
        self.assertEqual([each["BackupArn"] for each in listed], [arn])
        daemon.call("RestoreTableFromBackup", {"TargetTableName": "again", "BackupArn": arn})
        self.wait_until(
            lambda: daemon.call("DescribeTable", {"TableName": "again"})["Table"]["TableStatus"] == "ACTIVE", daemon)
        self.assertEqual(daemon.call("Scan", {"TableName": "again"})["Items"][0]["k"]["S"], "kept")

        def is_deleted():
            try:
                daemon.call("DeleteBackup", {"BackupArn": arn})
                return True
            except urllib.error.HTTPError as error:  # a scheduled backup is being made
                self.assertIn("BackupInUseException", error.read().decode())
                return False

        self.wait_until(is_deleted, daemon)
        self.assertEqual(daemon.end(), 0, daemon.log())
        self.assertLessEqual(len(self.ids(backups)), 3)
        self.done("backup", "verify", "--dir", backups)

    def test_two_daemons_take_turns(self):
        backups = place_of("turns.backups")
        first = self.start_ready("turns", f"--backup_dir={backups}", "--metrics_listen=127.0.0.1:0", is_local=False)
        self.create_table(first)
        self.fill(first)
        second = self.start_ready("turns2")
        job = self.start_slow_backup(first, backups)
        # The place is the first one's for as long as it makes the backup. The second one waits, and says for whom.
        asked = self.done("backup", "create", "--to", backups, daemon=second, code=INPUT_ERROR)
        self.assertIn("in use by another process (client.", asked)
        self.assertIn(backups, asked)
        self.assertIn("in use by another process (client.", self.done("backup", "list", "--dir", backups, code=USAGE_ERROR))
        # The owner itself lists meanwhile, and tells that it is the owner.
        scraped = urllib.request.urlopen(f"http://{first.metrics}/metrics", timeout=30).read().decode()
        self.assertIn(f'\narmature_backup_place_epoch{{place="{backups}"}} ', scraped)
        self.assertIn(f'\narmature_backup_place_lease_left_seconds{{place="{backups}"}} ', scraped)
        self.assertEqual(self.done("backup", "list", daemon=first)["Backups"], [])
        self.done("backup", "cancel", "--job", str(job), daemon=first)
        self.wait_for_log(first, f"backup: gives back place={backups}")
        self.assertEqual(self.done("backup", "create", "--to", backups, daemon=second)["Id"], 1)
        # Backups of different databases do not mix.
        mixed = self.done("backup", "create", "--to", backups, daemon=first, code=INPUT_ERROR)
        self.assertIn("holds backups of another database", mixed)
        self.assertEqual(first.end(), 0, first.log())
        self.assertEqual(second.end(), 0, second.log())

    def test_a_killed_daemon_damages_no_backup(self):
        backups = place_of("killed.backups")
        flag = f"--backup_dir={backups}"
        for point in ("backup.copied", "backup.before_manifest"):
            with self.subTest(point):
                daemon = self.start_ready("killed", flag)
                if point == "backup.copied":
                    self.create_table(daemon)
                self.put(daemon, f"before {point}")
                made = self.done("backup", "create", daemon=daemon)["Id"]
                self.put(daemon, f"after {point}")
                self.assertEqual(daemon.end(), 0, daemon.log())
                doomed = self.start_ready("killed", flag, environment={"ARMATURE_FAULT_POINT": f"{point}:1"})
                run("backup", "create", daemon=doomed)
                self.assertEqual(doomed.process.wait(WAIT_SECONDS), -signal.SIGKILL, doomed.log())
                # The lease of the killed one runs out meanwhile.
                successor = self.start_ready("killed", flag)
                self.assertGreater(self.done("backup", "create", daemon=successor)["Id"], made)
                self.assertEqual(successor.end(), 0, successor.log())
        self.done("backup", "verify", "--dir", backups)
        self.assertEqual(self.done("store", "fsck", backups)["Problems"], [])
        self.done("backup", "restore", "--dir", backups, "--id", "1", "--data-dir", self.directory / "restored")
        restored = self.start_ready("restored")
        self.check_items(restored, ["before backup.copied"])

    def test_a_daemon_that_loses_the_place_goes_on_without_the_backup(self):
        backups = place_of("lost.backups")
        paused = self.start_ready("lost")
        self.create_table(paused)
        self.fill(paused)
        self.start_slow_backup(paused, backups)
        paused.process.send_signal(signal.SIGSTOP)
        # Another process takes the place when the lease has run out. It finds no backup in it.
        self.done("backup", "list", "--dir", backups, code=USAGE_ERROR)
        paused.process.send_signal(signal.SIGCONT)
        self.wait_for_log(paused, "backup: failed")
        self.assertIn(f"lost the place of the backups {backups}: ", paused.log())
        self.check_items(paused, ["row0", "row59"])
        self.assertEqual(self.done("backup", "create", "--to", backups, daemon=paused)["Id"], 1)
        self.assertEqual(paused.end(), 0, paused.log())
        self.done("backup", "verify", "--dir", backups)

    def test_a_daemon_ends_though_the_cluster_of_its_backups_does_not_answer(self):
        backups = place_of("silent.backups")
        daemon = self.start_ready("silent")
        self.create_table(daemon)
        self.fill(daemon)
        self.start_slow_backup(daemon, backups)
        change_cluster("kill-osd", "0")
        change_cluster("kill-osd", "1")
        try:
            self.check_items(daemon, ["row0", "row59"])
            self.assertEqual(daemon.end(), 0, daemon.log())
        finally:
            change_cluster("start-osd", "0")
            change_cluster("start-osd", "1")
        again = self.start_ready("silent")
        self.check_items(again, ["row0", "row59"])
        self.assertEqual(self.done("backup", "create", "--to", backups, daemon=again)["Id"], 1)
        self.assertEqual(again.end(), 0, again.log())

    def test_places_of_databases_are_refused(self):
        own = place_of("refused")
        refused = self.start("refused", f"--backup_dir={own}")
        self.assertNotEqual(refused.process.wait(WAIT_SECONDS), 0)
        self.assertIn("must not be the place of the database", refused.log())
        daemon = self.start_ready("refused", is_local=False)
        asked = self.done("backup", "create", "--to", own, daemon=daemon, code=API_ERROR)
        self.assertIn("must not be the place of the database", asked)
        other = self.start_ready("other")
        self.assertIn("is the database of the daemon at",
                      self.done("backup", "create", "--to", own, daemon=other, code=INPUT_ERROR))
        self.assertIn("is the database of the daemon at", self.done("backup", "list", "--dir", own, code=USAGE_ERROR))
        self.create_table(daemon)
        self.assertEqual(daemon.end(), 0, daemon.log())
        self.assertIn("holds a database", self.done("backup", "create", "--to", own, daemon=other, code=INPUT_ERROR))
        # A name that was mistyped leaves nothing behind.
        missing = place_of("refused.missing")
        self.done("backup", "list", "--dir", missing, code=USAGE_ERROR)
        self.done("store", "status", missing, code=USAGE_ERROR)
        self.done("backup", "create", "--to", missing, daemon=other)
        as_database = self.start("refused.missing")
        self.assertNotEqual(as_database.process.wait(WAIT_SECONDS), 0)
        self.assertIn("holds backups", as_database.log())
        self.assertEqual(other.end(), 0, other.log())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
