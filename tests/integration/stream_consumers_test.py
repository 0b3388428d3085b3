#!/usr/bin/python3
"""Consumers that share the shards of a stream by leases process every change over restarts, in order per item.

Run by CTest; by hand, for example with 100,000 changes: stream_consumers_test.py --armatured PATH --changes 100000

The consumers work as the Kinesis client libraries do: a table of leases, taken by conditional updates, one lease for each shard; a
checkpoint behind each page; a shard is begun when its parent was read to its end. A change may be processed twice around a
restart, and never out of order.
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
TABLE, LEASES = "Changes", "Leases"
KEYS = 500
LEASE_S = 2
NO_ANSWER = (OSError, urllib.error.URLError, ValueError)


class Service:
    """The daemon of the moment: calls wait for the next one while there is none."""

    def __init__(self):
        self.daemon, self.changed = None, threading.Condition()

    def set(self, daemon):
        with self.changed:
            self.daemon = daemon
            self.changed.notify_all()

    def call(self, operation, service="DynamoDB_20120810", **members):
        """The answer, repeated over restarts. None for a failed condition."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            with self.changed:
                self.changed.wait_for(lambda: self.daemon is not None, WAIT_S)
                daemon = self.daemon
            try:
                status, answer = daemon.json_call(operation, service=service, **members)
            except NO_ANSWER:
                continue
            if status == 200:
                return answer
            if "ConditionalCheckFailed" in str(answer):
                return None
            if status < 500:
                raise AssertionError(answer)
        raise AssertionError(f"no answer to {operation}")

    def stream_call(self, operation, **members):
        return self.call(operation, service="DynamoDBStreams_20120810", **members)


class Consumer(threading.Thread):
    def __init__(self, name, service, arn, process):
        super().__init__(daemon=True)
        self.owner, self.service, self.arn, self.process = name, service, arn, process
        self.stop, self.failure = threading.Event(), None

    def run(self):
        try:
            while not self.stop.is_set():
                for shard in self.shards():
                    if self.stop.is_set():
                        return
                    self.work_on(shard)
        except Exception as failure:  # shown by the test
            self.failure = failure

    def shards(self):
        shards, start = [], {}
        while True:
            page = self.service.stream_call("DescribeStream", StreamArn=self.arn, **start)["StreamDescription"]
            shards += page["Shards"]
            if "LastEvaluatedShardId" not in page:
                return shards
            start = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}

    def lease_of(self, shard_id):
        return self.service.call("GetItem", TableName=LEASES, Key={"id": {"S": shard_id}},
                                 ConsistentRead=True).get("Item", {})

    def take(self, shard_id):
        now = time.monotonic()
        return self.service.call(
            "UpdateItem", TableName=LEASES, Key={"id": {"S": shard_id}}, ReturnValues="ALL_NEW",
            UpdateExpression="SET #o = :o, lease_end = :u",
            ConditionExpression="attribute_not_exists(done) AND (attribute_not_exists(lease_end) OR lease_end < :n OR #o = :o)",
            ExpressionAttributeNames={"#o": "owner"},
            ExpressionAttributeValues={":o": {"S": self.owner}, ":u": {"N": str(now + LEASE_S)}, ":n": {"N": str(now)}})

    def checkpoint(self, shard_id, sequence, is_done):
        expression = "SET lease_end = :u" + (", place = :p" if sequence else "") + (", done = :d" if is_done else "")
        values = {":u": {"N": str(time.monotonic() + LEASE_S)}, ":o": {"S": self.owner}}
        if sequence:
            values[":p"] = {"S": sequence}
        if is_done:
            values[":d"] = {"BOOL": True}
        return self.service.call(
            "UpdateItem", TableName=LEASES, Key={"id": {"S": shard_id}}, UpdateExpression=expression,
            ConditionExpression="#o = :o", ExpressionAttributeNames={"#o": "owner"},
            ExpressionAttributeValues=values) is not None

    def work_on(self, shard):
        shard_id = shard["ShardId"]
        parent = shard.get("ParentShardId")
        if parent is not None and "done" not in self.lease_of(parent):
            return
        lease = self.take(shard_id)
        if lease is None:
            return
        place = lease["Attributes"].get("place", {}).get("S")
        where = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": place} if place else \
            {"ShardIteratorType": "TRIM_HORIZON"}
        iterator = self.service.stream_call("GetShardIterator", StreamArn=self.arn, ShardId=shard_id, **where)["ShardIterator"]
        for _ in range(5):  # then another shard, or another consumer
            page = self.service.stream_call("GetRecords", ShardIterator=iterator)
            for record in page["Records"]:
                self.process(record)
            sequence = page["Records"][-1]["dynamodb"]["SequenceNumber"] if page["Records"] else None
            is_done = "NextShardIterator" not in page
            if not self.checkpoint(shard_id, sequence, is_done) or is_done or not page["Records"]:
                return
            iterator = page["NextShardIterator"]


