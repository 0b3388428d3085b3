#!/usr/bin/python3
"""Streams through the real daemon: over kills the replayed records are the table, and consumers follow shards to their children.

Run by CTest; by hand, for example with 200 kills: streams_test.py --armatured PATH --kills 200 [unittest arguments]
"""

import argparse
import pathlib
import random
import sys
import tempfile
import threading
import time
import unittest
import urllib.error

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402

PATHS = argparse.Namespace()
TABLE = "Changes"
KEYS = 40
VIEW = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def check(answer):
    status, document = answer
    if status != 200:
        raise AssertionError(document)
    return document


def item_of(key, value):
    return {"id": {"S": f"k{key}"}, "v": {"N": str(value)}}


def stream_arn(daemon):
    return check(daemon.json_call("DescribeTable", TableName=TABLE))["Table"]["LatestStreamArn"]


class Consumer:
    """Reads a stream as client libraries do: each shard to its end, parents first. Keeps the place of each shard."""

    def __init__(self):
        self.places = {}  # shard -> sequence number of the last record
        self.ended = set()
        self.items = {}
        self.sequences = {}  # key -> last sequence number
        self.records = 0

    def read(self, daemon, arn):
        """Reads what there is. Returns the number of records."""
        before, start = self.records, {}
        while True:
            page = check(daemon.stream_call("DescribeStream", StreamArn=arn, Limit=3, **start))["StreamDescription"]
            for shard in page["Shards"]:
                if shard["ShardId"] not in self.ended:
                    self.read_shard(daemon, arn, shard)
            if "LastEvaluatedShardId" not in page:
                return self.records - before
            start = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}

    def read_shard(self, daemon, arn, shard):
        shard_id = shard["ShardId"]
        parent = shard.get("ParentShardId")
        assert parent is None or parent in self.ended, "a parent is read to its end before its child"
        place = {"ShardIteratorType": "TRIM_HORIZON"}
        if shard_id in self.places:
            place = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": self.places[shard_id]}
        iterator = check(daemon.stream_call("GetShardIterator", StreamArn=arn, ShardId=shard_id, **place))["ShardIterator"]
        while True:
            page = check(daemon.stream_call("GetRecords", ShardIterator=iterator, Limit=100))
            for record in page["Records"]:
                self.apply(record)
                self.places[shard_id] = record["dynamodb"]["SequenceNumber"]
            if "NextShardIterator" not in page:
                self.ended.add(shard_id)
                return
            if not page["Records"]:
                return
            iterator = page["NextShardIterator"]

    def apply(self, record):
        change = record["dynamodb"]
        key, sequence = change["Keys"]["id"]["S"], int(change["SequenceNumber"])
        assert sequence > self.sequences.get(key, 0), f"{key} out of order"
        self.sequences[key] = sequence
        assert change.get("OldImage") == self.items.get(key), f"{key}: {change} after {self.items.get(key)}"
        expected = {"INSERT": ("NewImage" in change, "OldImage" not in change),
                    "MODIFY": ("NewImage" in change, "OldImage" in change),
                    "REMOVE": ("NewImage" not in change, "OldImage" in change)}[record["eventName"]]
        assert all(expected), record
        if "NewImage" in change:
            self.items[key] = change["NewImage"]
        else:
            del self.items[key]
        self.records += 1


class Writer(threading.Thread):
    """Writes until the daemon is gone."""

    def __init__(self, daemon, seed):
        super().__init__(daemon=True)
        self.server, self.rng, self.acknowledged = daemon, random.Random(seed), 0

    def write(self):
        key, value = self.rng.randrange(KEYS), self.rng.randrange(4)
        kind = self.rng.randrange(6)
        if kind == 0:
            return self.server.json_call("DeleteItem", TableName=TABLE, Key={"id": {"S": f"k{key}"}})
        if kind == 1:
            keys = self.rng.sample(range(KEYS), 3)
            return self.server.json_call("TransactWriteItems", TransactItems=[
                {"Put": {"TableName": TABLE, "Item": item_of(each, value)}} for each in keys])
        if kind == 2:
            keys = self.rng.sample(range(KEYS), 4)
            return self.server.json_call("BatchWriteItem", RequestItems={TABLE: [
                {"PutRequest": {"Item": item_of(each, value)}} for each in keys]})
        if kind == 3:
            return self.server.json_call(
                "UpdateItem", TableName=TABLE, Key={"id": {"S": f"k{key}"}}, UpdateExpression="SET v = :v",
                ExpressionAttributeValues={":v": {"N": str(value)}})
        return self.server.json_call("PutItem", TableName=TABLE, Item=item_of(key, value))

    def run(self):
        while True:
            try:
                status, _ = self.write()
            except (OSError, urllib.error.URLError, ValueError):
                return
            self.acknowledged += status == 200


