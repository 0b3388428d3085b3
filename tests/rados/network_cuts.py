#!/usr/bin/python3
"""Daemons that are cut off from their store under load: network_cuts.py ARMATURED [--long N] [--short N]
[--control].

Each daemon has a network of its own, with a link to clients and one to the store. The link to the store of the owner is
cut: packets are lost in both directions or in one, or the link goes down. Clients reach all daemons at any time, also the one
that is cut off, and one of them asks only that one. A cut that is longer than the lease ends with another owner, and the
former one must end with exit status 75 when the network is back at the latest; one that is shorter should change nothing.
No acknowledged write may be lost, and no read be older than what was acknowledged before it began.

--control: instead, the lease is taken from an owner that is cut off, as no operator should. It answers stale reads then, which
the test must see, also as histories that are not linearizable.

Run by with_cluster.py --network. Exit status 77, skipped, if the machine does not permit such networks.
"""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from daemons_under_load import (
    LEASE_SECONDS,
    LOST_DATABASE,
    Cluster,
    Load,
    Start,
    await_condition,
    await_owner,
    await_write,
    await_writes,
    make_table,
    under_load,
)
from namespaces import Host, NotPermitted

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/rados-dev"
SKIPPED = 77
DAEMONS = 2
# Until another daemon has acknowledged a write: the lease, the block of the former owner, the replay, and slow machines.
TAKEOVER_SECONDS_MAX = LEASE_SECONDS + 20
# Long enough to be certain while another daemon takes over.
CONTROL_LEASE_SECONDS = 20
# By the daemon that was cut off, to clients of shared rows.
CONTROL_ANSWERS = 100
END_SECONDS_MAX = 60  # of a daemon that was replaced, since the network was back


class Cuts:
    def __init__(self, hosts, cluster, load):
        self.hosts, self.cluster, self.load = hosts, cluster, load
        self.takeovers = {kind: [] for kind in Host.KINDS}  # seconds from the cut
        self.ends = {kind: [] for kind in Host.KINDS}  # seconds from the return of the network; negative: before it
        self.pauses = {kind: [] for kind in Host.KINDS}  # seconds from a short cut
        self.replaced_by_short = []  # seconds of the cut, and its kind
        self.reads_while_cut, self.reads_late = 0, 0

    def cut(self, owner, kind, seconds, while_cut=lambda: None):
        """Returns the times of the begin and the end, and, if the owner has ended meanwhile, of that."""
        number = self.cluster.daemons.index(owner)
        process, ended = owner.process, None
        reads = self.load.reads_of[number]
        # A daemon that is started without its store would only wait for it.
        owner.is_held = True
        begun = time.monotonic()
        self.hosts[number].cut(kind)
        try:
            while_cut()

            def is_over():
                nonlocal ended
                if ended is None and process.poll() is not None:
                    ended = time.monotonic()
                return time.monotonic() >= begun + seconds

            await_condition("a cut", is_over, self.cluster, self.load)
        finally:
            self.hosts[number].restore()
        self.reads_while_cut += self.load.reads_of[number] - reads
        return begun, time.monotonic(), ended

    def await_serving(self):
        """The owner, and its process, once writes pass: an owner that was replaced meanwhile is none any more."""
        while True:
            owner = await_owner(self.cluster, self.load)
            process = owner.process
            await_writes(self.cluster, self.load)
            if owner.is_ready and owner.process is process and self.cluster.owner() is owner:
                return owner, process

    def cut_long(self, kind, seconds):
        owner, process = self.await_serving()
        (other,) = self.cluster.others(owner)
        begun = time.monotonic()

        def until_replaced():
            await_condition(f"nobody takes over after cut {kind}", lambda: other.is_ready, self.cluster, self.load, TAKEOVER_SECONDS_MAX)
            await_write(self.cluster, self.load, time.monotonic())
            self.takeovers[kind].append(time.monotonic() - begun)
            if self.takeovers[kind][-1] > TAKEOVER_SECONDS_MAX:
                self.load.faults.append(f"{self.takeovers[kind][-1]:.1f} s until a write after cut {kind}")

        _, returned, ended = self.cut(owner, kind, seconds, until_replaced)
        await_condition(
            f"the former owner does not end after cut {kind}", lambda: process.poll() is not None, self.cluster, self.load, END_SECONDS_MAX
        )
        self.ends[kind].append((ended or time.monotonic()) - returned)
        if process.poll() != LOST_DATABASE:
            self.load.faults.append(f"exit status {process.poll()} after cut {kind}")
        owner.is_held = False

    def cut_short(self, kind, seconds):
        owner, process = self.await_serving()
        begun, _, _ = self.cut(owner, kind, seconds)
        await_write(self.cluster, self.load, time.monotonic())
        self.pauses[kind].append(time.monotonic() - begun)
        # A packet that is repeated late can cost the lease after the cut.
        over = time.monotonic() + 2 * LEASE_SECONDS
        await_condition("a takeover", lambda: time.monotonic() > over, self.cluster, self.load)
        status = process.poll()
        if status is not None or any(d.is_ready for d in self.cluster.others(owner)):
            self.replaced_by_short.append(f"{seconds:.1f} s {kind}")
        if status not in (None, LOST_DATABASE):
            self.load.faults.append(f"exit status {status} after a short cut {kind}")
        owner.is_held = False

    def show(self):
        reads = f"{self.load.reads}, {self.reads_while_cut} of them by a daemon that was cut off"
        print(f"writes {sum(self.load.acknowledged)}, reads {reads}, stale {self.load.stale}")
        print(self.load.shared.summary())
        for kind in Host.KINDS:
            if self.takeovers[kind]:
                ends = ", ".join(f"{each:.1f}" for each in self.ends[kind])
                times = f"median {statistics.median(self.takeovers[kind]):.2f} s, longest {max(self.takeovers[kind]):.2f} s"
                print(f"long {kind}: {len(self.ends[kind])}, until the next acknowledged write: {times}")
                print(f"  the former owner's end, from the return of the network: {ends} s")
            if self.pauses[kind]:
                times = f"median {statistics.median(self.pauses[kind]):.2f} s, longest {max(self.pauses[kind]):.2f} s"
                print(f"short {kind}: {len(self.pauses[kind])}, until the next acknowledged write after it: {times}")
        print(f"takeovers by short cuts: {len(self.replaced_by_short)} {self.replaced_by_short}")


