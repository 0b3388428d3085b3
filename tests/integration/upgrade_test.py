#!/usr/bin/python3
"""Data directories of released formats, opened by this build.

tests/data/directory/v<N>.tar.gz was made by a build of format N, with `upgrade_test.py --armatured PATH --make FILE`, and never
changes. Some rows are in table files, others only in the log of a killed daemon. v5_backlog.tar.gz also has change records that no
index has applied yet, in the encoding of formats 1 to 5.
"""

import argparse
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon, has_fault_points  # noqa: E402

DIRECTORIES = ROOT / "tests/data/directory"
WAIT_S = 60
ARGS = None

ALL_TYPES = {
    "s": {"S": "text with \u00e9 and \u4e2d"}, "n": {"N": "-12345678901234567890.123456789012345678"}, "b": {"B": "AAH/"},
    "t": {"BOOL": True}, "z": {"NULL": True}, "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["-1", "0", "2.5"]},
    "bs": {"BS": ["AA==", "AQ=="]}, "l": {"L": [{"N": "1"}, {"L": []}]}, "m": {"M": {"x": {"M": {}}, "y": {"S": ""}}},
}
COLORS = ("red", "green", "blue")
GOOGOL = "1" + "0" * 100
# Numbers with many zeros are stored in other bytes since format 2.
ZEROS = {"zg": {"N": GOOGOL}, "zs": {"NS": ["-" + GOOGOL, "0." + "0" * 120 + "25", "7"]},
         "zl": {"L": [{"N": "-0." + "0" * 99 + "1"}, {"M": {"x": {"N": GOOGOL + "0"}}}]}}
# The first directory has none. This is its name.
WITHOUT_ZEROS = "v1.tar.gz"
PRESENT_FORMAT = 7
# Directories of these formats have no stream.
STREAM_RECORDS = [("INSERT", {"N": "1"}), ("MODIFY", {"N": "2"}), ("REMOVE", None)]
WITHOUT_STREAMS = ("v1", "v2")
# Directories of these formats have no index by time, though the table "Golden" has time to live.
WITHOUT_EXPIRY = ("v1", "v2", "v3")
# Directories of these formats have no table that was never written.
WITHOUT_UNWRITTEN = ("v1", "v2", "v3", "v4")
# The table "Behind" of these directories has indexes with a backlog.
BACKLOG_OF_FORMAT_5 = "v5_backlog.tar.gz"
WITH_BACKLOG = (BACKLOG_OF_FORMAT_5, "v6.tar.gz", "v7.tar.gz")
BEHIND_ITEMS = 25
BEHIND_INDEXES = {"all_by_c": ("c", {"ProjectionType": "ALL"}), "all_by_d": ("d", {"ProjectionType": "ALL"}),
                  "keys_by_c": ("c", {"ProjectionType": "KEYS_ONLY"}),
                  "some_by_d": ("d", {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["s", "t"]})}
IN_2100 = "4102444800"


def item(number, zeros):
    return {"pk": {"S": f"p{number % 3}"}, "sk": {"N": str(number)}, "color": {"S": COLORS[number % 3]},
            "rank": {"N": str(-number)}, **ALL_TYPES, **(ZEROS if zeros else {})}


def key_schema(partition, sort):
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]


def check(answer):
    status, document = answer
    if status != 200:
        raise AssertionError(document)
    return document


def wait_for_table(daemon):
    while check(daemon.json_call("DescribeTable", TableName="Golden"))["Table"]["TableStatus"] != "ACTIVE":
        pass


def put(daemon, numbers, zeros=True):
    for number in numbers:
        check(daemon.json_call("PutItem", TableName="Golden", Item=item(number, zeros)))


def count_by_color(daemon, color):
    return check(daemon.json_call(
        "Query", TableName="Golden", IndexName="by_color", KeyConditionExpression="color = :c",
        ExpressionAttributeValues={":c": {"S": color}}, Select="COUNT"))["Count"]


def wait_for_index(daemon, color, count):
    deadline = time.monotonic() + WAIT_S
    while (found := count_by_color(daemon, color)) != count:
        if time.monotonic() > deadline:
            raise AssertionError(f"{found} items of {color}, expected {count}")


