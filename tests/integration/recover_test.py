#!/usr/bin/python3
"""Starts of the daemon after log files were lost or damaged, and `armature recover`.

Run by CTest; by hand: recover_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import re
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
                daemon.kill()
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
                daemon.kill()

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


class SalvageTest(unittest.TestCase):
    """`armature recover DIR --salvage NEWDIR`, for every damage of a directory with tables, indexes and a stream."""
    maxDiff = 2000
    ROWS = 300
    directory = None

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="armature_salvage_")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.whole = pathlib.Path(cls.directory.name) / "whole"
        with Daemon(PATHS.armatured, data_dir=cls.whole) as daemon:
            key = [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}]
            status, answer = daemon.json_call(
                "CreateTable", TableName="Things", BillingMode="PAY_PER_REQUEST", KeySchema=key,
                AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind}
                                      for name, kind in (("id", "S"), ("n", "N"), ("color", "S"), ("rank", "N"))],
                LocalSecondaryIndexes=[{"IndexName": "by_rank", "Projection": {"ProjectionType": "KEYS_ONLY"}, "KeySchema": [
                    key[0], {"AttributeName": "rank", "KeyType": "RANGE"}]}],
                GlobalSecondaryIndexes=[{"IndexName": "by_color", "Projection": {"ProjectionType": "KEYS_ONLY"},
                                         "KeySchema": [{"AttributeName": "color", "KeyType": "HASH"}]}],
                StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
            assert status == 200, answer
            cls.wait_active(daemon)
            cls.put(daemon, range(0, cls.ROWS, 2))
            assert daemon.stop() == 0
        # A restart writes the rows of the log to files; later ones are only in the log.
        with Daemon(PATHS.armatured, data_dir=cls.whole) as daemon:
            cls.put(daemon, range(1, cls.ROWS, 2))
            status, answer = daemon.json_call("DeleteItem", TableName="Things", Key=cls.key(0))
            assert status == 200, answer
            daemon.kill()

    @staticmethod
    def wait_active(daemon):
        """Returns the description of the table."""
        while True:
            status, answer = daemon.json_call("DescribeTable", TableName="Things")
            assert status == 200, answer
            if answer["Table"]["TableStatus"] == "ACTIVE":
                return answer["Table"]

    @classmethod
    def wait_built(cls, daemon):
        """Returns the description of the table when its global index is built."""
        while True:
            table = cls.wait_active(daemon)
            if all(index["IndexStatus"] == "ACTIVE" for index in table["GlobalSecondaryIndexes"]):
                return table

    @staticmethod
    def key(number):
        return {"id": {"S": f"p{number % 5}"}, "n": {"N": str(number)}}

    @classmethod
    def put(cls, daemon, numbers):
        for number in numbers:
            item = {**cls.key(number), "color": {"S": f"c{number % 3}"}, "rank": {"N": str(-number)},
                    # Not compressible, so that the largest file is that of the rows.
                    "v": {"S": random.Random(number).randbytes(4000).hex()}}
            status, answer = daemon.json_call("PutItem", TableName="Things", Item=item)
            assert status == 200, answer

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="armature_salvage_")
        self.addCleanup(directory.cleanup)
        self.data = pathlib.Path(directory.name) / "data"
        self.new = pathlib.Path(directory.name) / "new"
        shutil.copytree(self.whole, self.data)

    def file(self, pattern, place=-1):
        return sorted((self.data / "db").glob(pattern), key=lambda path: path.stat().st_size)[place]

    def salvage(self, code=0):
        before = digests(self.data / "db")
        done = subprocess.run([PATHS.armature, "--yes", "recover", str(self.data), "--salvage", str(self.new)],
                              capture_output=True, text=True, timeout=WAIT_S, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(digests(self.data / "db"), before, "the damaged directory is not changed")
        return json.loads(done.stdout) if code == 0 else done.stderr

    def numbers(self, daemon, **members):
        """The numbers of all items that a Scan or a Query finds."""
        operation = "Query" if "KeyConditionExpression" in members else "Scan"
        found = set()
        while True:
            status, page = daemon.json_call(operation, TableName="Things", **members)
            self.assertEqual(status, 200, page)
            found |= {int(item["n"]["N"]) for item in page["Items"]}
            if "LastEvaluatedKey" not in page:
                return found
            members["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def check(self, expected=None):
        """Starts a daemon on the new directory. Returns the numbers of its items, which all indexes have."""
        with Daemon(PATHS.armatured, data_dir=self.new) as daemon:
            table = self.wait_built(daemon)
            found = self.numbers(daemon)
            self.assertEqual(table["ItemCount"], len(found))
            if expected is not None:
                self.assertEqual(found, expected)
            for color in range(3):
                self.assertEqual(self.numbers(daemon, IndexName="by_color", KeyConditionExpression="color = :c",
                                              ExpressionAttributeValues={":c": {"S": f"c{color}"}}),
                                 {number for number in found if number % 3 == color})
            self.assertEqual(self.numbers(daemon, IndexName="by_rank"), found)
            streams = daemon.stream_call("ListStreams")[1]["Streams"]
            self.assertEqual(len(streams), 1)
            self.put(daemon, [self.ROWS])
            self.assertEqual(daemon.stop(), 0)
        verified = subprocess.run([PATHS.armature, "verify", "--data-dir", str(self.new)], capture_output=True, text=True,
                                  timeout=WAIT_S, check=False)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        return found

    def all_rows(self):
        return set(range(1, self.ROWS))

    def test_a_whole_directory_is_copied(self):
        report = self.salvage()
        self.assertEqual(report["Problems"], [])
        self.assertEqual(report["Tables"], [{"TableName": "Things", "Rows": self.ROWS - 1, "UnreadablePlaces": 0,
                                             "IndexesToBuild": 1}])
        self.check(self.all_rows())

    def test_without_a_manifest_the_files_and_the_log_are_read(self):
        for damage in (lambda path: path.unlink(), lambda path: path.write_bytes(bytes(path.stat().st_size)),
                       lambda path: path.write_bytes(path.read_bytes()[:-200])):
            with self.subTest():
                shutil.rmtree(self.data)
                shutil.copytree(self.whole, self.data)
                shutil.rmtree(self.new, ignore_errors=True)
                damage(self.file("MANIFEST-*"))
                report = self.salvage()
                self.assertNotEqual(report["Problems"], [])
                self.assertEqual(report["LostFamilies"], [])
                self.check(self.all_rows())

    def test_without_a_manifest_the_rows_of_the_files_are_counted_and_inspected(self):
        self.file("MANIFEST-*").write_bytes(b"damaged")
        before = {path: path.read_bytes() for path in self.data.rglob("*") if path.is_file()}
        temporary = self.enterContext(tempfile.TemporaryDirectory(prefix="armature_recover_"))

        def run(*arguments):
            done = subprocess.run([PATHS.armature, *arguments, "--output", "json"], capture_output=True, text=True,
                                  timeout=WAIT_S, stdin=subprocess.DEVNULL, check=False,
                                  env={**os.environ, "TMPDIR": temporary})
            self.assertNotEqual(done.returncode, 0, "there is damage")
            return json.loads(done.stdout)

        choices = run("recover", str(self.data))
        self.assertIn("MANIFEST", str(choices["Damage"]))
        table, = choices["Tables"]
        # The others are only in the log.
        self.assertEqual(table["TableName"], "Things")
        self.assertGreaterEqual(table["ReadableRows"], self.ROWS // 3)
        self.assertLess(table["ReadableRows"], self.ROWS - 1)
        directory = run("inspect", "directory", "--data-dir", str(self.data))
        self.assertIn("manifest is lost", " ".join(directory["Problems"]))
        self.assertIn("TABLE", {family["Kind"] for family in directory["Families"]})
        catalog = run("inspect", "catalog", "--data-dir", str(self.data))
        self.assertEqual([table["TableName"] for table in catalog["Tables"]], ["Things"])
        rows = run("inspect", "rows", "--data-dir", str(self.data), "--table-name", "Things", "--limit", "0")["Rows"]
        self.assertEqual(len(rows), table["ReadableRows"])
        after = {path: path.read_bytes() for path in self.data.rglob("*") if path.is_file()}
        self.assertEqual(after, before)
        self.assertEqual(os.listdir(temporary), [])

    def test_a_damaged_file_of_rows_loses_only_its_rows(self):
        path = self.file("*.sst")
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        report = self.salvage()
        self.assertGreater(report["Tables"][0]["UnreadablePlaces"], 0)
        found = self.check()
        self.assertLessEqual(set(range(1, self.ROWS, 2)), found, "what is in the log is there")
        self.assertGreater(len(found), self.ROWS // 2)

    def recover(self):
        return subprocess.run([PATHS.armature, "recover", str(self.data)], capture_output=True, text=True, timeout=WAIT_S,
                              stdin=subprocess.DEVNULL, check=False)

    def test_a_damaged_file_of_rows_is_found(self):
        whole = self.recover()
        self.assertEqual((whole.returncode, json.loads(whole.stdout)["Damage"]), (0, []), whole.stderr)
        path = self.file("*.sst")
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        found = self.recover()
        self.assertNotEqual(found.returncode, 0)
        document = json.loads(found.stdout)
        [damage] = document["Damage"]
        self.assertIn("table Things", damage["Fault"])
        self.assertIn(path.name, damage["Fault"])
        self.assertIn("--salvage", found.stderr)
        self.assertLess(document["Tables"][0]["ReadableRows"], self.ROWS - 1)

    def test_a_salvage_of_nothing_fails(self):
        shutil.rmtree(self.data)
        with Daemon(PATHS.armatured, data_dir=self.data) as daemon:
            self.assertEqual(daemon.stop(), 0)
        self.assertIn("nothing was salvaged", self.salvage(code=5))

    def test_a_damaged_table_is_set_apart_and_the_others_go_on(self):
        path = self.file("*.sst")
        content = bytearray(path.read_bytes())
        content[100] ^= 1
        path.write_bytes(content)
        # Each start writes the rows of the log to a file of its own, until there are enough for a compaction.
        for start in range(12):
            with Daemon(PATHS.armatured, data_dir=self.data) as daemon:
                if start == 0:
                    daemon.create_table("Other")
                shown = subprocess.run([PATHS.armature, "--endpoint", daemon.grpc, "status", "--output", "json"],
                                       capture_output=True, text=True, timeout=WAIT_S, check=True)
                damaged = json.loads(shown.stdout)["Server"].get("Damaged", [])
                if not damaged:
                    daemon.json_call("PutItem", TableName="Things", Item={**self.key(self.ROWS + start), "v": {"S": "v"}})
                else:
                    for operation, members in (("Scan", {}), ("GetItem", {"Key": self.key(1)}), ("PutItem", {"Item": self.key(1)})):
                        status, answer = daemon.json_call(operation, TableName="Things", **members)
                        self.assertEqual(status, 500, answer)
                        self.assertIn("DataLoss", answer["__type"])
                        self.assertIn("table Things", answer["message"])
                        self.assertIn(path.name, answer["message"])
                    self.assertIn(path.name, damaged[0])
                self.assertEqual(daemon.json_call("PutItem", TableName="Other", Item={"id": {"S": str(start)}})[0], 200)
                self.assertEqual(daemon.json_call("Scan", TableName="Other")[1]["Count"], start + 1)
                self.assertEqual(daemon.stop(), 0)
            if damaged and start > 0:
                break
        else:
            self.fail("no compaction met the damage")

    def test_a_lost_file_of_rows_loses_only_its_rows(self):
        self.file("*.sst").unlink()
        self.salvage()
        self.assertLessEqual(set(range(1, self.ROWS, 2)), self.check())

    def family_file(self, name):
        """The table file of a column family, whose name is the value of a property."""
        [file] = [path for path in (self.data / "db").glob("*.sst")
                  if re.search(b"name" + name, path.read_bytes()[-4000:])]
        return file

    def index_file(self):
        return self.family_file(rb"g\d+\.\d+")

    def accept(self):
        done = subprocess.run([PATHS.armature, "--yes", "recover", str(self.data)], capture_output=True, text=True,
                              timeout=WAIT_S, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.new = self.data
        self.check(self.all_rows())
        found = self.recover()
        self.assertEqual((found.returncode, json.loads(found.stdout)["Damage"]), (0, []), found.stderr)

    def test_a_lost_file_of_an_index_is_accepted(self):
        self.index_file().unlink()
        self.accept()

    def test_damaged_streams_are_made_anew(self):
        file = self.family_file(rb"stream")
        content = bytearray(file.read_bytes())
        content[100] ^= 1
        file.write_bytes(content)
        found = self.recover()
        [damage] = json.loads(found.stdout)["Damage"]
        self.assertIn(f"the streams: file db/{file.name}", damage["Fault"])
        self.assertIn("records of all streams", damage["Loss"])
        self.accept()

    @staticmethod
    def damage_rows(file):
        content = bytearray(file.read_bytes())
        content[100] ^= 1
        file.write_bytes(content)

    def test_an_index_that_cannot_be_built_again_is_not_dropped(self):
        rows, index, stream = self.file("*.sst"), self.index_file(), self.family_file(rb"stream")
        for file in (rows, index, stream):
            self.damage_rows(file)
        done = subprocess.run([PATHS.armature, "--yes", "recover", str(self.data)], capture_output=True, text=True,
                              timeout=WAIT_S, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        losses = {each["Fault"]: each["Loss"] for each in json.loads(done.stdout)["Damage"]}
        [loss] = [loss for fault, loss in losses.items() if index.name in fault]
        self.assertIn("index by_color of table Things would have to be built from rows that cannot be read", loss)
        self.assertIn("rows cannot be read", done.stderr)
        self.assertIn("restore the table", done.stderr)
        left = str(json.loads(self.recover().stdout)["Damage"])
        self.assertEqual([file.name in left for file in (rows, index, stream)], [True, True, False])

    def test_nor_is_it_when_it_stops_the_start(self):
        self.damage_rows(self.file("*.sst"))
        index = self.index_file()
        index.unlink()
        before = digests(self.data / "db")
        done = subprocess.run([PATHS.armature, "--yes", "recover", str(self.data)], capture_output=True, text=True,
                              timeout=WAIT_S, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn(index.name, done.stderr)
        self.assertIn("--salvage", done.stderr)
        self.assertEqual(digests(self.data / "db"), before)

    def test_a_lost_file_of_an_index_loses_no_row(self):
        file = self.index_file()
        file.unlink()
        with self.assertRaises(RuntimeError) as refused:
            with Daemon(PATHS.armatured, data_dir=self.data):
                pass
        self.assertRegex(str(refused.exception), f"armatured: .*{file.name}.*see armature recover")
        found = subprocess.run([PATHS.armature, "recover", str(self.data)], capture_output=True, text=True,
                               timeout=WAIT_S, stdin=subprocess.DEVNULL, check=False)
        self.assertNotEqual(found.returncode, 0)
        self.assertIn(file.name, found.stdout)
        self.assertIn("--yes", found.stderr)
        document = json.loads(found.stdout)
        [damage] = document["Damage"]
        self.assertIn("index by_color of table Things", damage["Fault"])
        self.assertIn("builds the index again", damage["Loss"])
        [table] = document["Tables"]
        self.assertEqual((table["TableName"], table["Rows"], table["ReadableRows"], table["UnreadablePlaces"]),
                         ("Things", self.ROWS - 1, self.ROWS - 1, 0))
        self.assertEqual(self.salvage()["LostFamilies"], [])
        self.check(self.all_rows())

    def test_a_damaged_file_of_an_index_is_rebuilt_while_serving(self):
        file = self.index_file()
        content = bytearray(file.read_bytes())
        content[100] ^= 1
        file.write_bytes(content)
        with Daemon(PATHS.armatured, data_dir=self.data) as daemon:
            self.assertEqual(daemon.json_call("Scan", TableName="Things", IndexName="by_color")[0], 500)
            self.assertEqual(self.numbers(daemon), self.all_rows())
            rebuilt = subprocess.run(
                [PATHS.armature, "--endpoint", daemon.grpc, "--yes", "index", "rebuild", "--table-name", "Things",
                 "--index-name", "by_color"], capture_output=True, text=True, timeout=WAIT_S, check=False)
            self.assertEqual(rebuilt.returncode, 0, rebuilt.stderr)
            while True:
                indexes = self.wait_active(daemon).get("GlobalSecondaryIndexes", [])
                if [index["IndexStatus"] for index in indexes] == ["ACTIVE"]:
                    break
            self.assertEqual(self.numbers(daemon, IndexName="by_color"), self.all_rows())
            self.assertEqual(daemon.stop(), 0)
        verified = subprocess.run([PATHS.armature, "verify", "--data-dir", str(self.data)], capture_output=True,
                                  text=True, timeout=WAIT_S, check=False)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_writes_behind_damage_of_the_log_are_kept(self):
        log = self.file("*.log")
        content = bytearray(log.read_bytes())
        content[len(content) // 2] ^= 1
        log.write_bytes(content)
        report = self.salvage()
        self.assertIn("is damaged at offset", " ".join(report["Problems"]))
        self.assertGreater(len(self.check()), self.ROWS - 10)

    def test_without_its_files_of_settings_the_data_are_read(self):
        for name in ("armature.format", "db/CURRENT", "db/armature.logs"):
            with self.subTest(name):
                shutil.rmtree(self.new, ignore_errors=True)
                (self.data / name).write_bytes(b"nothing of it\n")
                self.salvage()
                self.check(self.all_rows())

    def test_the_target_must_be_empty(self):
        self.new.mkdir()
        (self.new / "mine").write_text("text")
        self.assertIn("is not empty", self.salvage(code=5))
        self.assertEqual([path.name for path in self.new.iterdir()], ["mine"])

    def test_nothing_happens_without_yes(self):
        done = subprocess.run([PATHS.armature, "recover", str(self.data), "--salvage", str(self.new)], capture_output=True,
                              text=True, timeout=WAIT_S, stdin=subprocess.DEVNULL, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--yes", done.stderr)
        self.assertFalse(self.new.exists())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    _, rest = parser.parse_known_args(namespace=PATHS)
    unittest.main(argv=[sys.argv[0], *rest])
