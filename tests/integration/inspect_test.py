#!/usr/bin/python3
"""`armature inspect` on the directory of a real daemon: stopped, killed, running and damaged.

Run by CTest; by hand: inspect_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import argparse
import base64
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

USAGE_ERROR = 2
INPUT_ERROR = 5

# The change log is cut after 256 records. These rows make fewer, because not all are in a global index.
ROWS = 330

TABLE = {
    "TableName": "Orders",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": kind}
        for name, kind in (("pk", "S"), ("sk", "N"), ("l", "B"), ("g1", "S"), ("g2", "N"), ("g3", "B"), ("g4", "S"))
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "LocalSecondaryIndexes": [{
        "IndexName": "Local",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "l", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }],
    "GlobalSecondaryIndexes": [{
        "IndexName": "Global",
        "KeySchema": [
            {"AttributeName": "g1", "KeyType": "HASH"}, {"AttributeName": "g2", "KeyType": "HASH"},
            {"AttributeName": "g3", "KeyType": "RANGE"}, {"AttributeName": "g4", "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }],
    "Tags": [{"Key": "team", "Value": "blue"}],
}


def item(number):
    """A test item. Every third is in no index. Partitions have several rows."""
    plain = {
        "pk": {"S": f"p\u00e4rt-{number % 40}"}, "sk": {"N": str(number - 200)},
        "payload": {"S": hashlib.sha512(str(number).encode()).hexdigest() * 2},
        "nested": {"M": {"list": {"L": [{"BOOL": True}, {"NULL": True}]}, "set": {"NS": ["1", "2.5"]}}},
    }
    if number % 3 == 0:
        return plain
    return {
        **plain, "l": {"B": base64.b64encode(bytes([0, number % 256])).decode()}, "g1": {"S": f"g{number % 7}"},
        "g2": {"N": f"-{number % 5}.5"}, "g3": {"B": base64.b64encode(bytes([number % 256])).decode()}, "g4": {"S": "x"},
    }


def pick(one, names):
    return {name: one[name] for name in names}


def components(row):
    return {each["Attribute"]: each["Value"] for each in row["Components"]}


def text_of(one):
    return json.dumps(one, sort_keys=True)


def files_of(directory):
    """The state of each file, with everything that a write would change."""
    seen = {}
    for path in sorted(pathlib.Path(directory).rglob("*")):
        status = path.stat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        seen[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino, digest)
    return seen


class InspectTest(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="armature_inspect_")
        cls.addClassCleanup(directory.cleanup)
        cls.killed = pathlib.Path(directory.name) / "killed"
        cls.stopped = pathlib.Path(directory.name) / "stopped"
        cls.items = [item(number) for number in range(ROWS) if number % 10 != 9]
        # With records in the change log.
        with Daemon(PATHS.armatured, "--index_updates=logged", data_dir=cls.stopped) as daemon:
            cls.write(daemon)
            refused = cls.run_inspect("directory", "--data-dir", cls.stopped)
            cls.while_running = refused
            daemon.kill()
            shutil.copytree(cls.stopped, cls.killed)
        # A second start moves the rows in the log to table files.
        with Daemon(PATHS.armatured, data_dir=cls.stopped) as daemon:
            assert daemon.stop() == 0

    @classmethod
    def write(cls, daemon):
        status, answer = daemon.json_call("CreateTable", **TABLE)
        assert status == 200, answer
        while daemon.json_call("DescribeTable", TableName="Orders")[1]["Table"]["TableStatus"] != "ACTIVE":
            pass
        for number in range(ROWS):
            status, answer = daemon.json_call("PutItem", TableName="Orders", Item=item(number))
            assert status == 200, answer
        for number in range(9, ROWS, 10):
            key = pick(item(number), ("pk", "sk"))
            assert daemon.json_call("DeleteItem", TableName="Orders", Key=key)[0] == 200
        put = {"Put": {"TableName": "Orders", "Item": item(0)}}
        status, answer = daemon.json_call("TransactWriteItems", TransactItems=[put], ClientRequestToken="my-token")
        assert status == 200, answer
        # Waits until the global index has applied all changes.
        entries = sum("g1" in item(number) for number in range(ROWS) if number % 10 != 9)
        while daemon.json_call("Scan", TableName="Orders", IndexName="Global", Select="COUNT")[1]["Count"] != entries:
            pass

    @staticmethod
    def run_inspect(*arguments):
        return subprocess.run(
            [PATHS.armature, "inspect", *map(str, arguments)], capture_output=True, text=True, timeout=WAIT_S)

    def inspect(self, *arguments, code=0):
        done = self.run_inspect(*arguments)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout[:2000])
        return json.loads(done.stdout)

    def rows(self, directory, *arguments, code=0):
        return self.inspect("rows", "--data-dir", directory, "--limit", "0", *arguments, code=code)

    def assert_same_items(self, rows, expected):
        self.assertEqual(sorted(text_of(row["Item"]) for row in rows), sorted(map(text_of, expected)))

    def test_is_refused_while_the_daemon_runs(self):
        self.assertEqual(self.while_running.returncode, USAGE_ERROR)
        self.assertIn("in use by another process", self.while_running.stderr)
        self.assertEqual(self.while_running.stdout, "")

    def test_rows_of_tables_and_indexes_are_what_was_written(self):
        for directory in (self.killed, self.stopped):
            with self.subTest(directory.name):
                rows = self.rows(directory, "--table-name", "Orders")
                self.assertEqual(rows["Problems"], [])
                self.assert_same_items(rows["Rows"], self.items)
                for row in rows["Rows"]:
                    self.assertEqual(components(row), pick(row["Item"], ("pk", "sk")))
                    self.assertEqual(row["KeyHex"][:8], row["Hash"])
                indexed = [one for one in self.items if "l" in one]
                local = self.rows(directory, "--table-name", "Orders", "--index-name", "Local")["Rows"]
                self.assert_same_items(local, [pick(one, ("pk", "sk", "l")) for one in indexed])
                self.assertEqual([list(components(row)) for row in local[:1]], [["pk", "l", "sk"]])
                index = self.rows(directory, "--table-name", "Orders", "--index-name", "Global")["Rows"]
                names = ("g1", "g2", "g3", "g4", "pk", "sk")
                self.assert_same_items(index, [pick(one, names) for one in indexed])
                for row in index:
                    self.assertEqual(tuple(components(row)), names)
                    self.assertEqual(components(row), row["Item"])

    def test_pages_of_rows_go_on_where_the_last_one_ended(self):
        seen, start = [], []
        while True:
            page = self.inspect(
                "rows", "--data-dir", self.stopped, "--table-name", "Orders", "--limit", "97", *start)
            self.assertLessEqual(len(page["Rows"]), 97)
            seen += page["Rows"]
            if "NextKeyHex" not in page:
                break
            start = ["--start", page["NextKeyHex"]]
        self.assert_same_items(seen, self.items)

    def test_directory_and_catalog_tell_of_all_families(self):
        directory = self.inspect("directory", "--data-dir", self.stopped)
        self.assertEqual((directory["FormatVersion"], directory["IsNew"], directory["Problems"]), (7, False, []))
        self.assertIn(directory["DatabaseId"], (self.stopped / "armature.format").read_text())
        families = {family["Family"]: family for family in directory["Families"]}
        table, = self.inspect("catalog", "--data-dir", self.stopped)["Tables"]
        local, index = table["LocalIndexes"][0], table["GlobalIndexes"][0]
        entries = sum("l" in one for one in self.items)
        for record, kind, rows in ((table, "TABLE", len(self.items)), (local, "LOCAL_INDEX", entries),
                                   (index, "GLOBAL_INDEX", entries)):
            family = families[record["Family"]]
            self.assertEqual((family["Kind"], family["TableName"], family["Rows"]), (kind, "Orders", rows))
            self.assertEqual(record["Totals"]["Rows"], rows)
            self.assertEqual(record["State"], "ACTIVE")
            self.assertGreater(family["Files"], 0)
        self.assertEqual(families[index["Family"]]["IndexName"], "Global")
        self.assertEqual([each["AttributeName"] for each in index["Key"]["Partition"]], ["g1", "g2"])
        self.assertEqual([each["AttributeType"] for each in index["Key"]["Sort"]], ["B", "S"])
        self.assertEqual(table["Settings"]["Tags"], [{"Key": "team", "Value": "blue"}])
        self.assertGreaterEqual(index["Cursor"], entries)
        sizes = self.rows(self.stopped, "--family", table["CollectionsFamily"])["Rows"]
        self.assertEqual(len(sizes), len({one["pk"]["S"] for one in self.items}))
        total = table["Totals"]["Bytes"] + local["Totals"]["Bytes"] + 100 * (len(self.items) + entries)
        self.assertEqual(sum(size["CollectionBytes"] for size in sizes), total)

    def test_meta_shows_every_kind_of_record(self):
        records = self.inspect("meta", "--data-dir", self.killed)["Records"]
        kinds = {record["Kind"] for record in records}
        self.assertLessEqual({"NextId", "Sequence", "Table", "Cursor", "Totals", "Token", "TokenTime"}, kinds)
        self.assertNotIn("Unknown", kinds)
        token, = [record for record in records if record["Kind"] == "TokenTime"]
        self.assertIn("my-token", token["Token"])

    def test_log_records_are_the_writes(self):
        log = self.inspect("log", "--data-dir", self.killed, "--table-name", "Orders", "--limit", "0")["Records"]
        sequences = [record["Sequence"] for record in log]
        self.assertEqual(sequences, sorted(sequences))
        self.assertGreater(len(log), 0)
        by_key = {text_of(pick(item(number), ("pk", "sk"))): item(number) for number in range(ROWS)}
        for record in log:
            written = by_key[text_of(components(record["BaseKey"]))]
            for change in record["Changes"]:
                self.assertEqual(change["IndexName"], "Global")
                self.assertEqual(components(change), pick(written, ("g1", "g2", "g3", "g4", "pk", "sk")))
        middle = sequences[len(sequences) // 2]
        rest = self.inspect("log", "--data-dir", self.killed, "--from", middle, "--limit", "1")
        self.assertEqual([record["Sequence"] for record in rest["Records"]], [middle])

    def test_nothing_of_the_directory_is_changed(self):
        for directory in (self.killed, self.stopped):
            before = files_of(directory)
            for command in ("directory", "catalog", "meta", "log"):
                self.inspect(command, "--data-dir", directory)
            self.rows(directory, "--table-name", "Orders")
            self.assertEqual(files_of(directory), before)

    def damaged_copy(self):
        directory = tempfile.TemporaryDirectory(prefix="armature_inspect_")
        self.addCleanup(directory.cleanup)
        return pathlib.Path(shutil.copytree(self.stopped, pathlib.Path(directory.name) / "data"))

    def test_a_flipped_byte_in_a_table_file_is_told_and_the_rest_is_shown(self):
        directory = self.damaged_copy()
        # The largest file belongs to the table, whose rows are the largest.
        file = max((directory / "db").glob("*.sst"), key=lambda path: path.stat().st_size)
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 0xFF
        file.write_bytes(data)
        before = files_of(directory)
        rows = self.rows(directory, "--table-name", "Orders", code=INPUT_ERROR)
        self.assertEqual(len(rows["Problems"]), 1)
        self.assertIn("checksum", rows["Problems"][0])
        self.assertIn(file.name, rows["Problems"][0])
        expected = {text_of(one) for one in self.items}
        shown = [text_of(row["Item"]) for row in rows["Rows"]]
        self.assertLessEqual(set(shown), expected)
        self.assertEqual(len(shown), len(set(shown)))
        self.assertLess(len(shown), len(expected))
        self.assertGreater(len(shown), len(expected) * 3 // 4)
        # Catalog and index are intact.
        self.inspect("catalog", "--data-dir", directory)
        self.rows(directory, "--table-name", "Orders", "--index-name", "Global")
        self.assertEqual(files_of(directory), before)
        as_table = self.run_inspect(
            "--output", "table", "rows", "--data-dir", directory, "--table-name", "Orders", "--limit", "0")
        self.assertEqual(as_table.returncode, INPUT_ERROR)
        self.assertIn(f"problem: {rows['Problems'][0]}\n", as_table.stdout)

    def test_a_lost_table_file_stops_the_daemon_but_not_the_inspection(self):
        directory = self.damaged_copy()
        max((directory / "db").glob("*.sst"), key=lambda path: path.stat().st_size).unlink()
        with self.assertRaises(RuntimeError):
            with Daemon(PATHS.armatured, data_dir=directory):
                pass
        rows = self.rows(directory, "--table-name", "Orders", code=INPUT_ERROR)
        self.assertEqual(rows["Rows"], [])
        index = self.rows(directory, "--table-name", "Orders", "--index-name", "Global", code=INPUT_ERROR)
        self.assertEqual(len(index["Rows"]), sum("l" in one for one in self.items))
        self.assertEqual(len(index["Problems"]), 1)

    def test_what_is_not_there_is_a_wrong_command_line(self):
        for arguments in (["--table-name", "Nothing"], ["--table-name", "Orders", "--index-name", "No"], [],
                          ["--family", "t999"], ["--family", "meta"], ["--table-name", "Orders", "--start", "xy"]):
            done = self.run_inspect("rows", "--data-dir", self.stopped, *arguments)
            self.assertEqual(done.returncode, USAGE_ERROR, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_tables_for_people(self):
        for arguments, words in (
                (["directory"], ["FormatVersion", "GLOBAL_INDEX"]), (["catalog"], ["g1 S, g2 N | g3 B, g4 S", "ACTIVE"]),
                (["rows", "--table-name", "Orders", "--limit", "3"], ["pk=S:p\u00e4rt-", "more: NextKeyHex"]),
                (["meta"], ["NextId"]), (["log", "--limit", "2"], ["SEQUENCE"])):
            done = self.run_inspect("--output", "table", *arguments, "--data-dir", self.stopped)
            self.assertEqual(done.returncode, 0, done.stderr)
            for word in words:
                self.assertIn(word, done.stdout)


class NumbersWithManyZeros(unittest.TestCase):
    """An item has 3 bytes for each `1e125` in a list by the rules of the API, and 126 in an answer."""

    def test_rows_and_entries_have_a_small_multiple_of_the_size_of_their_item(self):
        sent = {"pk": {"S": "p"}, "g": {"S": "g"}, "l": {"L": [{"N": "1e125"}] * 97_000}}
        shown = {**sent, "l": {"L": [{"N": "1" + "0" * 125}] * 97_000}}
        with tempfile.TemporaryDirectory(prefix="armature_inspect_") as directory:
            with Daemon(PATHS.armatured, data_dir=directory + "/data") as daemon:
                status, answer = daemon.json_call(
                    "CreateTable", TableName="Long", BillingMode="PAY_PER_REQUEST",
                    AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")],
                    KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                    GlobalSecondaryIndexes=[{"IndexName": "Global", "Projection": {"ProjectionType": "ALL"},
                                             "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}])
                self.assertEqual(status, 200, answer)
                while daemon.json_call("DescribeTable", TableName="Long")[1]["Table"]["TableStatus"] != "ACTIVE":
                    pass
                status, answer = daemon.json_call("PutItem", TableName="Long", Item=sent)
                self.assertEqual(status, 200, answer)
                while (page := daemon.json_call("Scan", TableName="Long", IndexName="Global")[1])["Count"] == 0:
                    pass
                self.assertTrue(page["Items"] == [shown], "an index answers another item")
                got = daemon.json_call("GetItem", TableName="Long", Key={"pk": {"S": "p"}})[1]["Item"]
                self.assertTrue(got == shown, "the table answers another item")
                self.assertEqual(daemon.stop(), 0)
            for index in ([], ["--index-name", "Global"]):
                done = subprocess.run(
                    [PATHS.armature, "inspect", "rows", "--data-dir", directory + "/data", "--table-name", "Long", *index],
                    capture_output=True, text=True, timeout=WAIT_S)
                row, = json.loads(done.stdout)["Rows"]
                self.assertTrue(row["Item"] == shown, "the inspection shows another item")
                self.assertGreater(row["ItemSize"], 3 * 97_000)
                self.assertLess(row["StoredBytes"], 4 * row["ItemSize"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    _, rest = parser.parse_known_args(namespace=PATHS)
    unittest.main(argv=[sys.argv[0], *rest])
