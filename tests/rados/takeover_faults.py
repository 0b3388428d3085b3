#!/usr/bin/python3
"""Daemons that replace each other under load: takeover_faults.py ARMATURED [--kills N] [--pauses N] [--ends N]
[--osds N] [--osd_pairs N] [--outages N] [--monitors N].

Three daemons share a database in RADOS; one serves, the others wait, and whichever ends is started again. Clients know all
addresses. Writers put rising numbers, each to a key of its own; readers check that a consistent read never returns less
than what was acknowledged before it began, whichever daemon answers. Meanwhile tables with indexes are created and deleted, a
global index is built and deleted, and backups are made. The owner is killed, paused for longer than its lease, or
ended in order, and OSDs (one, two, or all) and the monitor die and come back, until each was done as often as asked for. At the end every key must have at least its acknowledged number, and every
global index must agree with its table. Prints counts and the times of takeovers.

Run by with_cluster.py.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/rados-dev"
LEASE_SECONDS = 2
LOST_DATABASE = 75
KEYS = 8
DAEMONS = 3
# An unanswered request tells nothing, and the next one may go elsewhere.
CALL_SECONDS = 3
PROGRESS_SECONDS = 120
WRITES_BETWEEN = 200  # faults


class Refused(Exception):
    """The daemon answered with an error; nothing was done."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name = name


