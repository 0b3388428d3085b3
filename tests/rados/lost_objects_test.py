#!/usr/bin/python3
"""Databases and backups without one of their objects: lost_objects_test.py ARMATURED ARMATURE, run by with_cluster.py.

Each kind of object is removed in turn. The daemon and all commands name it, and none aborts.
"""

import pathlib
import re
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster_tool import files, place_of, rados, run  # noqa: E402
from daemon_test import RadosTestCase  # noqa: E402
from losses import check_command, check_named, is_worthless  # noqa: E402

ARMATURE = sys.argv[2]

COMMANDS = {
    "verify": ("verify", "--data-dir", "{place}"),
    "inspect": ("inspect", "directory", "--data-dir", "{place}"),
    "recover": ("recover", "--data-dir", "{place}"),
    "fsck": ("store", "fsck", "{place}"),
    "gc": ("store", "gc", "{place}", "--yes"),
    "backup": ("backup", "create", "--data-dir", "{place}", "--to", "{other}"),
    "copy": ("store", "copy", "{place}", "{other}"),
}
BACKUP_COMMANDS = {
    "list": ("backup", "list", "--dir", "{place}"),
    "verify": ("backup", "verify", "--dir", "{place}"),
    "restore": ("backup", "restore", "--dir", "{place}", "--id", "1", "--data-dir", "{other}"),
}


def kind_of(path):
    """The ending of a file or, without one, its name up to a number."""
    return re.split(r"[-0-9]", path.rsplit("/", 1)[-1])[0] or path.rsplit(".", 1)[-1]


class LostObjectsTest(RadosTestCase):
    count = 0

    @classmethod
    def new_place(cls):
        cls.count += 1
        return place_of(f"lost{cls.count}")

    def fill(self, name, *flags):
        """A database with rows in table files and in the log, and its place."""
        daemon = self.start(name, *flags)
        daemon.wait_until("ready")
        self.create_table(daemon)
        for number in range(40):
            daemon.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": str(number)}}})
        self.assertEqual(daemon.end(), 0, daemon.log())
        daemon = self.start(name, *flags)
        daemon.wait_until("ready")
        daemon.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": "last"}}})
        self.assertEqual(daemon.end(), 0, daemon.log())
        return place_of(name)

    def copy_without(self, whole, path, copy=("store", "copy")):
        """A copy that lacks an object, and names of that object."""
        place = self.new_place()
        done = run(ARMATURE, *copy, whole, place)
        self.assertEqual(done.returncode, 0, done.stderr)
        lost = f"{files(place)[path][0]}.0" if path.startswith("/") else path
        rados(place, "rm", lost)
        return place, [lost, path]

    def check_commands(self, what, commands, make):
        for name, words in commands.items():
            place, names = make()
            done = run(ARMATURE, *(word.format(place=place, other=self.new_place()) for word in words))
            check_command(self, f"{what}: {name}", done)
            check_named(self, f"{what}: {name}", done.stdout + done.stderr, names)

    def check_daemon(self, what, place, names, serves):
        daemon = self.start(place)
        line = daemon.read_line()
        if line.startswith("ready"):
            self.assertTrue(serves, what)
            self.wait_until_logged(daemon, names[0])
            self.assertEqual(daemon.end(), 0, daemon.log())
        else:
            self.assertEqual(daemon.process.wait(60), 1, f"{what}: {daemon.log()}")
            self.assertIn("armatured: ", daemon.log())
            check_named(self, f"{what}: daemon", daemon.log(), names)

    def test_each_object_of_a_database(self):
        whole = self.fill("database")
        paths = [path for path, (_, size) in files(whole).items() if size != "0"]
        kinds = {path.rsplit("/", 1)[-1].split("-")[0].split(".")[-1] for path in paths}
        self.assertLessEqual({"format", "sst", "CURRENT", "IDENTITY", "MANIFEST", "logs", "spare"}, kinds)
        for path in [*paths, "directory"]:
            with self.subTest(path):
                serves = path.endswith("IDENTITY") or is_worthless(path)
                self.check_daemon(path, *self.copy_without(whole, path), serves=serves)
                self.check_commands(path, COMMANDS, lambda path=path: self.copy_without(whole, path))

    def test_the_object_of_the_lease_is_made_anew(self):
        whole = self.fill("lease")
        rados(whole, "rm", "lease")
        done = run(ARMATURE, "verify", "--data-dir", whole)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_object_of_a_killed_owner(self):
        name = "killed"
        daemon = self.start(name)
        daemon.wait_until("ready")
        self.create_table(daemon)
        for number in range(40):
            daemon.call("PutItem", {"TableName": "rows", "Item": {"k": {"S": str(number)}}})
        daemon.end(signal.SIGKILL)
        place = place_of(name)
        log = next(path for path, (_, size) in files(place).items() if path.endswith(".log") and size == "open")
        # The object of its bytes. Another one is made ahead, and is empty.
        lost = f"{files(place)[log][0]}.0"
        rados(place, "rm", lost)
        self.check_daemon(log, place, [lost, log], serves=False)
        for command in ("verify", "inspect", "recover", "fsck"):
            done = run(ARMATURE, *(word.format(place=place) for word in COMMANDS[command]))
            check_command(self, command, done)
            check_named(self, command, done.stdout + done.stderr, [lost, log])

    def test_each_object_of_backups(self):
        data = self.fill("with_backups")

        def make():
            place = self.new_place()
            done = run(ARMATURE, "backup", "create", "--data-dir", data, "--to", place)
            self.assertEqual(done.returncode, 0, done.stderr)
            return place

        whole = make()
        for kind in sorted({kind_of(path) for path, (_, size) in files(whole).items() if size != "0"}) + ["directory"]:
            with self.subTest(kind):
                for name, words in BACKUP_COMMANDS.items():
                    place = make()
                    if kind == "directory":
                        lost = path = "directory"
                    else:
                        path = next(path for path, (_, size) in files(place).items() if size != "0" and kind_of(path) == kind)
                        lost = f"{files(place)[path][0]}.0"
                    rados(place, "rm", lost)
                    done = run(ARMATURE, *(word.format(place=place, other=self.new_place()) for word in words))
                    check_command(self, f"{path}: {name}", done)
                    # The list reads no table files.
                    if done.returncode != 0 or name != "list":
                        check_named(self, f"{path}: {name}", done.stdout + done.stderr, [lost, path, path.rsplit("/", 1)[-1]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
