#!/usr/bin/python3
"""Hostile clients beside another client: crowds of idle connections, slow readers and unfinished bodies, and floods of pings, settings and
resets, which only gRPC has. For each kind on each front, prints the growth of the daemon's memory, its CPU, and the times of the other
client's GetItem on both fronts, beside those without the hostile clients."""

import argparse
import multiprocessing
import os
import pathlib
import resource
import socket
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "support"), str(ROOT / "chaos")]
from armature_daemon import Daemon  # noqa: E402
from hostile import Bystander, HostileRun  # noqa: E402
from hostile_clients import ITEMS, LARGE, SCAN, ControlFlood, RstFlood, http_head, http_request  # noqa: E402
from raw_grpc_client import PING, SETTINGS, RawGrpcClient, field  # noqa: E402
from server import Connection  # noqa: E402

BODY_BYTES = 16 << 20
ADDRESSES = 8
# A crowd has come together, or a flood is on its way.
BEGIN_S = 0.5


class Target:
    """A daemon as the bystander and the hostile clients expect it."""

    def __init__(self, process, http, grpc):
        self.process, self.http, self.grpc = process, http, grpc

    def connect(self):
        return Connection(self.http)

    def cpu_seconds(self):
        ticks = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def connect(address, number=0, receive_bytes=None):
    host, port = address.rsplit(":", 1)
    connection = socket.socket()
    if receive_bytes is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.bind((f"127.0.1.{1 + number % ADDRESSES}", 0))
    connection.settimeout(20)
    connection.connect((host, int(port)))
    return connection


class Idle:
    """Connections that send nothing."""

    def __init__(self, target, front, count):
        self.address = getattr(target, front)
        self.connections = [self.begin(target, front, number) for number in range(count)]

    def begin(self, _target, _front, number):
        return connect(self.address, number)

    def go_on(self):
        pass


class Readers(Idle):
    """Each asks for a page of a megabyte, and reads about a kilobyte of it a second."""

    def begin(self, target, front, number):
        connection = connect(self.address, number, receive_bytes=4096)
        if front == "http":
            connection.sendall(http_request("Scan", SCAN))
        else:
            client = RawGrpcClient(target.grpc, connect=lambda _: connection)
            connection.sendall(client.call_frames(ITEMS + "Scan", field(1, LARGE.encode()))[0])
        return connection

    def go_on(self):
        for connection in self.connections:
            try:
                connection.setblocking(False)
                connection.recv(1024)
            except OSError:
                pass


class Bodies(Idle):
    """Each sends a large body but for its end, as far as the daemon takes it."""

    def begin(self, target, front, number):
        connection = connect(self.address, number)
        try:
            if front == "http":
                connection.settimeout(0.5)
                connection.sendall(http_head("BatchWriteItem", BODY_BYTES) + bytes(BODY_BYTES - 1))
            else:
                client = RawGrpcClient(target.grpc, connect=lambda _: connection)
                client.socket.settimeout(0.5)
                client.send_unfinished(ITEMS + "BatchWriteItem", 1, BODY_BYTES)
        except OSError:
            pass
        return connection


class Pings(ControlFlood):
    def frames(self, client):
        return client.frame(PING, 0, 0, bytes(8))


class Settings(ControlFlood):
    def frames(self, client):
        return client.frame(SETTINGS, 0, 0)


CROWDS = {"idle": Idle, "readers": Readers, "bodies": Bodies}
FLOODS = {"pings": Pings, "settings": Settings, "resets": RstFlood}


def attack(addresses, kind, front, count, begun, stop):
    """In a process of its own, so that the bystander has an interpreter for itself."""
    target = Target(None, *addresses)
    if kind in CROWDS:
        crowd = CROWDS[kind](target, front, count)
        begun.set()
        while not stop.wait(1):
            crowd.go_on()
        return
    for number in range(count):
        FLOODS[kind](target, number, threading.Event()).start()
    begun.set()
    stop.wait()
    os._exit(0)  # the threads flood on


def measure(target, seconds):
    stopping = threading.Event()
    bystander = Bystander(target, stopping)
    bystander.start()
    time.sleep(seconds)
    stopping.set()
    bystander.join()
    texts = []
    for front, times in (("HTTP", bystander.seconds[0::2]), ("gRPC", bystander.seconds[1::2])):
        times.sort()
        p50, p99 = (1000 * times[len(times) * part // 100] for part in (50, 99))
        texts.append(f"{front} p50 {p50:.1f}, p99 {p99:.1f}, max {1000 * times[-1]:.0f} ms")
    return f"{', '.join(texts)}, failed {bystander.failures} of {len(bystander.seconds)}"


def run(target, kind, front, count, seconds):
    before_mb = HostileRun.memory_mb(target, "VmRSS")
    pathlib.Path(f"/proc/{target.process.pid}/clear_refs").write_text("5", encoding="ascii")
    alone, begin_cpu = measure(target, seconds), target.cpu_seconds()
    begun, stop = multiprocessing.Event(), multiprocessing.Event()
    attacker = multiprocessing.Process(target=attack, args=((target.http, target.grpc), kind, front, count, begun, stop))
    attacker.start()
    begun.wait()
    time.sleep(BEGIN_S)
    together = measure(target, seconds)
    used = target.cpu_seconds() - begin_cpu
    stop.set()
    attacker.join()
    print(f"{front}: {count} {kind}: memory +{HostileRun.memory_mb(target, 'VmHWM') - before_mb} MB, {used:.1f} s of CPU\n"
          f"  beside it: {together}\n  alone: {alone}\n  afterwards: {measure(target, seconds)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--kinds", default=",".join((*CROWDS, *FLOODS)))
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--readers", type=int, default=2000)
    parser.add_argument("--bodies", type=int, default=64, help="of 16 MB each")
    parser.add_argument("--clients", type=int, default=8, help="of a flood, with up to four connections each")
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with Daemon(arguments.armatured, "--connections_max=20000", "--metrics_listen=127.0.0.1:0") as daemon:
        daemon.create_table(LARGE)
        for key, text in (("small", "x"), *((f"large{number}", "x" * 300_000) for number in range(4))):
            daemon.json_call("PutItem", TableName=LARGE, Item={"id": {"S": key}, "text": {"S": text}})
        target = Target(daemon.process, daemon.http, daemon.grpc)
        for kind in arguments.kinds.split(","):
            for front in ("grpc", "http") if kind in CROWDS else ("grpc",):
                run(target, kind, front, getattr(arguments, kind, arguments.clients), arguments.seconds)


if __name__ == "__main__":
    main()