class StreamsTest(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="armature_streams_"))

    def table(self, daemon):
        items, members = {}, {}
        while True:
            page = check(daemon.json_call("Scan", TableName=TABLE, **members))
            items.update({item["id"]["S"]: item for item in page["Items"]})
            if "LastEvaluatedKey" not in page:
                return items
            members = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def test_over_kills_the_replayed_records_are_the_table(self):
        consumer, acknowledged = Consumer(), 0
        # A segment lasts a sixth of the retention. No record may age out before it is read.
        flags = ("--stream_retention=1m",) if PATHS.kills < 20 else ("--stream_retention=20m",)
        with Daemon(PATHS.armatured, *flags, data_dir=self.directory) as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            arn = stream_arn(daemon)
        rng = random.Random(PATHS.seed)
        for kill in range(PATHS.kills):
            with Daemon(PATHS.armatured, *flags, data_dir=self.directory) as daemon:
                consumer.read(daemon, arn)
                self.assertEqual(consumer.items, self.table(daemon), f"seed {PATHS.seed}, before kill {kill}")
                writers = [Writer(daemon, rng.getrandbits(64)) for _ in range(3)]
                for writer in writers:
                    writer.start()
                wanted = rng.randrange(5, 60)
                deadline = time.monotonic() + WAIT_S
                while sum(writer.acknowledged for writer in writers) < wanted and time.monotonic() < deadline:
                    if rng.random() < 0.3:
                        consumer.read(daemon, arn)
                daemon.kill()
                for writer in writers:
                    writer.join(WAIT_S)
                    acknowledged += writer.acknowledged
        with Daemon(PATHS.armatured, *flags, data_dir=self.directory) as daemon:
            consumer.read(daemon, arn)
            self.assertEqual(consumer.items, self.table(daemon))
        print(f"streams: kills={PATHS.kills} seed={PATHS.seed} acknowledged={acknowledged} records={consumer.records} "
              f"shards_ended={len(consumer.ended)}")
        self.assertGreater(consumer.records, PATHS.kills)

    def test_a_stream_fills_no_disk(self):
        with Daemon(PATHS.armatured, "--stream_mb_max=16", data_dir=self.directory) as daemon:
            daemon.create_table(TABLE, StreamSpecification=VIEW)
            arn = stream_arn(daemon)
            first = check(daemon.stream_call("DescribeStream", StreamArn=arn))["StreamDescription"]["Shards"][0]
            old = check(daemon.stream_call("GetShardIterator", StreamArn=arn, ShardId=first["ShardId"],
                                           ShardIteratorType="TRIM_HORIZON"))["ShardIterator"]
            for number in range(150):
                check(daemon.json_call("PutItem", TableName=TABLE, Item={
                    "id": {"S": "large"}, "v": {"N": str(number)}, "b": {"S": "x" * 150_000}}))
            deadline = time.monotonic() + WAIT_S
            while (shards := check(daemon.stream_call("DescribeStream", StreamArn=arn))["StreamDescription"]["Shards"]) \
                    and shards[0]["ShardId"] == first["ShardId"]:
                self.assertLess(time.monotonic(), deadline)
            self.assertIn("ParentShardId", shards[0])
            status, answer = daemon.stream_call("GetRecords", ShardIterator=old)
            self.assertEqual((status, answer["__type"].rsplit("#")[1]), (400, "TrimmedDataAccessException"))
            self.assertIn("streams exceed their space", daemon.log())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    _, rest = parser.parse_known_args(namespace=PATHS)
    unittest.main(argv=[sys.argv[0], *rest])
