#!/usr/bin/python3
"""Crowds of connections on a daemon: idle ones, slow readers and unfinished bodies. For each crowd on each front, prints the growth of
the daemon's memory and the times of another client's GetItem, beside those without the crowd."""

import argparse
import pathlib
import resource
import select
import socket
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "support"), str(ROOT / "chaos")]
from armature_daemon import Daemon  # noqa: E402
from hostile import Bystander, HostileRun  # noqa: E402
from hostile_clients import LARGE, SCAN, http_head, http_request  # noqa: E402
from raw_grpc_client import RawGrpcClient, field  # noqa: E402
from server import Connection  # noqa: E402

ITEMS = "/armature.api.v1.ItemService/"
BODY_BYTES = 16 << 20
ADDRESSES = 8


class Target:
    """A daemon as the bystander expects it."""

    def __init__(self, daemon):
        self.process, self.http, self.grpc = daemon.process, daemon.http, daemon.grpc

    def connect(self):
        return Connection(self.http)


def connect(address, number, receive_bytes=None):
    host, port = address.rsplit(":", 1)
    connection = socket.socket()
    if receive_bytes is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.bind((f"127.0.1.{1 + number % ADDRESSES}", 0))
    connection.settimeout(20)
    connection.connect((host, int(port)))
    return connection


def idle(target, front, count):
    return [connect(target.http if front == "http" else target.grpc, number) for number in range(count)]


def grpc_on(connection, address):
    """A gRPC client on a connection that is there."""
    client = RawGrpcClient.__new__(RawGrpcClient)
    client.socket, client.address, client.next_stream, client.unread = connection, address, 1, b""
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + client.frame(4, 0, 0))
    return client


def slow_readers(target, front, count):
    """Each asks for a page of a megabyte."""
    readers = []
    for number in range(count):
        connection = connect(target.http if front == "http" else target.grpc, number, receive_bytes=4096)
        if front == "http":
            connection.sendall(http_request("Scan", SCAN))
        else:
            client = grpc_on(connection, target.grpc)
            connection.sendall(client.call_frames(ITEMS + "Scan", field(1, LARGE.encode()))[0])
        readers.append(connection)
    return readers


def unfinished(target, front, count):
    """Each sends half of a large body, as far as the daemon takes it."""
    senders = []
    for number in range(count):
        connection = connect(target.http if front == "http" else target.grpc, number)
        senders.append(connection)
        connection.settimeout(0.5)
        try:
            if front == "http":
                connection.sendall(http_head("BatchWriteItem", BODY_BYTES) + bytes(BODY_BYTES - 1))
            else:
                client = grpc_on(connection, target.grpc)
                client.send_unfinished(ITEMS + "BatchWriteItem", 1, BODY_BYTES)
        except OSError:
            pass
    return senders


def read_a_little(connections, stopping):
    """About a kilobyte a second from each connection that is still there."""
    while not stopping.wait(1):
        for connection in select.select(connections, [], [], 0)[0] if len(connections) < 1000 else connections:
            try:
                connection.setblocking(False)
                connection.recv(1024)
            except OSError:
                pass


def measure(target, seconds):
    stopping = threading.Event()
    bystander = Bystander(target, stopping)
    bystander.start()
    time.sleep(seconds)
    stopping.set()
    bystander.join()
    times = sorted(bystander.seconds)
    return (f"GetItem p50 {1000 * times[len(times) // 2]:.1f} ms, p99 {bystander.p99_ms():.1f} ms, "
            f"failed {bystander.failures} of {len(times)}")


def run(target, name, crowd, seconds):
    before_mb = HostileRun.memory_mb(target, "VmRSS")
    pathlib.Path(f"/proc/{target.process.pid}/clear_refs").write_text("5", encoding="ascii")
    alone = measure(target, seconds)
    begun = time.monotonic()
    connections = crowd()
    stopping = threading.Event()
    reader = threading.Thread(target=read_a_little, args=(connections, stopping))
    if "readers" in name:
        reader.start()
    together = measure(target, seconds)
    stopping.set()
    if reader.ident is not None:
        reader.join()
    peak_mb = HostileRun.memory_mb(target, "VmHWM")
    for connection in connections:
        connection.close()
    print(f"{name}: memory +{peak_mb - before_mb} MB in {time.monotonic() - begun:.0f} s; {together}; alone: {alone}; "
          f"afterwards: {measure(target, seconds)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--readers", type=int, default=2000)
    parser.add_argument("--bodies", type=int, default=64, help="of 16 MB each")
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with Daemon(arguments.armatured, "--connections_max=20000", "--metrics_listen=127.0.0.1:0") as daemon:
        target = Target(daemon)
        daemon.create_table(LARGE)
        for key, text in (("small", "x"), *((f"large{number}", "x" * 300_000) for number in range(4))):
            daemon.json_call("PutItem", TableName=LARGE, Item={"id": {"S": key}, "text": {"S": text}})
        for front in ("grpc", "http"):
            run(target, f"{front}: {arguments.idle} idle connections", lambda: idle(target, front, arguments.idle),
                arguments.seconds)
            run(target, f"{front}: {arguments.readers} slow readers", lambda: slow_readers(target, front, arguments.readers),
                arguments.seconds)
            run(target, f"{front}: {arguments.bodies} unfinished bodies of 16 MB",
                lambda: unfinished(target, front, arguments.bodies), arguments.seconds)


if __name__ == "__main__":
    main()
