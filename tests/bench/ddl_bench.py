#!/usr/bin/python3
"""Updates of one row while other clients create and delete tables.

  ddl_bench.py --armatured PATH [--tables N] [--seconds S] [--creators N]

First creates N tables with a local and a global index each. Then prints the rate and the latencies of the updates, alone
and beside the creators, and the number of tables that they have created and deleted.
"""

import argparse
import multiprocessing
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402
from json_connection import JsonConnection  # noqa: E402


def definition(name):
    def index(name, keys):
        return {"IndexName": name, "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
    partition, sort = ({"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"})
    return {"TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in "psx"],
            "KeySchema": [partition, sort],
            "LocalSecondaryIndexes": [index("local", [partition, {"AttributeName": "x", "KeyType": "RANGE"}])],
            "GlobalSecondaryIndexes": [index("global", [{"AttributeName": "x", "KeyType": "HASH"}])]}


def create(address, prefix, stop, created):
    client = JsonConnection(address)
    while not stop.is_set():
        name = f"{prefix}-{created.value}"
        # DescribeTable waits for the end of the creation. Without the deletion the ceiling of families would be reached.
        for operation, members in (("CreateTable", definition(name)), ("DescribeTable", {"TableName": name}),
                                   ("DeleteTable", {"TableName": name})):
            status, body = client.exchange(operation, members)
            if status != 200:
                raise RuntimeError(body)
        created.value += 1


def update(address, seconds):
    """Latencies in milliseconds."""
    client = JsonConnection(address)
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        status, body = client.exchange("UpdateItem", {
            "TableName": "hot", "Key": {"p": {"S": "a"}, "s": {"S": "a"}}, "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}}})
        if status != 200:
            raise RuntimeError(body)
        times.append(1000 * (time.monotonic() - begin))
    return sorted(times)


def report(name, times, seconds):
    print(f"{name}: {len(times) / seconds:.0f} updates/s p50={statistics.median(times):.2f} "
          f"p99={times[len(times) * 99 // 100]:.2f} max={times[-1]:.1f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--creators", type=int, default=2)
    options = parser.parse_args()
    with Daemon(options.armatured) as daemon:
        client = JsonConnection(daemon.http)
        client.exchange("CreateTable", definition("hot"))
        begin = time.monotonic()
        for number in range(options.tables):
            status, body = client.exchange("CreateTable", definition(f"table-{number}"))
            if status != 200:
                raise RuntimeError(body)
        daemon.json_call("DescribeTable", TableName=f"table-{options.tables - 1}")
        print(f"{options.tables} tables created in {time.monotonic() - begin:.1f} s", flush=True)
        for turn in range(2):
            report("alone", update(daemon.http, options.seconds), options.seconds)
            stop = multiprocessing.Event()
            created = [multiprocessing.Value("i", 0) for _ in range(options.creators)]
            creators = [multiprocessing.Process(target=create, args=(daemon.http, f"new-{turn}-{number}", stop, created[number]))
                        for number in range(options.creators)]
            for creator in creators:
                creator.start()
            report(f"beside {options.creators} creators", update(daemon.http, options.seconds), options.seconds)
            stop.set()
            for creator in creators:
                creator.join()
            print(f"  {sum(each.value for each in created)} tables created and deleted meanwhile", flush=True)


if __name__ == "__main__":
    main()