class Daemon:
    """One of the daemons, started again whenever it has ended."""

    def __init__(self, place, log, backups):
        self.place, self.log, self.backups = place, log, backups
        self.address, self.process, self.ready_process, self.expected = None, None, None, None
        self.start()

    @property
    def is_ready(self):
        return self.ready_process is self.process and self.process.poll() is None

    def start(self):
        listen = self.address or "127.0.0.1:0"
        self.process = subprocess.Popen(
            [
                ARGUMENTS.armatured,
                f"--store={self.place}",
                f"--rados_conf={os.environ['ARMATURE_RADOS_CONF']}",
                f"--rados_user={os.environ['ARMATURE_RADOS_USER']}",
                f"--lease_seconds={LEASE_SECONDS}",
                "--grpc_listen=off",
                f"--http_listen={listen}",
                f"--backup_dir={self.backups}",
                "--drain_seconds=1",
                "--cache_mb=32",
            ],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        threading.Thread(target=self.watch, args=(self.process,), daemon=True).start()

    def watch(self, process):
        for line in process.stdout:
            words = line.split()
            self.address = dict(word.split("=", 1) for word in words[1:])["http"]
            if words[0] == "ready":
                self.ready_process = process


class Cluster:
    def __init__(self, place, directory):
        self.log = open(os.path.join(directory, "daemons.log"), "w+", encoding="utf-8")
        self.daemons = [Daemon(place, self.log, os.path.join(directory, "backups")) for _ in range(DAEMONS)]
        self.stopping = False

    def keep_running(self, faults):
        """Starts daemons that have ended again. A daemon may lose a race for the lease, and ends by itself."""
        for daemon in self.daemons:
            status = daemon.process.poll()
            if status is None or self.stopping:
                continue
            if status not in (daemon.expected, LOST_DATABASE):
                faults.append(f"a daemon ended by itself with status {status}")
            daemon.expected = None
            daemon.start()

    def owner(self):
        """The daemon that serves, or None."""
        ready = [d for d in self.daemons if d.is_ready]
        return ready[-1] if len(ready) == 1 else None

    def close(self):
        self.stopping = True
        for daemon in self.daemons:
            daemon.process.kill()
            daemon.process.wait()


class Client:
    """Calls the address that answered last, or the next one."""

    def __init__(self, cluster):
        self.cluster, self.turn, self.connection = cluster, random.randrange(DAEMONS), None

    def attempt(self, operation, body):
        """The answer of one daemon. Raises OSError or HTTPException when the outcome is unknown."""
        address = self.cluster.daemons[self.turn].address
        if address is None:
            raise OSError("not started")
        if self.connection is None:
            self.connection = http.client.HTTPConnection(address, timeout=CALL_SECONDS)
            self.connection.connect()
            self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        headers = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"}
        self.connection.request("POST", "/", json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status == 200:
            return json.loads(text)
        error = json.loads(text)
        raise Refused(error["__type"].split("#")[-1], error.get("message", error.get("Message", "")))

    def move(self):
        if self.connection is not None:
            self.connection.close()
        self.connection, self.turn = None, (self.turn + 1) % DAEMONS

    def call(self, operation, body, stop, passed=()):
        """Repeats until an answer comes; None if `stop` is set first. Errors in `passed` count as answers."""
        while not stop.is_set():
            try:
                return self.attempt(operation, body)
            except Refused as refused:
                if refused.name in passed:
                    return {}
                if refused.name not in ("ServiceUnavailable", "InternalServerError", "ThrottlingException"):
                    raise
            except (OSError, http.client.HTTPException, ValueError):
                pass
            self.move()
            stop.wait(0.02)
        return None


class Load:
    """Writers, readers and administration, until `stop`."""

    def __init__(self, cluster):
        self.cluster, self.stop = cluster, threading.Event()
        self.acknowledged = [0] * KEYS
        self.begun = [0] * KEYS
        self.faults, self.reads, self.tables, self.indexes, self.backups = [], 0, 0, 0, 0
        self.last_acknowledged = time.monotonic()
        work = [(self.write, key) for key in range(KEYS)] + [(self.read, n) for n in range(2)] + [(self.administer, 0)]
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

    def read(self, _):
        client = Client(self.cluster)
        while not self.stop.is_set():
            key = random.randrange(KEYS)
            before = self.acknowledged[key]
            got = client.call(
                "GetItem", {"TableName": "rows", "Key": {"k": {"S": f"key{key}"}}, "ConsistentRead": True}, self.stop
            )
            if got is None:
                return
            number = int(got.get("Item", {}).get("n", {}).get("N", "0"))
            # Any daemon may be asked next, also one that was paused.
            if random.random() < 0.2:
                client.move()
            if not before <= number <= self.begun[key]:
                self.faults.append(f"key{key}: read {number}, acknowledged before {before}, begun {self.begun[key]}")
            self.reads += 1

    def administer(self, _):
        client = Client(self.cluster)

        def call(operation, body, *passed):
            return client.call(operation, body, self.stop, passed)

        for number in range(1 << 30):
            if self.stop.is_set():
                return
            name = f"extra{number}"
            call("CreateTable", table(name), "ResourceInUseException")
            call("PutItem", {"TableName": name, "Item": {"k": {"S": "a"}, "g": {"S": "b"}}}, "ResourceNotFoundException")
            call("DeleteTable", {"TableName": name}, "ResourceNotFoundException", "ResourceInUseException")
            self.tables += 1
            # Made or removed already, if an answer was lost.
            call("UpdateTable", index_update("Create"), "ValidationException", "ResourceInUseException", "LimitExceededException")
            call(
                "UpdateTable", index_update("Delete"), "ValidationException", "ResourceInUseException", "ResourceNotFoundException"
            )
            self.indexes += 1
            made = call("CreateBackup", {"TableName": "rows", "BackupName": "backup"}, "BackupInUseException", "LimitExceededException")
            if made and "BackupDetails" in made:
                self.backups += 1
                arn = made["BackupDetails"]["BackupArn"]
                call("DeleteBackup", {"BackupArn": arn}, "BackupNotFoundException", "BackupInUseException")


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


def index_update(kind):
    change = {"IndexName": "by_p"}
    if kind == "Create":
        change |= {"KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}
    return {
        "TableName": "rows",
        "AttributeDefinitions": [{"AttributeName": a, "AttributeType": "S"} for a in ("k", "g", "p")],
        "GlobalSecondaryIndexUpdates": [{kind: change}],
    }


def await_condition(what, holds, cluster, load):
    end = time.monotonic() + PROGRESS_SECONDS
    while not holds():
        if time.monotonic() > end or load.faults:
            raise SystemExit(f"takeover_faults: {what}: {load.faults or 'not in time'}")
        cluster.keep_running(load.faults)
        time.sleep(0.01)  # a poll of several processes


def await_write(cluster, load, since):
    await_condition("no write was acknowledged", lambda: load.last_acknowledged > since, cluster, load)


def inject(kind, cluster, load, takeovers):
    """One fault of the owner, until another daemon has acknowledged a write."""
    await_condition("nobody serves", lambda: cluster.owner() is not None, cluster, load)
    enough = sum(load.acknowledged) + WRITES_BETWEEN
    await_condition("few writes", lambda: sum(load.acknowledged) >= enough, cluster, load)
    owner = cluster.owner()
    process = owner.process
    begun = time.monotonic()
    owner.expected = {"kill": -signal.SIGKILL, "pause": LOST_DATABASE, "end": 0}[kind]
    expected = owner.expected
    process.send_signal({"kill": signal.SIGKILL, "pause": signal.SIGSTOP, "end": signal.SIGTERM}[kind])
    if kind == "pause":
        await_condition("nobody takes over", lambda: any(d.is_ready for d in cluster.daemons if d is not owner), cluster, load)
        await_write(cluster, load, time.monotonic())
        process.send_signal(signal.SIGCONT)
    await_condition(f"the owner does not end after {kind}", lambda: process.poll() is not None, cluster, load)
    ended = process.poll()
    if ended != expected:
        load.faults.append(f"exit status {ended} after {kind}, not {expected}")
    await_condition("nobody takes over", lambda: any(d.is_ready and d.process is not process for d in cluster.daemons), cluster, load)
    await_write(cluster, load, time.monotonic())
    takeovers[kind].append(time.monotonic() - begun)


OSDS = ("0", "1", "2")
# The daemons of the cluster that die with each fault, and if writes must go on without them.
CLUSTER_FAULTS = {"osd": (1, True), "osd_pair": (2, False), "outage": (3, False), "monitor": (0, True)}


def inject_in_cluster(kind, cluster, load, takeovers):
    """Daemons of the Ceph cluster die and come back, until a write is acknowledged."""
    count, goes_on = CLUSTER_FAULTS[kind]
    enough = sum(load.acknowledged) + WRITES_BETWEEN
    await_condition("few writes", lambda: sum(load.acknowledged) >= enough, cluster, load)
    dead = [("osd", osd) for osd in random.sample(OSDS, count)] or [("mon",)]

    def tool(verb, what, *arguments):
        subprocess.run([TOOL, f"{verb}-{what}", os.environ["ARMATURE_RADOS_DIR"], *arguments], check=True, stdout=subprocess.DEVNULL)

    begun = time.monotonic()
    for each in dead:
        tool("stop" if each[0] == "mon" else "kill", *each)
    if goes_on:
        await_write(cluster, load, time.monotonic())
    for each in dead:
        tool("start", *each)
    await_write(cluster, load, time.monotonic())
    takeovers[kind].append(time.monotonic() - begun)


def check_end(cluster, load):
    client, never = Client(cluster), threading.Event()
    for key in range(KEYS):
        got = client.call("GetItem", {"TableName": "rows", "Key": {"k": {"S": f"key{key}"}}, "ConsistentRead": True}, never)
        number = int(got["Item"]["n"]["N"])
        if not load.acknowledged[key] <= number <= load.begun[key]:
            load.faults.append(f"key{key} is {number} at the end, acknowledged {load.acknowledged[key]}")
    rows = {}
    end = time.monotonic() + PROGRESS_SECONDS
    while time.monotonic() < end:  # the index follows its table
        rows = {
            source: sorted(json.dumps(item, sort_keys=True) for item in client.call("Scan", {"TableName": "rows", **extra}, never)["Items"])
            for source, extra in (("table", {}), ("index", {"IndexName": "by_g"}))
        }
        if rows["table"] == rows["index"]:
            return
    load.faults.append(f"the index differs from its table: {rows}")


def main():
    counts = {
        "kill": ARGUMENTS.kills,
        "pause": ARGUMENTS.pauses,
        "end": ARGUMENTS.ends,
        "osd": ARGUMENTS.osds,
        "osd_pair": ARGUMENTS.osd_pairs,
        "outage": ARGUMENTS.outages,
        "monitor": ARGUMENTS.monitors,
    }
    takeovers = {kind: [] for kind in counts}
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "backups"))
        cluster = Cluster(f"rados://{os.environ['ARMATURE_RADOS_POOL']}/faults.{os.getpid()}", directory)
        try:
            load, never = Load(cluster), threading.Event()
            first = Client(cluster)
            first.call("CreateTable", table("rows"), never, ("ResourceInUseException",))
            while first.call("DescribeTable", {"TableName": "rows"}, never)["Table"]["TableStatus"] != "ACTIVE":
                pass
            load.start()
            try:
                await_write(cluster, load, time.monotonic())
                faults = [kind for kind, count in counts.items() for _ in range(count)]
                random.Random(ARGUMENTS.seed).shuffle(faults)
                for kind in faults:
                    (inject_in_cluster if kind in CLUSTER_FAULTS else inject)(kind, cluster, load, takeovers)
            finally:
                load.end()
            check_end(cluster, load)
        finally:
            cluster.close()
        if load.faults:
            cluster.log.seek(0)
            sys.stderr.write("".join(cluster.log.readlines()[-200:]))
            raise SystemExit("takeover_faults: " + "\n".join(load.faults[:20]))
    print(f"writes {sum(load.acknowledged)}, reads {load.reads}, tables {load.tables}, index builds {load.indexes}, backups {load.backups}")
    for kind, times in takeovers.items():
        if times:
            print(f"{kind}: {len(times)}, until the next acknowledged write: median {statistics.median(times):.2f} s, longest {max(times):.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("armatured")
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--pauses", type=int, default=3)
    parser.add_argument("--ends", type=int, default=2)
    parser.add_argument("--osds", type=int, default=1)
    parser.add_argument("--osd_pairs", type=int, default=0)
    parser.add_argument("--outages", type=int, default=1)
    parser.add_argument("--monitors", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    ARGUMENTS = parser.parse_args()
    main()
