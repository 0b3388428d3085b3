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
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

from daemons_under_load import (
    Client,
    Cluster,
    Load,
    Start,
    await_write,
    await_writes,
    end_owner,
    table,
    under_load,
)

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/rados-dev"
DAEMONS = 3


class AdministrationToo(Load):
    """Also makes and removes tables, indexes and backups."""

    def __init__(self, cluster):
        super().__init__(cluster, [(self.administer, 0)])
        self.tables, self.indexes, self.backups = 0, 0, 0

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


def index_update(kind):
    change = {"IndexName": "by_p"}
    if kind == "Create":
        change |= {"KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}
    return {
        "TableName": "rows",
        "AttributeDefinitions": [{"AttributeName": a, "AttributeType": "S"} for a in ("k", "g", "p")],
        "GlobalSecondaryIndexUpdates": [{kind: change}],
    }


OSDS = ("0", "1", "2")
# The daemons of the cluster that die with each fault, and if writes must go on without them.
CLUSTER_FAULTS = {"osd": (1, True), "osd_pair": (2, False), "outage": (3, False), "monitor": (0, True)}


def end_part_of_store(kind, cluster, load):
    """Daemons of the Ceph cluster die and come back, until a write is acknowledged. Returns the seconds in between."""
    count, goes_on = CLUSTER_FAULTS[kind]
    await_writes(cluster, load)
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
    return time.monotonic() - begun


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
        backups = os.path.join(directory, "backups")
        os.mkdir(backups)
        start = Start(ARGUMENTS.armatured, ("--cache_mb=32", f"--backup_dir={backups}"))
        cluster = Cluster("faults", [start] * DAEMONS, directory)
        load = AdministrationToo(cluster)
        with under_load(cluster, load):
            await_write(cluster, load, time.monotonic())
            faults = [kind for kind, count in counts.items() for _ in range(count)]
            random.Random(ARGUMENTS.seed).shuffle(faults)
            for kind in faults:
                takeovers[kind].append((end_part_of_store if kind in CLUSTER_FAULTS else end_owner)(kind, cluster, load))
    print(f"writes {sum(load.acknowledged)}, reads {load.reads}, tables {load.tables}, index builds {load.indexes}, backups {load.backups}")
    print(load.shared.summary())
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