class Ledger:
    """The changes that were processed: the versions of each item, in order."""

    def __init__(self):
        self.lock, self.sequences, self.versions, self.repeated, self.faults = threading.Lock(), {}, {}, 0, []

    def process(self, record):
        change = record["dynamodb"]
        key, sequence = change["Keys"]["id"]["S"], int(change["SequenceNumber"])
        version = int(change["NewImage"]["v"]["N"])
        with self.lock:
            if sequence <= self.sequences.get(key, 0):
                self.repeated += 1
                return
            if version != self.versions.get(key, 0) + 1:
                self.faults.append(f"{key}: version {version} after {self.versions.get(key, 0)}")
            self.sequences[key], self.versions[key] = sequence, version

    def count(self):
        with self.lock:
            return sum(self.versions.values())


class StreamConsumersTest(unittest.TestCase):
    def test_every_change_is_processed_in_order_over_restarts(self):
        directory = self.enterContext(tempfile.TemporaryDirectory(prefix="armature_consumers_"))
        service, ledger, rng = Service(), Ledger(), random.Random(PATHS.seed)
        written, versions = 0, {}
        consumers = []
        padding = "x" * 1000
        # A segment ends at a sixteenth of the bound, which is twice what is written.
        flags = [f"--stream_mb_max={max(16, PATHS.changes * 1100 * 2 >> 20)}", "--stream_shards=4"]
        # A third of the changes before each restart, and the rest of the consumption after the last one.
        for turn in range(3):
            with Daemon(PATHS.armatured, *flags, data_dir=directory) as daemon:
                service.set(daemon)
                if turn == 0:
                    daemon.create_table(LEASES)
                    daemon.create_table(TABLE, StreamSpecification={
                        "StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
                    arn = service.call("DescribeTable", TableName=TABLE)["Table"]["LatestStreamArn"]
                    consumers = [Consumer(f"c{number}", service, arn, ledger.process) for number in range(2)]
                    for consumer in consumers:
                        consumer.start()
                if turn == 1:  # from the next segment on, each shard is divided
                    service.call("UpdateTable", TableName=TABLE, StreamSpecification={"StreamEnabled": True, "ShardCount": 8})
                while written < PATHS.changes * (turn + 1) // 3:
                    keys = rng.sample(range(KEYS), 25)
                    for key in keys:
                        versions[key] = versions.get(key, 0) + 1
                    answer = service.call("BatchWriteItem", RequestItems={TABLE: [{"PutRequest": {"Item": {
                        "id": {"S": f"k{key}"}, "v": {"N": str(versions[key])}, "p": {"S": padding}}}} for key in keys]})
                    self.assertEqual(answer["UnprocessedItems"], {})
                    written += len(keys)
                if turn < 2:
                    service.set(None)
                    if turn == 0:
                        daemon.kill()
                    else:
                        self.assertEqual(daemon.stop(), 0)
                    continue
                deadline = time.monotonic() + 10 * WAIT_S
                while ledger.count() < written and not ledger.faults and time.monotonic() < deadline:
                    self.assertEqual([each.failure for each in consumers], [None, None])
                    time.sleep(0.05)
                for consumer in consumers:
                    consumer.stop.set()
                for consumer in consumers:
                    consumer.join(WAIT_S)
                shards = service.call("Scan", TableName=LEASES, Select="COUNT")["Count"]
        self.assertEqual(ledger.faults, [], f"seed {PATHS.seed}")
        self.assertEqual({f"k{key}": version for key, version in versions.items()}, ledger.versions)
        self.assertGreater(shards, 8, "the shards rolled over")
        print(f"consumers: changes={written} repeated={ledger.repeated} shards={shards} seed={PATHS.seed}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--changes", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    _, rest = parser.parse_known_args(namespace=PATHS)
    unittest.main(argv=[sys.argv[0], *rest])
