#!/usr/bin/python3
"""Cost of many tables, most of them empty.

  many_tables_bench.py --armatured PATH [--tables N] [--data N] [--seconds S] [--creators N] [--items N]

Creates N tables with one local and two global indexes each, and prints how long a creation takes on the way: from CreateTable
to the answer of DescribeTable, which waits for the table. Then writes items into every tenth table (--data: one of how many),
stops the daemon, and prints the time of its next start, and the memory of the idle daemon before and after it. Last, the rate
of updates of one row, alone and beside clients that create and delete tables.
"""

import argparse
import multiprocessing
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402
from json_connection import JsonConnection  # noqa: E402

CHECKPOINTS = (100, 300, 1000, 3000)
TIMED = 20


def definition(name):
    partition, sort, other = ({"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"},
                              {"AttributeName": "x", "KeyType": "HASH"})

    def index(name, projection, *keys):
        return {"IndexName": name, "KeySchema": list(keys), "Projection": {"ProjectionType": projection}}
    return {"TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in "psx"],
            "KeySchema": [partition, sort],
            "LocalSecondaryIndexes": [index("local", "ALL", partition, {"AttributeName": "x", "KeyType": "RANGE"})],
            "GlobalSecondaryIndexes": [index("global", "ALL", other),
                                       index("second", "KEYS_ONLY", other, {"AttributeName": "p", "KeyType": "RANGE"})]}


def create_tables(client, count):
    """Creates the tables, and prints the latencies of the last ones before each checkpoint."""
    begin = time.monotonic()
    times = []
    for number in range(count):
        start = time.monotonic()
        client.call("CreateTable", **definition(f"table-{number}"))
        client.call("DescribeTable", TableName=f"table-{number}")
        times.append(1000 * (time.monotonic() - start))
        if number + 1 in (*CHECKPOINTS, count):
            last = sorted(times[-TIMED:])
            print(f"{number + 1} tables: created in {time.monotonic() - begin:.1f} s, the last {len(last)}: "
                  f"p50={statistics.median(last):.1f} max={last[-1]:.1f} ms", flush=True)


def memory_mb(daemon):
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def families(daemon):
    lines = daemon.get_text("/metrics")[1].splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("armature_column_families "))


def settled_memory(daemon, seconds):
    time.sleep(seconds)
    return memory_mb(daemon)


def create_and_delete(address, prefix, stop, created):
    client = JsonConnection(address)
    while not stop.is_set():
        name = f"{prefix}-{created.value}"
        # DescribeTable waits for the end of the creation. Without the deletion the ceiling of families would be reached.
        client.call("CreateTable", **definition(name))
        client.call("DescribeTable", TableName=name)
        client.call("DeleteTable", TableName=name)
        created.value += 1


def update(name, address, seconds):
    """Updates one row again and again, and prints rate and latencies."""
    client = JsonConnection(address)
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        client.call("UpdateItem", TableName="hot", Key={"p": {"S": "a"}, "s": {"S": "a"}}, UpdateExpression="ADD n :one",
                    ExpressionAttributeValues={":one": {"N": "1"}})
        times.append(1000 * (time.monotonic() - begin))
    times.sort()
    print(f"{name}: {len(times) / seconds:.0f} updates/s p50={statistics.median(times):.2f} "
          f"p99={times[len(times) * 99 // 100]:.2f} max={times[-1]:.1f} ms", flush=True)


def beside_creators(daemon, options, turn):
    update("alone", daemon.http, options.seconds)
    stop = multiprocessing.Event()
    created = [multiprocessing.Value("i", 0) for _ in range(options.creators)]
    creators = [multiprocessing.Process(target=create_and_delete, args=(daemon.http, f"new-{turn}-{number}", stop, created[number]))
                for number in range(options.creators)]
    for creator in creators:
        creator.start()
    update(f"beside {options.creators} creators", daemon.http, options.seconds)
    stop.set()
    for creator in creators:
        creator.join()
    print(f"  {sum(each.value for each in created)} tables created and deleted meanwhile", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--tables", type=int, default=3000)
    parser.add_argument("--data", type=int, default=10)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--creators", type=int, default=2)
    parser.add_argument("--settle", type=float, default=5)
    parser.add_argument("--flags", nargs="*", default=[], help="more flags of the daemon")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="armature_many_tables_") as directory:
        data = f"{directory}/data"
        with Daemon(options.armatured, "--metrics_listen=127.0.0.1:0", *options.flags, data_dir=data) as daemon:
            client = JsonConnection(daemon.http)
            client.call("CreateTable", **definition("hot"))
            create_tables(client, options.tables)
            begin = time.monotonic()
            for number in range(0, options.tables, options.data):
                for item in range(options.items):
                    client.call("PutItem", TableName=f"table-{number}", Item={
                        "p": {"S": "a"}, "s": {"S": str(item)}, "x": {"S": "red"}, "text": {"S": "x" * 100}})
            print(f"items written in {time.monotonic() - begin:.1f} s; {families(daemon)} families, "
                  f"{settled_memory(daemon, options.settle):.0f} MB", flush=True)
            beside_creators(daemon, options, 0)
            begin = time.monotonic()
            assert daemon.stop() == 0
            print(f"stopped in {time.monotonic() - begin:.1f} s", flush=True)
        for turn in range(2):
            begin = time.monotonic()
            with Daemon(options.armatured, "--metrics_listen=127.0.0.1:0", *options.flags, data_dir=data) as daemon:
                print(f"start {turn + 1}: serves after {time.monotonic() - begin:.2f} s; {families(daemon)} families, "
                      f"{settled_memory(daemon, options.settle):.0f} MB", flush=True)
                if turn == 1:
                    beside_creators(daemon, options, 1)
                assert daemon.stop() == 0


if __name__ == "__main__":
    main()
