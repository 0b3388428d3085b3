#!/usr/bin/python3
"""Starts of the daemon after log files were lost or damaged, and `armature recover`.

Run by CTest; by hand: recover_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import argparse
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402

PATHS = argparse.Namespace()

VALUE = "x" * 20_000


def digests(directory):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in directory.iterdir() if path.is_file() and path.name != "LOCK"}


class RecoverTest(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="armature_recover_")
        self.addCleanup(directory.cleanup)
        self.data = pathlib.Path(directory.name) / "data"

    def fill(self, *flags, rows=300, kill=False):
        """Writes rows 0, 1, ... to the table Rows, and stops the daemon."""
        with Daemon(PATHS.armatured, *flags, data_dir=self.data) as daemon:
            daemon.create_table("Rows")
            for number in range(rows):
                status, answer = daemon.json_call(
                    "PutItem", TableName="Rows", Item={"id": {"S": str(number)}, "v": {"S": VALUE}})
                self.assertEqual(status, 200, answer)
            if kill:
                daemon.process.kill()
                daemon.process.wait(WAIT_S)
            else:
                self.assertEqual(daemon.stop(), 0)

    def rows(self, daemon):
        found, members = set(), {}
        while True:
            status, page = daemon.json_call("Scan", TableName="Rows", ProjectionExpression="id", **members)
            self.assertEqual(status, 200, page)
            found |= {int(item["id"]["S"]) for item in page["Items"]}
            if "LastEvaluatedKey" not in page:
                return found
            members = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def logs(self):
        return sorted((self.data / "db").glob("*.log"))

    def assert_refused(self, *texts):
        before = digests(self.data / "db")
        with self.assertRaises(RuntimeError) as refused:
            with Daemon(PATHS.armatured, data_dir=self.data):
                pass
        for text in (*texts, "nothing was changed", "armature recover"):
            self.assertIn(str(text), str(refused.exception))
        self.assertEqual(digests(self.data / "db"), before)

    def recover(self, *arguments, code=0):
        done = subprocess.run([PATHS.armature, "recover", str(self.data), *arguments],
                              capture_output=True, text=True, timeout=WAIT_S, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)["Damage"] if done.stdout else done.stderr

    def test_a_start_without_the_log_is_refused(self):
        self.fill()
        kept = self.data.parent / "kept"
        kept.mkdir()
        for log in self.logs():
            shutil.move(log, kept)
        self.assert_refused(" is missing")
        for log in kept.iterdir():
            shutil.move(log, self.data / "db")
        with Daemon(PATHS.armatured, data_dir=self.data) as daemon:
            self.assertEqual(self.rows(daemon), set(range(300)))

    def test_damage_in_the_log_stops_the_start_at_every_durability(self):
        for durability in ("sync", "interval:100", "os"):
            with self.subTest(durability):
                shutil.rmtree(self.data, ignore_errors=True)
                self.fill(f"--durability={durability}", kill=True)
                log = self.logs()[0]
                content = bytearray(log.read_bytes())
                content[len(content) // 2] ^= 1
                log.write_bytes(content)
                self.assert_refused(log, "damaged at offset", "the next good record is at offset")

    def test_an_unfinished_end_is_cut_off(self):
        self.fill(kill=True)
        for tail in (bytes(40_000), b"\xfe" * 50, bytes(7)):
            log = self.logs()[-1]
            size = log.stat().st_size
            with log.open("ab") as file:
                file.write(tail)
            with Daemon(PATHS.armatured, data_dir=self.data) as daemon:
                self.assertEqual(self.rows(daemon), set(range(300)))
                self.assertIn(f"path={log} offset={size} bytes={len(tail)}", daemon.log())
                daemon.process.kill()
                daemon.process.wait(WAIT_S)

    def test_losses_are_accepted_only_by_yes(self):
        self.fill(rows=600)
        self.assertEqual(self.recover(), [])
        log = self.logs()[0]
        content = bytearray(log.read_bytes())
        content[len(content) // 2] ^= 1
        log.write_bytes(content)
        before = digests(self.data / "db")
        damage = subprocess.run([PATHS.armature, "recover", str(self.data)], capture_output=True, text=True,
                                timeout=WAIT_S, stdin=subprocess.DEVNULL)
        self.assertNotEqual(damage.returncode, 0)
        self.assertIn(f"{log} is damaged at offset", damage.stdout)
        self.assertIn("--yes", damage.stderr)
        self.assertEqual(digests(self.data / "db"), before)
        found = self.recover("--yes")
        self.assertEqual(len(found), 1)
        self.assertRegex(found[0]["Loss"], r"the writes in \d+ bytes of the file, from offset \d+ on in 1 place;")
        with Daemon(PATHS.armatured, data_dir=self.data) as daemon:
            left = self.rows(daemon)
            self.assertLess(len(left), 600)
            self.assertGreater(len(left), 590)
        self.assertEqual(self.recover(), [])

    def test_a_directory_in_use_is_left_alone(self):
        with Daemon(PATHS.armatured, data_dir=self.data):
            done = subprocess.run([PATHS.armature, "recover", str(self.data), "--yes"], capture_output=True, text=True,
                                  timeout=WAIT_S)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("in use", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    _, rest = parser.parse_known_args(namespace=PATHS)
    unittest.main(argv=[sys.argv[0], *rest])
