#!/usr/bin/python3
"""The time of a takeover with much data and a long log: large_takeover.py ARMATURED [--mb N] [--kills N] [--lease_seconds N].

Fills several tables with items of one to four KB through BatchWriteItem, until they hold this many megabytes and the log is
about as long as the daemon lets it become. Then the owner is killed under the same load, again and again, each time with
a log that has grown again. Prints the time from each kill until the next acknowledged write, and its parts, from the daemons' log.

Run by with_cluster.py.
"""

import argparse
import datetime
import os
import random
import re
import signal
import statistics
import tempfile
import threading
import time
import urllib.request

from daemons_under_load import Client, Cluster, Deadline, Load, Start, await_condition, await_owner, make_table, under_load

DAEMONS = 2
THREADS = 6
# Each has memtables of its own, which together keep the log as long as it may become.
TABLES = 8
ITEMS_OF_A_CALL = 25
# Written before each kill. A takeover leaves an empty log, which is shortened at --wal_max_mb.
MB_BETWEEN = 220
FILL_SECONDS_MAX = 1800
LONGER_THAN_LEASE_SECONDS = 1.5  # that a takeover may take


class Batches(Load):
    """Writes batches; the books are those of whole batches."""

    def __init__(self, cluster):
        super().__init__(cluster)
        self.bytes, self.unprocessed, self.counting_bytes = 0, 0, threading.Lock()
        self.last_number = [0] * THREADS  # of an acknowledged batch
        self.threads = [threading.Thread(target=self.guard, args=(self.fill, number)) for number in range(THREADS)]

    def fill(self, thread):
        client, chance = Client(self.cluster), random.Random(thread)
        # Random, so that compression does not make it small.
        text = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=1 << 16))
        for number in range(1, 1 << 30):
            puts, size = [], 0
            for n in range(ITEMS_OF_A_CALL):
                length, begin = chance.randint(1000, 4000), chance.randrange(60_000)
                item = {"k": {"S": f"{thread}.{number}.{n}"}, "n": {"N": str(number)}, "p": {"S": text[begin : begin + length]}}
                puts.append({"PutRequest": {"Item": item}})
                size += len(item["p"]["S"])
            left = {f"fill{number % TABLES}": puts}
            while left:
                answer = client.call("BatchWriteItem", {"RequestItems": left}, self.stop)
                if answer is None:
                    return
                left = answer.get("UnprocessedItems")
                self.last_acknowledged = time.monotonic()
            self.last_number[thread] = number
            with self.counting_bytes:
                self.bytes += size

    def check(self):
        """The last acknowledged batches are there."""
        client, deadline = Client(self.cluster), Deadline()
        for thread, number in enumerate(self.last_number):
            for n in range(ITEMS_OF_A_CALL):
                key = {"k": {"S": f"{thread}.{number}.{n}"}}
                got = client.call("GetItem", {"TableName": f"fill{number % TABLES}", "Key": key, "ConsistentRead": True}, deadline)
                if got.get("Item", {}).get("n") != {"N": str(number)}:
                    self.faults.append(f"{key} is lost")


def make_tables(cluster):
    make_table(cluster)
    client, deadline = Client(cluster), Deadline()
    for number in range(TABLES):
        key = {"AttributeName": "k", "KeyType": "HASH"}
        client.call(
            "CreateTable",
            {
                "TableName": f"fill{number}",
                "KeySchema": [key],
                "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
            deadline,
            ("ResourceInUseException",),
        )
        while client.call("DescribeTable", {"TableName": f"fill{number}"}, deadline)["Table"]["TableStatus"] != "ACTIVE":
            pass


def await_bytes(cluster, load, enough):
    await_condition("the load is slow", lambda: load.bytes >= enough, cluster, load, FILL_SECONDS_MAX)


def memtable_mb(daemon):
    """Rows that are only in memory and in the log: those that a takeover has to replay."""
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics", timeout=30) as answer:
        found = re.search(r"^armature_store_memtable_bytes (\S+)$", answer.read().decode(), re.MULTILINE)
    return float(found[1]) / (1 << 20)


def seconds_of(line):
    """The wall clock of a line of the daemon's log."""
    return datetime.datetime.strptime(line[1:].split("]")[0][:24], "%Y%m%d %H:%M:%S.%f").timestamp()


def kill(cluster, load):
    """Kills the owner. Returns the size of what is replayed, and the seconds of each part of the takeover and of all."""
    written = load.bytes
    owner = await_owner(cluster, load)
    (other,) = cluster.others(owner)
    await_bytes(cluster, load, written + (MB_BETWEEN << 20))
    cluster.read_log.seek(0, os.SEEK_END)
    replayed = memtable_mb(owner)
    owner.is_held, owner.expected = True, -signal.SIGKILL
    begun, begun_at = time.monotonic(), time.time()
    owner.process.kill()
    await_condition("nobody takes over", lambda: other.is_ready, cluster, load)
    ready = time.monotonic()
    await_condition("no write is acknowledged", lambda: load.last_acknowledged > ready, cluster, load)
    taken = time.monotonic() - begun
    parts = [0.0]
    lines = cluster.read_log.readlines()
    for mark in ("owner of the volume", "store: opened", "server: serving"):
        parts.append(next(seconds_of(line) for line in lines if mark in line) - begun_at)
    parts.append(taken)
    owner.is_held = False
    return [replayed, *(after - before for before, after in zip(parts, parts[1:])), taken]


def show(rows):
    limit = ARGUMENTS.lease_seconds + LONGER_THAN_LEASE_SECONDS
    times = [row[-1] for row in rows]
    print(f"{len(times)} takeovers: median {statistics.median(times):.2f} s, longest {max(times):.2f} s; the aim is {limit} s")


def main():
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        start = Start(ARGUMENTS.armatured, ("--metrics_listen=127.0.0.1:0",), lease_seconds=ARGUMENTS.lease_seconds)
        cluster = Cluster("large", [start] * DAEMONS, directory)
        load = Batches(cluster)
        with under_load(cluster, load, make_tables, lambda _, checked: checked.check()):
            begun = time.monotonic()
            await_bytes(cluster, load, ARGUMENTS.mb << 20)
            print(f"{load.bytes >> 20} MB in {time.monotonic() - begun:.0f} s")
            print("memtables MB  lease s  replay s  serving s  write s  all s", flush=True)
            for _ in range(ARGUMENTS.kills):
                rows.append(kill(cluster, load))
                print("{:12.0f} {:8.2f} {:9.2f} {:10.2f} {:8.2f} {:6.2f}".format(*rows[-1]), flush=True)
            await_owner(cluster, load)
    show(rows)
    print(f"{load.bytes >> 20} MB in all, batches lost 0")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("armatured")
    parser.add_argument("--mb", type=int, default=256)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--lease_seconds", type=int, default=2)
    ARGUMENTS = parser.parse_args()
    main()
