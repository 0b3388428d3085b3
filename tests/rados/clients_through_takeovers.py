#!/usr/bin/python3
"""Clients see errors only while daemons replace each other: clients_through_takeovers.py ARMATURED ARMATURE [--kills N]
[--handovers N] [--ends N].

Two daemons share a database in RADOS, and programs call them: boto3 with its own retries, as they come and with more attempts, through a load balancer that asks
/readyz, boto3 with both addresses, this project's package for Python and its command line with both addresses. Then the same daemons
with --forward, and all programs have the address of one of them. The owner is killed, asked to hand over, and ended in
order. An error that a program sees, after all retries of its client, must lie between the fault and the first acknowledged
write after it. A read must find what was acknowledged before, and so must a query at the end.

Prints for each program its calls, errors and longest call. Run by with_cluster.py. Exit status 77, skipped, without boto3:
it is Debian's, or comes from PyPI into a temporary environment, as does this project's package.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from daemons_under_load import (
    LOST_DATABASE,
    Cluster,
    Start,
    await_condition,
    await_owner,
    await_write,
    end_owner,
    under_load,
)
from json_client import Client, Deadline
from ready_balancer import ReadyBalancer

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 77
DAEMONS = 2
TABLE = "calls"
# Until the last client has found the new owner: some clients wait longer between attempts than the one that was first.
ALLOWANCE_SECONDS = 1
CALLS_BETWEEN = 9  # faults, of each program
PIP_SECONDS = 600


class Program:
    """A client in a process of its own, and all that it told of its calls."""

    def __init__(self, load, python, kind, name, addresses):
        self.load, self.kind, self.name, self.addresses = load, kind, name, addresses
        self.python, self.process, self.thread, self.calls, self.answered = python, None, None, [], 0

    def start(self):
        self.process = subprocess.Popen(
            [self.python, str(HERE / "takeover_client.py"), self.kind, self.name, *self.addresses],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ, ARMATURE=ARGUMENTS.armature),
        )
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        for line in self.process.stdout:
            call = json.loads(line)
            self.calls.append(call)
            if "error" not in call:
                self.answered += 1
                if call["operation"] == "put":
                    self.load.count_write(call["ended"])
                elif call["operation"] == "get" and not call["found"]:
                    self.load.faults.append(f"{self.name}: item {call['number']} was acknowledged and is not found")

    def end(self):
        if self.process is None:
            return
        self.process.stdin.close()
        self.thread.join()
        if self.process.wait(60) != 0:
            self.load.faults.append(f"{self.name} ended with status {self.process.returncode}")

    def numbers(self, operation):
        return {call["number"] for call in self.calls if call["operation"] == operation and "error" not in call}


class Programs:
    """All programs of a run; a load of daemons_under_load."""

    def __init__(self, cluster):
        self.cluster, self.programs, self.faults = cluster, [], []
        self.acknowledged, self.last_acknowledged, self.mutex = [0], 0, threading.Lock()
        self.windows = []  # kind, begin, end

    def count_write(self, ended):
        with self.mutex:
            self.acknowledged[0] += 1
            self.last_acknowledged = max(self.last_acknowledged, ended)

    def start(self):
        for program in self.programs:
            program.start()

    def end(self):
        for program in self.programs:
            program.end()

    def await_calls(self):
        """Each program works again."""
        enough = [program.answered + CALLS_BETWEEN for program in self.programs]
        await_condition(
            "a program has no answers",
            lambda: all(program.answered >= count for program, count in zip(self.programs, enough)),
            self.cluster,
            self,
        )

    def fault(self, kind):
        await_owner(self.cluster, self)
        self.await_calls()
        took = hand_over(self.cluster, self) if kind == "handover" else end_owner(kind, self.cluster, self)
        ended = time.monotonic()
        self.windows.append((kind, ended - took, ended))

    def judge(self):
        times = ", ".join(f"{kind} {ended - begun:.1f}" for kind, begun, ended in self.windows)
        print(f"seconds from a fault to the next acknowledged write: {times}")
        for program in self.programs:
            errors = [call for call in program.calls if "error" in call]
            outside = [call for call in errors if not self.is_in_window(call["ended"])]
            for call in outside:
                near = min(self.windows, key=lambda window: abs(window[2] - call["ended"]))
                self.faults.append(f"{program.name}: {call['ended'] - near[2]:.2f} s after the end of a {near[0]}: {call}")
            longest = max((call["ended"] - call["begun"] for call in program.calls), default=0)
            print(
                f"{program.name}: calls {len(program.calls)}, errors in windows {len(errors) - len(outside)}, "
                f"outside {len(outside)}, longest call {longest:.2f} s"
            )
            texts = collections.Counter(call["error"][:110] for call in errors)
            for text, count in texts.most_common(4):
                print(f"  {count} times: {text}")

    def is_in_window(self, moment):
        return any(begun <= moment <= ended + ALLOWANCE_SECONDS for _, begun, ended in self.windows)


def hand_over(cluster, load):
    owner = cluster.owner()
    process = owner.process
    begun = time.monotonic()
    owner.expected = LOST_DATABASE
    asked = subprocess.Popen(
        [ARGUMENTS.armature, "store", "handover", cluster.place], stdout=subprocess.DEVNULL, stderr=cluster.log, text=True
    )
    await_condition("the owner does not hand over", lambda: process.poll() is not None, cluster, load)
    if process.poll() != LOST_DATABASE:
        load.faults.append(f"exit status {process.poll()} after a handover")
    await_condition("nobody takes over", lambda: any(d.is_ready and d.process is not process for d in cluster.daemons), cluster, load)
    if owner.is_ready:
        load.faults.append("the owner that was asked to hand over took the database again")
    await_write(cluster, load, time.monotonic())
    took = time.monotonic() - begun
    await_condition("the handover does not return", lambda: asked.poll() is not None, cluster, load)
    if asked.poll() != 0:
        load.faults.append(f"exit status {asked.poll()} of armature store handover")
    return took


def make_table(cluster):
    first, deadline = Client(cluster), Deadline()
    names = (("k", "S", "HASH"), ("n", "N", "RANGE"))
    first.call(
        "CreateTable",
        {
            "TableName": TABLE,
            "KeySchema": [{"AttributeName": name, "KeyType": role} for name, _, role in names],
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind, _ in names],
            "BillingMode": "PAY_PER_REQUEST",
        },
        deadline,
        ("ResourceInUseException",),
    )
    while first.call("DescribeTable", {"TableName": TABLE}, deadline)["Table"]["TableStatus"] != "ACTIVE":
        pass


def check_end(cluster, load):
    """All that was acknowledged is there."""
    client, deadline = Client(cluster), Deadline()
    for program in load.programs:
        query = {
            "TableName": TABLE,
            "KeyConditionExpression": "k = :k",
            "ExpressionAttributeValues": {":k": {"S": program.name}},
            "ConsistentRead": True,
        }
        items = {}
        while True:
            page = client.call("Query", query, deadline)
            items |= {int(item["n"]["N"]): item for item in page["Items"]}
            if "LastEvaluatedKey" not in page:
                break
            query["ExclusiveStartKey"] = page["LastEvaluatedKey"]
        lost = program.numbers("put") - items.keys()
        if lost:
            load.faults.append(f"{program.name}: lost {sorted(lost)[:10]}")
        # An addition that was repeated may count twice.
        added = int(items.get(0, {}).get("c", {}).get("N", "0"))
        if added < len(program.numbers("add")):
            load.faults.append(f"{program.name}: the counter is {added} after {len(program.numbers('add'))} additions")


def check_and_judge(cluster, load):
    check_end(cluster, load)
    load.judge()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def run(pythons, forward, directory):
    ports = [free_port() for _ in range(DAEMONS)]
    flags = ("--cache_mb=32", "--metrics_listen=127.0.0.1:0", *(("--forward",) if forward else ()))
    starts = [Start(ARGUMENTS.armatured, (*flags, f"--grpc_listen=127.0.0.1:{port}")) for port in ports]
    cluster = Cluster("forward" if forward else "lists", starts, directory)
    balancer = ReadyBalancer(lambda: [(d.http, d.metrics) for d in cluster.daemons])
    load = Programs(cluster)
    try:
        with under_load(cluster, load, lambda _: prepare(cluster, load, pythons, ports, forward, balancer), check_and_judge):
            faults = ["kill"] * ARGUMENTS.kills + ["handover"] * ARGUMENTS.handovers + ["end"] * ARGUMENTS.ends
            random.Random(ARGUMENTS.seed).shuffle(faults)
            for kind in faults:
                load.fault(kind)
            load.await_calls()
            await_owner(cluster, load)
    finally:
        balancer.close()


def prepare(cluster, load, pythons, ports, forward, balancer):
    """Makes the table, and the programs, once all addresses are known."""
    make_table(cluster)
    await_condition("a daemon has no address", lambda: all(d.http for d in cluster.daemons), cluster, load)
    http, grpc = [d.http for d in cluster.daemons], [f"127.0.0.1:{port}" for port in ports]
    if forward:
        wanted = [
            ("boto3", "boto3, forwarded", http[:1]),
            ("boto3-patient", "boto3 with more attempts, forwarded", http[:1]),
            ("armature", "package for Python, forwarded", grpc[:1]),
            ("cli", "armature item, forwarded", grpc[:1]),
        ]
    else:
        wanted = [
            ("boto3", "boto3, balancer", [balancer.address]),
            ("boto3-patient", "boto3 with more attempts, balancer", [balancer.address]),
            ("boto3-list", "boto3 with two addresses", http),
            ("armature", "package for Python", grpc),
            ("cli", "armature item", grpc),
        ]
    for kind, name, addresses in wanted:
        if pythons.get(kind) is not None:
            load.programs.append(Program(load, pythons[kind], kind, name, addresses))


def find_pythons(directory):
    """The program that runs each kind of client, or None if one cannot be had."""
    has_boto3 = subprocess.run([sys.executable, "-c", "import boto3"], capture_output=True, check=False).returncode == 0
    environment = directory / "env"
    if subprocess.run([sys.executable, "-m", "venv", str(environment)], capture_output=True, check=False).returncode != 0:
        return None
    own, pip = str(environment / "bin/python"), [str(environment / "bin/pip"), "--disable-pip-version-check"]

    def install(*packages):
        try:
            done = subprocess.run([*pip, "install", "--quiet", *packages], capture_output=True, text=True, check=False, timeout=PIP_SECONDS)
        except subprocess.TimeoutExpired as error:
            print("cannot be had here:", packages[0], error)
            return False
        if done.returncode != 0:
            print("cannot be had here:", packages[0], done.stderr[-1000:])
        return done.returncode == 0

    # A copy, because setuptools writes into the source.
    tree = directory / "tree"
    shutil.copytree(ROOT / "proto", tree / "proto")
    shutil.copytree(ROOT / "client/python", tree / "client/python")
    boto3 = sys.executable if has_boto3 else own if install("boto3") else None
    package = own if install(str(tree / "client/python")) else None
    if boto3 is None or package is None:
        return None
    return {"boto3": boto3, "boto3-patient": boto3, "boto3-list": boto3, "armature": package, "cli": sys.executable}


def main():
    with tempfile.TemporaryDirectory() as directory:
        pythons = find_pythons(pathlib.Path(directory))
        if pythons is None:
            print("skipped: python3-venv, boto3 or what the package for Python needs cannot be had here")
            return SKIPPED
        for forward in (False, True):
            run(pythons, forward, directory)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("armatured")
    parser.add_argument("armature")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--handovers", type=int, default=1)
    parser.add_argument("--ends", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    ARGUMENTS = parser.parse_args()
    sys.exit(main())
