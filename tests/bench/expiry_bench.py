#!/usr/bin/python3
"""Latencies of clients while items expire.

  expiry_bench.py --armatured PATH [--items N] [--seconds S] [--rounds N]

Each round writes N items whose time comes at one moment, measures clients before that moment, and again while the items are
being deleted: the ratio of both is what expiry costs. Prints the deletions per second, too.
"""

import argparse
import multiprocessing
import pathlib
import statistics
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402
from json_connection import JsonConnection  # noqa: E402

TABLE = "Sessions"
RATE = 400  # requests a second of each client, half reads and half writes


def item_of(key, ends):
    return {"id": {"S": key}, "ends": {"N": str(ends)}, "v": {"S": "x" * 250}}


def fill(address, first, last, ends):
    client = JsonConnection(address)
    for start in range(first, last, 25):
        client.call("BatchWriteItem", RequestItems={TABLE: [
            {"PutRequest": {"Item": item_of(f"old{key}", ends)}} for key in range(start, min(start + 25, last))]})


def work(address, name, stop, latencies):
    """At a fixed rate, as clients do that do not wait for each other."""
    client, measured, due, number = JsonConnection(address), [], time.monotonic(), 0
    while not stop.is_set():
        due += 1 / RATE
        time.sleep(max(0, due - time.monotonic()))
        begin = time.monotonic()
        if number % 2:
            client.call("GetItem", TableName=TABLE, Key={"id": {"S": f"{name}-{number % 1000 - 1}"}})
        else:
            client.call("PutItem", TableName=TABLE, Item=item_of(f"{name}-{number % 1000}", 4102444800))
        measured.append((time.monotonic() - begin) * 1000)
        number += 1
    latencies.put(measured)


class Clients:
    def __init__(self, address, count):
        self.stop, self.latencies = multiprocessing.Event(), multiprocessing.Queue()
        self.processes = [multiprocessing.Process(target=work, args=(address, f"c{number}", self.stop, self.latencies))
                          for number in range(count)]
        for process in self.processes:
            process.start()

    def end(self):
        self.stop.set()
        all_of_them = sorted(each for _ in self.processes for each in self.latencies.get())
        for process in self.processes:
            process.join()
        return all_of_them


def metric(daemon, name):
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics", timeout=60) as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
    raise KeyError(name)


def percentile(values, part):
    return values[int(len(values) * part)]


def run_round(args):
    with Daemon(args.armatured, "--metrics_listen=127.0.0.1:0", "--ttl_interval=1s") as daemon:
        daemon.create_table(TABLE)
        client = JsonConnection(daemon.http)
        client.call("UpdateTimeToLive", TableName=TABLE, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ends"})
        ends = int(time.time()) + 30 + args.items // 4000
        parts = [multiprocessing.Process(target=fill, args=(
            daemon.http, args.items * part // 4, args.items * (part + 1) // 4, ends)) for part in range(4)]
        for part in parts:
            part.start()
        for part in parts:
            part.join()
        clients = Clients(daemon.http, args.clients)
        time.sleep(args.seconds)
        before = clients.end()
        if time.time() > ends or metric(daemon, "armature_expired_items_total") > 0:
            raise RuntimeError("the items expired too early: fewer items, or fewer seconds")
        time.sleep(max(0, ends + 1.5 - time.time()))
        clients = Clients(daemon.http, args.clients)
        begin, count = time.monotonic(), metric(daemon, "armature_expired_items_total")
        deadline = begin + args.seconds
        while time.monotonic() < deadline and metric(daemon, "armature_expired_items_total") < args.items:
            time.sleep(0.5)
        beside = clients.end()
        rate = (metric(daemon, "armature_expired_items_total") - count) / (time.monotonic() - begin)
        row = [percentile(before, 0.5), percentile(beside, 0.5), percentile(before, 0.99), percentile(beside, 0.99)]
        print(f"p50 {row[0]:.2f} -> {row[1]:.2f} ms  p99 {row[2]:.2f} -> {row[3]:.2f} ms  ratio of p99 {row[3] / row[2]:.2f}  "
              f"{rate:.0f} items/s", flush=True)
        return row[3] / row[2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    ratios = [run_round(args) for _ in range(args.rounds)]
    print(f"median of the ratios of p99: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
