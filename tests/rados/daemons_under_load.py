"""Daemons that share a database in RADOS, clients that use them, and the books of what was acknowledged and read.

Writers put rising numbers, each to a key of its own. A consistent read must never return less than what was acknowledged
before it began, nor more than what was begun, whichever daemon answers. Other clients share rows, whose histories must be
linearizable (shared_rows.py).
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import signal
import sys
import threading
import time

from cluster_tool import CLUSTER_FLAGS, POOL
from json_client import PROGRESS_SECONDS, Client, Deadline
from shared_rows import TABLE as SHARED_TABLE
from shared_rows import SharedRows

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import DaemonProcess  # noqa: E402

LEASE_SECONDS = 2
LOST_DATABASE = 75
KEYS = 8
WRITES_BETWEEN = 200  # faults


@dataclasses.dataclass
class Start:
    """How a daemon is started. `prefix`: a program that becomes the daemon, in another namespace for one."""

    armatured: str
    flags: tuple = ()
    prefix: tuple = ()
    host: str = "127.0.0.1"
    environment: dict = dataclasses.field(default_factory=dict)
    lease_seconds: int = LEASE_SECONDS


class Daemon(DaemonProcess):
    """One of the daemons, started again whenever it has ended, at the address that it had."""

    def __init__(self, start, place, log):
        super().__init__(start.armatured, f"--lease_seconds={start.lease_seconds}", "--drain_seconds=1", *start.flags,
                         place=(f"--store={place}", *CLUSTER_FLAGS), log_path=log, prefix=start.prefix,
                         env=dict(os.environ, **start.environment))
        self.host = start.host
        self.ready_process = self.waiting_process = self.expected = None
        self.is_held = False  # not started again
        self.watcher = None
        self.start()

    @property
    def is_ready(self):
        return self.ready_process is self.process and self.process.poll() is None

    @property
    def is_waiting(self):
        return self.waiting_process is self.process and not self.is_ready and self.process.poll() is None

    def start(self):
        """Starts a process, and does not wait until it serves."""
        if self.watcher:
            self.watcher.join()
        self.listen = ("--grpc_listen=off", f"--http_listen={self.http or f'{self.host}:0'}")
        self.spawn()
        self.watcher = threading.Thread(target=self.watch, args=(self.process,), daemon=True)
        self.watcher.start()

    def watch(self, process):
        for line in process.stdout:
            self.take_addresses(line.decode())
            if line.startswith(b"ready "):
                self.ready_process = process
            else:
                self.waiting_process = process


class Cluster:
    """All daemons of one database. Their common log is in `directory`."""

    def __init__(self, name, starts, directory):
        self.name_space = f"{name}.{os.getpid()}"
        self.place = f"rados://{POOL}/{self.name_space}"
        self.log = open(os.path.join(directory, "daemons.log"), "a", encoding="utf-8")
        self.read_log = open(self.log.name, encoding="utf-8")
        self.stopping = False
        self.daemons = []
        try:
            for start in starts:
                self.daemons.append(Daemon(start, self.place, self.log.name))
        except OSError:
            self.close()
            raise

    def keep_running(self, faults):
        """Starts daemons that have ended again. A daemon may lose a race for the lease, and ends by itself."""
        for daemon in self.daemons:
            status = daemon.process.poll()
            if status is None or self.stopping or daemon.is_held:
                continue
            if status not in (daemon.expected, LOST_DATABASE):
                faults.append(f"a daemon ended by itself with status {status}")
            daemon.expected = None
            daemon.start()

    def owner(self):
        """The daemon that serves, or None."""
        ready = [d for d in self.daemons if d.is_ready]
        return ready[-1] if len(ready) == 1 else None

    def others(self, daemon):
        return [d for d in self.daemons if d is not daemon]

    def close(self):
        self.stopping = True
        for daemon in self.daemons:
            daemon.kill()

    def fail(self, faults):
        """Ends the program with the last lines of the daemons, if there are faults."""
        if faults:
            self.read_log.seek(0)
            sys.stderr.write("".join(self.read_log.readlines()[-200:]))
            raise SystemExit("\n".join(faults[:20]))


class Load:
    """Writers and readers, until `stop`. Two readers go to any daemon, and one stays with each daemon."""

    def __init__(self, cluster, more_work=()):
        self.cluster, self.stop = cluster, threading.Event()
        self.acknowledged = [0] * KEYS
        self.begun = [0] * KEYS
        self.faults, self.reads, self.counting = [], 0, threading.Lock()
        self.reads_of = [0] * len(cluster.daemons)  # that a daemon answered to its own reader
        self.stale = 0
        self.last_acknowledged = time.monotonic()
        readers = [None, None, *range(len(cluster.daemons))]
        self.shared = SharedRows(cluster, self.stop)
        work = [(self.write, key) for key in range(KEYS)] + [(self.read, turn) for turn in readers]
        work += [*self.shared.work(), *more_work]
        self.threads = [threading.Thread(target=self.guard, args=each) for each in work]

    def start(self):
        for thread in self.threads:
            thread.start()

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def guard(self, work, argument):
        try:
            work(argument)
        except Exception as error:  # pylint: disable=broad-except
            self.faults.append(f"{work.__name__}: {error!r}")

    def write(self, key):
        client = Client(self.cluster)
        for number in range(1, 1 << 40):
            self.begun[key] = number
            item = {"k": {"S": f"key{key}"}, "n": {"N": str(number)}, "g": {"S": f"g{number % 5}"}, "p": {"S": "x" * 300}}
            if client.call("PutItem", {"TableName": "rows", "Item": item}, self.stop) is None:
                return
            self.acknowledged[key] = number
            self.last_acknowledged = time.monotonic()

    def read(self, turn):
        client = Client(self.cluster, turn)
        while not self.stop.is_set():
            key = random.randrange(KEYS)
            # New for each attempt: a daemon that answers after many refusals owes what was acknowledged meanwhile.
            before = self.acknowledged[key]
            got = client.call_once("GetItem", {"TableName": "rows", "Key": {"k": {"S": f"key{key}"}}, "ConsistentRead": True})
            if got is None:
                self.stop.wait(0.02)
                continue
            number = int(got.get("Item", {}).get("n", {}).get("N", "0"))
            # Any daemon may be asked next, also one that was paused.
            if turn is None and random.random() < 0.2:
                client.move()
            if not before <= number <= self.begun[key]:
                self.stale += 1
                self.faults.append(f"key{key}: read {number}, acknowledged before {before}, begun {self.begun[key]}")
            if turn is not None:
                self.reads_of[turn] += 1
            with self.counting:
                self.reads += 1


def table(name):
    return {
        "TableName": name,
        "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": a, "AttributeType": "S"} for a in ("k", "g")],
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [
            {"IndexName": "by_g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}
        ],
    }


def make_table(cluster):
    first, deadline = Client(cluster), Deadline()
    for name in ("rows", SHARED_TABLE):
        first.call("CreateTable", table(name), deadline, ("ResourceInUseException",))
        while first.call("DescribeTable", {"TableName": name}, deadline)["Table"]["TableStatus"] != "ACTIVE":
            pass


def await_condition(what, holds, cluster, load, seconds=PROGRESS_SECONDS):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end or load.faults:
            cluster.fail([f"{what}: not in time", *load.faults])
        cluster.keep_running(load.faults)
        time.sleep(0.01)  # a poll of several processes


def await_write(cluster, load, since):
    await_condition("no write was acknowledged", lambda: load.last_acknowledged > since, cluster, load)


def await_writes(cluster, load):
    enough = sum(load.acknowledged) + WRITES_BETWEEN
    await_condition("few writes", lambda: sum(load.acknowledged) >= enough, cluster, load)


def await_owner(cluster, load):
    """The daemon that serves, once the others wait."""

    def settled():
        owner = cluster.owner()
        return owner is not None and all(d.is_waiting for d in cluster.others(owner))

    await_condition("nobody serves, or nobody waits", settled, cluster, load)
    return cluster.owner()


def end_owner(kind, cluster, load):
    """Ends the owner until another daemon has acknowledged a write. Returns the seconds in between."""
    await_condition("nobody serves", lambda: cluster.owner() is not None, cluster, load)
    await_writes(cluster, load)
    owner = cluster.owner()
    process = owner.process
    begun = time.monotonic()
    expected = {"kill": -signal.SIGKILL, "pause": LOST_DATABASE, "end": 0}[kind]
    owner.expected = expected
    process.send_signal({"kill": signal.SIGKILL, "pause": signal.SIGSTOP, "end": signal.SIGTERM}[kind])
    if kind == "pause":
        await_condition("nobody takes over", lambda: any(d.is_ready for d in cluster.others(owner)), cluster, load)
        await_write(cluster, load, time.monotonic())
        process.send_signal(signal.SIGCONT)
    await_condition(f"the owner does not end after {kind}", lambda: process.poll() is not None, cluster, load)
    ended = process.poll()
    if ended != expected:
        load.faults.append(f"exit status {ended} after {kind}, not {expected}")
    await_condition("nobody takes over", lambda: any(d.is_ready and d.process is not process for d in cluster.daemons), cluster, load)
    await_write(cluster, load, time.monotonic())
    return time.monotonic() - begun


def check_end(cluster, load):
    """Every key has at least its acknowledged number, the index agrees with its table, and shared rows are linearizable."""
    client, deadline = Client(cluster), Deadline()
    load.shared.read_at_end(client, Deadline())
    load.faults += load.shared.check()
    for key in range(KEYS):
        got = client.call("GetItem", {"TableName": "rows", "Key": {"k": {"S": f"key{key}"}}, "ConsistentRead": True}, deadline)
        number = int(got["Item"]["n"]["N"])
        if not load.acknowledged[key] <= number <= load.begun[key]:
            load.faults.append(f"key{key} is {number} at the end, acknowledged {load.acknowledged[key]}")
    rows = {}
    end = time.monotonic() + PROGRESS_SECONDS
    while time.monotonic() < end:  # the index follows its table
        rows = {
            source: sorted(json.dumps(item, sort_keys=True) for item in client.call("Scan", {"TableName": "rows", **extra}, deadline)["Items"])
            for source, extra in (("table", {}), ("index", {"IndexName": "by_g"}))
        }
        if rows["table"] == rows["index"]:
            return
    load.faults.append(f"the index differs from its table: {rows}")


@contextlib.contextmanager
def under_load(cluster, load, make=make_table, check=check_end):
    """Makes the tables, and runs `load` while the body does. Then the books are checked, and the daemons ended."""
    try:
        make(cluster)
        load.start()
        try:
            yield
        finally:
            load.end()
        check(cluster, load)
    finally:
        cluster.close()
    cluster.fail(load.faults)