def make_cluster(hosts, directory, **options):
    flags = ("--cache_mb=32", "--insecure")
    return Cluster("cuts", [Start(ARGUMENTS.armatured, flags, host.entrance, host.address, **options) for host in hosts], directory)


def see_stale_reads(hosts, directory):
    cluster = make_cluster(hosts, directory, lease_seconds=CONTROL_LEASE_SECONDS)
    try:
        load = Load(cluster)
        make_table(cluster)
        load.start()
        try:
            owner = await_owner(cluster, load)
            await_writes(cluster, load)
            number = cluster.daemons.index(owner)
            hosts[number].cut("both")
            place = (os.environ["ARMATURE_RADOS_DIR"], os.environ["ARMATURE_RADOS_POOL"], cluster.name_space)
            subprocess.run([TOOL, "break-lease", *place], check=True)
            end = time.monotonic() + CONTROL_LEASE_SECONDS
            enough = load.shared.answered_by[number] + CONTROL_ANSWERS
            while not (load.stale and load.shared.answered_by[number] >= enough) and time.monotonic() < end:
                time.sleep(0.01)
        finally:
            load.end()
    finally:
        cluster.close()
    if not load.stale:
        raise SystemExit("the control has seen no stale read")
    print(f"control: {load.stale} stale reads, the first one: {load.faults[0]}")
    violations = load.shared.check()
    print(load.shared.summary())
    if not violations:
        raise SystemExit("the control has seen only linearizable histories")
    print(violations[0])


def cut_all(hosts, directory):
    chance = random.Random(ARGUMENTS.seed)
    cluster = make_cluster(hosts, directory)
    load = Load(cluster)
    cuts = Cuts(hosts, cluster, load)
    with under_load(cluster, load):
        plan = [(cuts.cut_long, Host.KINDS[n % 4], LEASE_SECONDS * chance.uniform(1.5, 6)) for n in range(ARGUMENTS.long)]
        plan += [(cuts.cut_short, Host.KINDS[n % 4], LEASE_SECONDS * chance.uniform(0.1, 0.8)) for n in range(ARGUMENTS.short)]
        chance.shuffle(plan)
        for cut, kind, seconds in plan:
            cut(kind, seconds)
        await_owner(cluster, load)
    cuts.show()


def main():
    hosts = []
    try:
        try:
            if "ARMATURE_RADOS_ADDRESS" not in os.environ:
                raise NotPermitted("run it by with_cluster.py --network")
            for number in range(DAEMONS):
                hosts.append(Host(number, os.environ["ARMATURE_RADOS_ADDRESS"]))
        except NotPermitted as refused:
            print("skipped:", refused)
            return SKIPPED
        with tempfile.TemporaryDirectory() as directory:
            (see_stale_reads if ARGUMENTS.control else cut_all)(hosts, directory)
    finally:
        for host in hosts:
            host.close()
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("armatured")
    parser.add_argument("--long", type=int, default=4)
    parser.add_argument("--short", type=int, default=4)
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    ARGUMENTS = parser.parse_args()
    sys.exit(main())
