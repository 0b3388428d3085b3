#!/usr/bin/python3
"""Commands without a daemon, when the cluster does not answer or something else is wrong: offline_test.py ARMATURED ARMATURE,
run by with_cluster.py.

They end in time, make nothing that they are to look at, write no lines of logs, and name what they tried.
"""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster_tool import CONF, OSDS, change_cluster, objects, place_of, rados, run  # noqa: E402
from daemon_test import RadosTestCase  # noqa: E402
from losses import check_command  # noqa: E402

ARMATURE = sys.argv[2]
NO_ANSWER = 3

# Every command that opens a place; {place} is there, or should be.
COMMANDS = {
    "status": ("store", "status", "{place}"),
    "fsck": ("store", "fsck", "{place}"),
    "gc": ("store", "gc", "{place}", "--yes"),
    "handover": ("store", "handover", "{place}", "--wait", "2"),
    "copy": ("store", "copy", "{place}", "{new}"),
    "verify": ("verify", "--data-dir", "{place}"),
    "inspect": ("inspect", "directory", "--data-dir", "{place}"),
    "rows": ("inspect", "rows", "--data-dir", "{place}", "--table-name", "rows"),
    "recover": ("recover", "--data-dir", "{place}"),
    "backup": ("backup", "create", "--data-dir", "{place}", "--to", "{new}"),
    "backups": ("backup", "list", "--dir", "{place}"),
    "verify backups": ("backup", "verify", "--dir", "{place}"),
    "restore": ("backup", "restore", "--dir", "{place}", "--id", "1", "--data-dir", "{new}"),
}


class OfflineTest(RadosTestCase):
    def each_command(self, place, *options, environment=None):
        """Runs all of them. Returns name and result of each; all fail with one line that names no daemon."""
        outcomes = []
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        for name, words in COMMANDS.items():
            with self.subTest(name):
                new = os.path.join(directory.name, name.replace(" ", "_"))
                command = [word.format(place=place, new=new) for word in words]
                done = run(ARMATURE, *command, *options, environment=environment)
                check_command(self, name, done)
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertTrue(done.stderr.startswith("armature: "), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertNotIn("7700", done.stderr, "no daemon was asked")
                outcomes.append((name, done))
        return outcomes

    def stopped_database(self, name):
        daemon = self.start(name)
        daemon.wait_until("ready")
        self.create_table(daemon)
        self.assertEqual(daemon.end(), 0, daemon.log())
        return place_of(name)

    def check_unanswered(self, place):
        # Each gives up by itself, with an exit status of its own, and is not ended by the limit of the test.
        for name, done in self.each_command(place, "--timeout", "3"):
            self.assertEqual(done.returncode, NO_ANSWER, f"{name}: {done.stderr}")
            self.assertIn(place, done.stderr, name)

    def test_dead_osds(self):
        place = self.stopped_database("dead_osds")
        for osd in OSDS:
            change_cluster("kill-osd", osd)
        try:
            self.check_unanswered(place)
        finally:
            for osd in OSDS:
                change_cluster("start-osd", osd)
        done = run(ARMATURE, "verify", "--data-dir", place)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_monitor(self):
        place = self.stopped_database("no_monitor")
        change_cluster("stop-mon")
        try:
            self.check_unanswered(place)
            done = run(ARMATURE, "store", "status", place, "--timeout", "2")
            for tried in ("mon_host", "client.", CONF):
                self.assertIn(tried, done.stderr)
        finally:
            change_cluster("start-mon")

    def test_a_mistyped_namespace_is_not_made(self):
        place = place_of("mistyped")
        for name, done in self.each_command(place):
            self.assertIn(place.rsplit("/", 1)[-1], done.stderr, name)
            self.assertIn("holds no volume", done.stderr, name)
            self.assertEqual(objects(place), [], name)

    def test_a_mistyped_pool(self):
        for name, done in self.each_command("rados://no-such-pool/orders"):
            self.assertIn("no-such-pool", done.stderr, name)

    def test_a_missing_configuration_names_what_was_tried(self):
        place = place_of("unconfigured")
        for name, done in self.each_command(place, "--rados-conf", "/no/such/file.conf"):
            self.assertIn("/no/such/file.conf", done.stderr, name)
        with tempfile.TemporaryDirectory() as home:
            for name, done in self.each_command(place, environment={"HOME": home, "ARMATURE_RADOS_CONF": ""}):
                self.assertIn("/etc/ceph/ceph.conf", done.stderr, name)

    def test_an_unknown_user_names_the_keyring(self):
        done = run(ARMATURE, "store", "status", place_of("x"), "--rados-user", "nobody", "--timeout", "3")
        check_command(self, "status", done)
        if done.returncode != 0 and "holds no volume" not in done.stderr:  # a cluster with cephx
            self.assertIn("client.nobody", done.stderr)
            self.assertIn("keyring", done.stderr)

    def test_good_commands_write_no_logs(self):
        place = self.stopped_database("quiet")
        for name in ("status", "fsck", "gc", "verify", "inspect", "rows", "recover"):
            done = run(ARMATURE, *(word.format(place=place) for word in COMMANDS[name]))
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
        # The argument of before.
        self.assertEqual(run(ARMATURE, "recover", place).returncode, 0)

    def test_a_lost_directory_is_told(self):
        place = self.stopped_database("no_directory")
        before = objects(place)
        rados(place, "rm", "directory")
        for name, done in self.each_command(place):
            self.assertIn("no object directory", done.stderr, name)
        self.assertEqual(sorted(objects(place)), sorted(set(before) - {"directory"}))

    def test_a_served_database_is_left_alone(self):
        daemon = self.start("served")
        daemon.wait_until("ready")
        for name in ("fsck", "gc", "copy", "verify", "inspect", "recover", "backup"):
            done = run(ARMATURE, *(word.format(place=place_of("served"), new="/no/such/directory") for word in COMMANDS[name]))
            check_command(self, name, done)
            self.assertEqual(done.returncode, 2, f"{name}: {done.stderr}")
            self.assertIn(f"{place_of('served')} is in use by another process", done.stderr, name)
        self.assertEqual(daemon.end(), 0, daemon.log())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
