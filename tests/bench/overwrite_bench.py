#!/usr/bin/python3
"""Server CPU of queries of 100 items among overwritten and deleted items.

  overwrite_bench.py --armatured PATH [--overwrites N] [--queries N] [--rounds N]

Prints user and system time of the daemon per query: fresh, after N overwrites of 10,000 items, at the head of a queue from
which 25 items are taken between two queries, and behind 20,000 items that were deleted in bulk. Prints the time per item written,
too. To compare two daemons, run them in turns.
"""

import argparse
import os
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402
from json_connection import JsonConnection  # noqa: E402

TABLE = "Rows"
PARTITIONS = 100
ROWS = 100


class Client(JsonConnection):
    def __init__(self, address, pid):
        super().__init__(address)
        self.pid = pid
        self.number = 0

    def cpu_us(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")

    def write(self, keys, delete=False):
        for start in range(0, len(keys), 25):
            requests = []
            self.number += 1  # a write that changes nothing is not made
            for partition, row in keys[start:start + 25]:
                key = {"p": {"S": partition}, "r": {"N": str(row)}}
                requests.append({"DeleteRequest": {"Key": key}} if delete else
                                {"PutRequest": {"Item": {**key, "v": {"S": f"{self.number:0250}"}}}})
            self.call("BatchWriteItem", RequestItems={TABLE: requests})

    def query(self, partition):
        page = self.call("Query", TableName=TABLE, KeyConditionExpression="p = :p", Limit=ROWS, Select="COUNT",
                         ExpressionAttributeValues={":p": {"S": partition}})
        if page["Count"] != ROWS:
            raise RuntimeError(f"{page['Count']} items of {partition}")

    def measured(self, name, calls, count):
        begin = self.cpu_us()
        calls()
        print(f"  {name:50} {(self.cpu_us() - begin) / count:9.1f} us", flush=True)


def run(client, arguments):
    client.call("CreateTable", TableName=TABLE, BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"},
                                      {"AttributeName": "r", "AttributeType": "N"}],
                KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "r", "KeyType": "RANGE"}])
    while client.call("DescribeTable", TableName=TABLE)["Table"]["TableStatus"] != "ACTIVE":
        pass
    draw = random.Random(1)
    rows = [(f"p{partition}", row) for partition in range(PARTITIONS) for row in range(ROWS)]

    def queries():
        for _ in range(arguments.queries):
            client.query(f"p{draw.randrange(PARTITIONS)}")

    client.measured("put of a new item", lambda: client.write(rows), len(rows))
    client.measured("query of 100, fresh", queries, arguments.queries)
    client.measured("put over an item",
                    lambda: [client.write(draw.sample(rows, 25)) for _ in range(arguments.overwrites // 25)],
                    arguments.overwrites)
    client.measured(f"query of 100 after {arguments.overwrites} overwrites", queries, arguments.queries)
    client.write([("queue", row) for row in range(1000)])
    for row in range(0, 10_000, 25):
        client.write([("queue", row + 1000 + i) for i in range(25)])
        client.write([("queue", row + i) for i in range(25)], delete=True)
        client.query("queue")
    client.measured("query of the head of a queue, 10,000 taken",
                    lambda: [client.query("queue") for _ in range(arguments.queries)], arguments.queries)
    client.write([("bulk", row) for row in range(20_100)])
    client.write([("bulk", row) for row in range(20_000)], delete=True)
    client.query("bulk")
    client.measured("query behind 20,000 deleted items",
                    lambda: [client.query("bulk") for _ in range(arguments.queries)], arguments.queries)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--overwrites", type=int, default=62_000)
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    for number in range(arguments.rounds):
        print(f"round {number + 1}")
        with Daemon(arguments.armatured, "--durability=os") as daemon:
            run(Client(daemon.http, daemon.process.pid), arguments)


if __name__ == "__main__":
    main()
