#!/usr/bin/python3
"""Latency of a bystander's GetItem, over HTTP and gRPC, while other connections flood gRPC with frames that carry no message.

  flood_bench.py --armatured PATH [--kind ping|settings|reset|none] [--connections N] [--seconds S]

Prints for each front: calls, median, p99 and maximum in milliseconds; and the CPU time of the daemon. The flood runs in a
process of its own.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import pathlib
import socket
import statistics
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402
from raw_grpc_client import PING, RST_STREAM, SETTINGS, RawGrpcClient, field, text_item  # noqa: E402

GET_ITEM = "/armature.api.v1.ItemService/GetItem"
TABLE = "Bystander"
CANCEL = b"\0\0\0\x08"
PAUSE_S = 0.005


def resets(client, count):
    """Calls that are begun and cancelled at once."""
    frames = b""
    for _ in range(count):
        head, stream = client.headers(GET_ITEM)
        frames += head + client.frame(RST_STREAM, 0, stream, CANCEL)
    return frames


def flood(address, kind, stop):
    while not stop.is_set():
        try:
            client = RawGrpcClient(address)
            client.socket.setblocking(False)
            rest = b""
            while not stop.is_set():
                rest = rest or {"ping": lambda: client.frame(PING, 0, 0, bytes(8)) * 500,
                                "settings": lambda: client.frame(SETTINGS, 0, 0) * 500,
                                "reset": lambda: resets(client, 50)}[kind]()
                try:
                    rest = rest[client.socket.send(rest):]
                except BlockingIOError:
                    pass
                try:
                    if not client.socket.recv(1 << 20):
                        raise ConnectionResetError
                except BlockingIOError:
                    pass
        except OSError:
            stop.wait(PAUSE_S)


def run_flood(address, kind, connections, seconds):
    stop = threading.Event()
    for _ in range(connections):
        threading.Thread(target=flood, args=(address, kind, stop), daemon=True).start()
    time.sleep(seconds)
    os._exit(0)


def watch(call, stop, times):
    while not stop.is_set():
        begin = time.monotonic()
        call()
        times.append(1000 * (time.monotonic() - begin))
        stop.wait(PAUSE_S)


def by_http(address):
    connection = http.client.HTTPConnection(address)
    body = json.dumps({"TableName": TABLE, "Key": {"id": {"S": "a"}}})
    headers = {"X-Amz-Target": "DynamoDB_20120810.GetItem", "Content-Type": "application/x-amz-json-1.0"}

    def call():
        connection.request("POST", "/", body, headers)
        connection.getresponse().read()
    return call


def by_grpc(address):
    client = RawGrpcClient(address)
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    request = field(1, TABLE.encode()) + field(2, text_item(id="a"))
    return lambda: client.call(GET_ITEM, request)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--kind", choices=("ping", "settings", "reset", "none"), default="ping")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    with Daemon(options.armatured) as daemon:
        daemon.create_table(TABLE)
        daemon.json_call("PutItem", TableName=TABLE, Item={"id": {"S": "a"}})
        stop, times = threading.Event(), {"HTTP": [], "gRPC": []}
        watchers = [threading.Thread(target=watch, args=(call, stop, times[front]))
                    for front, call in (("HTTP", by_http(daemon.http)), ("gRPC", by_grpc(daemon.grpc)))]
        for watcher in watchers:
            watcher.start()
        connections = 0 if options.kind == "none" else options.connections
        flooder = multiprocessing.Process(target=run_flood, args=(daemon.grpc, options.kind, connections, options.seconds))
        flooder.start()
        flooder.join()
        ticks = pathlib.Path(f"/proc/{daemon.process.pid}/stat").read_text().split()[13:15]
        stop.set()
        for watcher in watchers:
            watcher.join()
        for front, found in times.items():
            found.sort()
            print(f"{options.kind} {front}: calls={len(found)} p50={statistics.median(found):.1f} "
                  f"p99={found[len(found) * 99 // 100]:.1f} max={found[-1]:.1f} ms")
        print(f"daemon: {sum(map(int, ticks)) / os.sysconf('SC_CLK_TCK'):.1f} s of CPU")


if __name__ == "__main__":
    main()
