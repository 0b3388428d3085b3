#!/usr/bin/python3
"""Data directories without one of their files: the daemon and all commands name it, and none aborts.

Run by CTest; by hand: lost_files_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402
from losses import check_command, check_named, is_worthless  # noqa: E402

PATHS = argparse.Namespace()

COMMANDS = {
    "verify": ("verify", "--data-dir", "{data}"),
    "inspect": ("inspect", "directory", "--data-dir", "{data}"),
    "recover": ("recover", "--data-dir", "{data}"),
    "backup": ("backup", "create", "--data-dir", "{data}", "--to", "{other}"),
    "copy": ("store", "copy", "{data}", "{other}"),
}


class LostFilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="armature_lost_")
        cls.addClassCleanup(directory.cleanup)
        cls.home = pathlib.Path(directory.name)
        cls.whole = cls.home / "whole"
        with Daemon(PATHS.armatured, data_dir=cls.whole) as daemon:
            daemon.create_table("Rows")
            cls.put(daemon, 0)
            assert daemon.stop() == 0
        # A start writes the rows of the log to files; later ones are in the log.
        with Daemon(PATHS.armatured, data_dir=cls.whole) as daemon:
            cls.put(daemon, 100)
            daemon.kill()

    @staticmethod
    def put(daemon, first):
        for number in range(first, first + 50):
            status, answer = daemon.json_call("PutItem", TableName="Rows", Item={"id": {"S": str(number)}})
            assert status == 200, answer

    def damaged(self, path, damage):
        """A copy of the directory with one damaged file."""
        directory = tempfile.TemporaryDirectory(prefix="armature_lost_", dir=self.home)
        self.addCleanup(directory.cleanup)
        data = pathlib.Path(directory.name) / "data"
        shutil.copytree(self.whole, data)
        damage(data / path)
        return data

    def start(self, data):
        """Starts the daemon, which may refuse. Returns its output."""
        try:
            with Daemon(PATHS.armatured, data_dir=data) as daemon:
                self.assertEqual(daemon.json_call("ListTables")[1], {"TableNames": ["Rows"]})
                self.assertEqual(daemon.stop(), 0, daemon.log())
                return daemon.log()
        except RuntimeError as refused:
            self.assertNotIn("Assertion", str(refused))
            self.assertIn("armatured: ", str(refused))
            return str(refused)

    def check(self, path, damage):
        written = self.start(self.damaged(path, damage))
        names = [path.name]
        if not is_worthless(str(path)):
            check_named(self, f"{path}: daemon", written, names)
        for name, words in COMMANDS.items():
            data = self.damaged(path, damage)
            command = [word.format(data=data, other=data.parent / "other") for word in words]
            done = subprocess.run([PATHS.armature, *command], capture_output=True, text=True, timeout=WAIT_S, check=False,
                                  stdin=subprocess.DEVNULL)
            check_command(self, f"{path}: {name}", done)
            if not is_worthless(str(path)):
                check_named(self, f"{path}: {name}", done.stdout + done.stderr, names)

    def files(self):
        return sorted(path.relative_to(self.whole) for path in self.whole.rglob("*") if path.is_file())

    def test_each_file_removed(self):
        files = self.files()
        kinds = {path.suffix or path.name for path in files}
        for kind in (".format", "CURRENT", "IDENTITY", ".logs", ".log", ".sst"):
            self.assertIn(kind, kinds)
        for path in files:
            with self.subTest(str(path)):
                self.check(path, pathlib.Path.unlink)

    def test_each_file_emptied(self):
        for path in self.files():
            if (self.whole / path).stat().st_size > 0:
                with self.subTest(str(path)):
                    self.check(path, lambda file: file.write_bytes(b""))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    PATHS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