def make_stream(daemon):
    daemon.create_table("Streamed", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    for value in ("1", "2"):
        check(daemon.json_call("PutItem", TableName="Streamed", Item={"id": {"S": "a"}, "v": {"N": value}}))
    stream = check(daemon.stream_call("ListStreams", TableName="Streamed"))["Streams"][0]["StreamArn"]
    check(daemon.json_call("TagResource", ResourceArn=stream, Tags=[{"Key": "of", "Value": "stream"}]))


def make_expiring(daemon):
    daemon.create_table("Expiring")
    check(daemon.json_call("UpdateTimeToLive", TableName="Expiring",
                           TimeToLiveSpecification={"AttributeName": "ends", "Enabled": True}))
    for key in ("a", "b"):
        check(daemon.json_call("PutItem", TableName="Expiring", Item={"id": {"S": key}, "ends": {"N": IN_2100}}))


def make_unwritten(daemon):
    daemon.create_table("Unwritten", more_attributes=[{"AttributeName": "color", "AttributeType": "S"}],
                        GlobalSecondaryIndexes=[{"IndexName": "by_color", "Projection": {"ProjectionType": "ALL"},
                                                 "KeySchema": [{"AttributeName": "color", "KeyType": "HASH"}]}])


def behind_item(number, version):
    """Every item moves in the indexes on c from version to version, and leaves those on d in every second one."""
    item = {"id": {"S": str(number)}, "c": {"S": f"c{(number + version) % 5}"}, "s": {"N": str(version)},
            "t": {"S": str(number)}, "payload": {"S": "x" * 60_000}}
    if (number + version) % 2 == 0:
        item["d"] = {"S": f"d{number % 3}"}
    return item


def put_behind(daemon, version, numbers=range(BEHIND_ITEMS)):
    answer = check(daemon.json_call("BatchWriteItem", RequestItems={
        "Behind": [{"PutRequest": {"Item": behind_item(number, version)}} for number in numbers]}))
    if answer["UnprocessedItems"]:
        raise AssertionError("not all items were written")


def make_behind(daemon):
    daemon.create_table(
        "Behind", more_attributes=[{"AttributeName": name, "AttributeType": "S"} for name in ("c", "d")],
        GlobalSecondaryIndexes=[{"IndexName": name, "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
                                 "Projection": projection} for name, (key, projection) in BEHIND_INDEXES.items()])
    put_behind(daemon, 0)


def expected_behind(name, versions):
    """The entries of an index of the table "Behind", by the item's id, if the items have these versions."""
    key, projection = BEHIND_INDEXES[name]
    kept = {"KEYS_ONLY": {"id", "c"}, "INCLUDE": {"id", "d", "s", "t"}}.get(projection["ProjectionType"])
    items = [behind_item(number, version) for number, version in versions.items()]
    return sorted(
        ((item["id"]["S"], {attribute: value for attribute, value in item.items() if kept is None or attribute in kept})
         for item in items if key in item), key=lambda entry: entry[0])


def scan_behind(daemon, name):
    """The same as they are. Pages of different moments may have two entries of one item."""
    found, start = [], {}
    while True:
        page = check(daemon.json_call("Scan", TableName="Behind", IndexName=name, **start))
        found += [(item["id"]["S"], item) for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            return sorted(found, key=lambda entry: entry[0])
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def read_stream(daemon, arn):
    """Events and new values of all records."""
    found = []
    for shard in check(daemon.stream_call("DescribeStream", StreamArn=arn))["StreamDescription"]["Shards"]:
        iterator = check(daemon.stream_call("GetShardIterator", StreamArn=arn, ShardId=shard["ShardId"],
                                            ShardIteratorType="TRIM_HORIZON"))["ShardIterator"]
        for record in check(daemon.stream_call("GetRecords", ShardIterator=iterator))["Records"]:
            found.append((record["eventName"], record["dynamodb"].get("NewImage", {}).get("v")))
    return found


def make(archive, with_backlog):
    with tempfile.TemporaryDirectory(prefix="armature_golden_") as directory:
        data = f"{directory}/data"
        with Daemon(ARGS.armatured, data_dir=data) as daemon:
            check(daemon.json_call(
                "CreateTable", TableName="Golden", BillingMode="PAY_PER_REQUEST", KeySchema=key_schema("pk", "sk"),
                AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind}
                                      for name, kind in (("pk", "S"), ("sk", "N"), ("color", "S"), ("rank", "N"))],
                LocalSecondaryIndexes=[{"IndexName": "by_rank", "KeySchema": key_schema("pk", "rank"),
                                        "Projection": {"ProjectionType": "ALL"}}],
                GlobalSecondaryIndexes=[{"IndexName": "by_color", "KeySchema": key_schema("color", "sk"),
                                         "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["s", "n"]}}],
                Tags=[{"Key": "kind", "Value": "golden"}]))
            wait_for_table(daemon)
            check(daemon.json_call("UpdateTimeToLive", TableName="Golden",
                                   TimeToLiveSpecification={"AttributeName": "expires", "Enabled": True}))
            put(daemon, range(20))
            make_stream(daemon)
            make_expiring(daemon)
            make_unwritten(daemon)
            if with_backlog:
                make_behind(daemon)
            wait_for_index(daemon, "red", 7)
            daemon.stop()
        # A restart moves the rows in the log to table files.
        with Daemon(ARGS.armatured, data_dir=data) as daemon:
            put(daemon, range(20, 30))
            check(daemon.json_call("DeleteItem", TableName="Golden", Key={"pk": {"S": "p0"}, "sk": {"N": "0"}}))
            check(daemon.json_call("DeleteItem", TableName="Streamed", Key={"id": {"S": "a"}}))
            if with_backlog:
                # The answer comes before the indexes have applied these large changes.
                put_behind(daemon, 1)
                check(daemon.json_call("DeleteItem", TableName="Behind", Key={"id": {"S": "0"}}))
            daemon.kill()
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(data, arcname="data")


class Upgrade(unittest.TestCase):
    def test_there_is_a_directory_of_the_present_format(self):
        self.assertTrue((DIRECTORIES / f"v{PRESENT_FORMAT}.tar.gz").is_file())

    def test_directories_of_all_formats_are_served(self):
        for archive in sorted(DIRECTORIES.glob("v*.tar.gz")):
            with self.subTest(archive.name), tempfile.TemporaryDirectory(prefix="armature_golden_") as directory:
                with tarfile.open(archive) as tar:
                    tar.extractall(directory)
                # Two starts, because the result of the first must be readable, too.
                for turn in range(2):
                    with Daemon(ARGS.armatured, "--ttl_interval=20ms", data_dir=directory + "/data") as daemon:
                        self.check_expiry(daemon, not archive.name.startswith(WITHOUT_EXPIRY))
                        self.check_contents(daemon, turn, archive.name != WITHOUT_ZEROS)
                        self.check_stream(daemon, not archive.name.startswith(WITHOUT_STREAMS))
                        if not archive.name.startswith(WITHOUT_UNWRITTEN):
                            self.check_unwritten(daemon, turn)
                        if archive.name in WITH_BACKLOG:
                            self.await_behind(daemon, {number: 1 for number in range(1, BEHIND_ITEMS)})
                        self.assertEqual(daemon.stop(), 0)
                    # From the first start on, daemons of older formats refuse the directory.
                    self.assertIn(f"format: {PRESENT_FORMAT}\n", pathlib.Path(directory, "data/armature.format").read_text())
                self.check_indexes(directory + "/data")

    def test_records_of_two_formats_are_applied_after_a_kill(self):
        with tempfile.TemporaryDirectory(prefix="armature_golden_") as directory:
            with tarfile.open(DIRECTORIES / BACKLOG_OF_FORMAT_5) as tar:
                tar.extractall(directory)
            data = directory + "/data"
            if not has_fault_points(ARGS.armatured):
                self.skipTest("the daemon was built without fault points")
            # Nothing is applied while the file is locked, so records of this build follow those of format 5.
            remaining = [number for number in range(BEHIND_ITEMS) if number != 1]
            gate = pathlib.Path(directory, "gate")
            gate.touch()
            with open(gate, "rb") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                environment = {**os.environ, "ARMATURE_FAULT_POINT": f"applier.before_write@{gate}"}
                with Daemon(ARGS.armatured, data_dir=data, env=environment) as daemon:
                    put_behind(daemon, 2, range(0, BEHIND_ITEMS, 2))
                    check(daemon.json_call("DeleteItem", TableName="Behind", Key={"id": {"S": "1"}}))
                    # More than the applier takes at once.
                    put_behind(daemon, 3, remaining)
                    daemon.kill()
            self.assertEqual(self.versions_of_waiting_records(data), {1, 2})
            versions = {number: 3 for number in remaining}
            # The first of these daemons dies when it has applied some.
            environment = {**os.environ, "ARMATURE_FAULT_POINT": "applier.after_write:1"}
            with Daemon(ARGS.armatured, data_dir=data, env=environment) as daemon:
                self.assertEqual(daemon.process.wait(WAIT_S), -signal.SIGKILL)
            self.assertTrue(self.versions_of_waiting_records(data), "all records were applied at once")
            with Daemon(ARGS.armatured, data_dir=data) as daemon:
                self.await_behind(daemon, versions)
                self.assertEqual(daemon.stop(), 0)
            self.check_indexes(data)

    def versions_of_waiting_records(self, data_dir):
        """Versions of the change records of the table "Behind" that no index has applied."""
        def inspect(*words):
            done = subprocess.run([ARGS.armature, "inspect", *words, "--data-dir", data_dir, "--output", "json"],
                                  capture_output=True, text=True, timeout=WAIT_S, check=True)
            return json.loads(done.stdout)

        table = next(each for each in inspect("catalog")["Tables"] if each["TableName"] == "Behind")
        cursor = max(index.get("Cursor", 0) for index in table["GlobalIndexes"])
        records = inspect("log", "--table-name", "Behind", "--from", str(cursor + 1))["Records"]
        return {record["Version"] for record in records}

    def await_behind(self, daemon, versions):
        deadline = time.monotonic() + WAIT_S
        for name in BEHIND_INDEXES:
            expected = expected_behind(name, versions)
            while (found := scan_behind(daemon, name)) != expected:
                self.assertLess(time.monotonic(), deadline,
                                f"{name}: {[each for each, _ in found]}, expected {[each for each, _ in expected]}")

    def check_unwritten(self, daemon, written):
        items = [{"id": {"S": str(number)}, "color": {"S": "red"}} for number in range(written + 1)]
        self.assertEqual(check(daemon.json_call("Scan", TableName="Unwritten"))["Count"], written)
        check(daemon.json_call("PutItem", TableName="Unwritten", Item=items[-1]))
        found = check(daemon.json_call("Scan", TableName="Unwritten"))["Items"]
        self.assertCountEqual(found, items)

    def check_contents(self, daemon, added, zeros):
        expected = {number: item(number, zeros) for number in [*range(1, 30), *range(100, 100 + added)]}
        items = check(daemon.json_call("Scan", TableName="Golden"))["Items"]
        self.assertEqual({int(each["sk"]["N"]): each for each in items}, expected)
        table = check(daemon.json_call("DescribeTable", TableName="Golden"))["Table"]
        self.assertEqual(table["ItemCount"], len(expected))
        ranks = check(daemon.json_call(
            "Query", TableName="Golden", IndexName="by_rank", KeyConditionExpression="pk = :p",
            ExpressionAttributeValues={":p": {"S": "p1"}}))["Items"]
        self.assertEqual([int(each["sk"]["N"]) for each in ranks],
                         sorted((number for number in expected if number % 3 == 1), reverse=True))
        wait_for_index(daemon, "red", sum(number % 3 == 0 for number in expected))
        tags = check(daemon.json_call("ListTagsOfResource", ResourceArn=table["TableArn"]))["Tags"]
        self.assertEqual(tags, [{"Key": "kind", "Value": "golden"}])
        to_live = check(daemon.json_call("DescribeTimeToLive", TableName="Golden"))["TimeToLiveDescription"]
        self.assertEqual(to_live["AttributeName"], "expires")
        found = check(daemon.json_call(
            "Scan", TableName="Golden", IndexName="by_rank", FilterExpression="zg = :g AND zl[1].x > zg AND contains(zs, :s)",
            ExpressionAttributeValues={":g": {"N": "1e100"}, ":s": {"N": "-1e100"}}))["Items"]
        self.assertEqual(len(found), len(expected) if zeros else 0)
        put(daemon, [100 + added], zeros)

    def check_stream(self, daemon, is_there):
        streams = check(daemon.stream_call("ListStreams"))["Streams"]
        self.assertEqual(len(streams), 1 if is_there else 0)
        for stream in streams:
            tags = check(daemon.json_call("ListTagsOfResource", ResourceArn=stream["StreamArn"]))["Tags"]
            self.assertEqual(tags, [{"Key": "of", "Value": "stream"}])
            # Records are kept for a day, and the directory grows older.
            self.assertIn(read_stream(daemon, stream["StreamArn"]), ([], STREAM_RECORDS))

    def check_expiry(self, daemon, is_there):
        """An item goes that was written now, and one that this build has only moved."""
        past = {"N": str(int(time.time()) - 60)}
        check(daemon.json_call("PutItem", TableName="Golden", Item={
            "pk": {"S": "gone"}, "sk": {"N": "1"}, "expires": past}))
        self.await_gone(daemon, "Golden", {"pk": {"S": "gone"}, "sk": {"N": "1"}})
        if not is_there:
            return
        check(daemon.json_call("UpdateItem", TableName="Expiring", Key={"id": {"S": "a"}},
                               UpdateExpression="SET ends = :t", ExpressionAttributeValues={":t": past}))
        self.await_gone(daemon, "Expiring", {"id": {"S": "a"}})
        items = check(daemon.json_call("Scan", TableName="Expiring"))["Items"]
        self.assertEqual(items, [{"id": {"S": "b"}, "ends": {"N": IN_2100}}])

    def await_gone(self, daemon, table, key):
        deadline = time.monotonic() + WAIT_S
        while "Item" in check(daemon.json_call("GetItem", TableName=table, Key=key, ConsistentRead=True)):
            self.assertLess(time.monotonic(), deadline, f"{table} {key}")

    def check_indexes(self, data_dir):
        verified = subprocess.run([ARGS.armature, "verify", "--data-dir", data_dir], capture_output=True, text=True,
                                  timeout=WAIT_S, check=False)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature")
    parser.add_argument("--make", metavar="FILE", help="make a directory with this build, and test nothing")
    parser.add_argument("--with_backlog", action="store_true", help="of --make: with change records that wait")
    ARGS, rest = parser.parse_known_args()
    if ARGS.make:
        make(ARGS.make, ARGS.with_backlog)
    else:
        unittest.main(argv=[sys.argv[0], *rest])
