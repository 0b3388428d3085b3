#!/usr/bin/python3
"""Daemons whose wall clocks are wrong and jump under load: clock_jumps.py ARMATURED SHIM [--rounds N].

The wall clocks of three daemons differ by a day each. That of the owner jumps by an hour forward and back, in steps of an
hour and of two, while clients write and read: no other daemon may take over, nothing acknowledged may be lost, and no read be older than
what was acknowledged before it began. Then the owner is killed, and the next one, whose clock is another, goes on. Where the
machine permits it, two of the daemons also have a monotonic clock and a time since boot of their own, hours ahead.

Clocks of the cluster are right: its leases run by them.

Run by with_cluster.py, which tests tickets of clients with --cephx, too.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import threading
import time

from daemons_under_load import (
    LEASE_SECONDS,
    Client,
    Cluster,
    Load,
    Start,
    await_condition,
    await_owner,
    await_write,
    await_writes,
    end_owner,
    under_load,
)
from namespaces import Namespace, NotPermitted

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "chaos"))
from shim_control import ShimControl  # pylint: disable=wrong-import-position

HOUR, DAY = 3600, 86_400
OFFSETS = (0, DAY, -DAY)
JUMPS = (HOUR, -HOUR, 0)
# Seconds of the monotonic clock and since boot; None: the machine's.
AHEAD = (None, (7200, 36_000), (100 * HOUR, 1000 * HOUR))
CLOCK_TOLERANCE = 60


class Clocks:
    def __init__(self, directory):
        self.controls, self.starts, self.spaces = [], [], []
        for number, (offset, ahead) in enumerate(zip(OFFSETS, AHEAD)):
            control = ShimControl(pathlib.Path(directory) / f"control{number}")
            control.set_clock_offset(offset)
            self.controls.append(control)
            # It watches no file.
            environment = control.environment(ARGUMENTS.shim, [pathlib.Path(directory) / "none"])
            # The preload is for the daemon, not for the program that enters a namespace.
            prefix = (*self.entrance(ahead), "env", *(f"{name}={value}" for name, value in environment.items()))
            self.starts.append(Start(ARGUMENTS.armatured, ("--cache_mb=32",), prefix))

    def entrance(self, ahead):
        if ahead is None:
            return ()
        try:
            self.spaces.append(Namespace("--time", "--monotonic", str(ahead[0]), "--boottime", str(ahead[1])))
        except NotPermitted:
            return ()
        return self.spaces[-1].entrance("time")

    def close(self):
        for space in self.spaces:
            space.close()


def check_clock(number, cluster, load, offset, name):
    """The daemon's wall clock is off by `offset`, as a new table shows."""
    client, body = Client(cluster, number), {"AttributeName": "k", "KeyType": "HASH"}
    made = client.call(
        "CreateTable",
        {
            "TableName": name,
            "KeySchema": [body],
            "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
        load.stop,
    )
    is_off = made["TableDescription"]["CreationDateTime"] - time.time()
    if abs(is_off - offset) > CLOCK_TOLERANCE:
        load.faults.append(f"the clock of a daemon is off by {is_off:.0f} s, not {offset} s")


def jump(clocks, cluster, load, name):
    """All jumps of the owner's clock. Returns the longest time without an acknowledged write."""
    owner = await_owner(cluster, load)
    number, process = cluster.daemons.index(owner), owner.process
    waiting = [(other, other.process) for other in cluster.others(owner)]
    longest = 0
    for step, by in enumerate(JUMPS):
        clocks.controls[number].set_clock_offset(OFFSETS[number] + by)
        begun = time.monotonic()
        await_write(cluster, load, begun)
        longest = max(longest, time.monotonic() - begun)
        await_writes(cluster, load)
        # Longer than any renewal of the lease.
        await_condition("a lease", lambda begun=begun: time.monotonic() > begun + 2 * LEASE_SECONDS, cluster, load)
        if not owner.is_ready or owner.process is not process:
            load.faults.append(f"the owner ended after a jump of its clock to {by} s")
        if not all(other.is_waiting and other.process is former for other, former in waiting):
            load.faults.append(f"a standby did not go on waiting after a jump of the owner's clock to {by} s")
        check_clock(number, cluster, load, OFFSETS[number] + by, f"{name}.{step}")
    return longest


def run(clocks, directory):
    cluster = Cluster("clocks", clocks.starts, directory)
    takeovers, longest = [], []
    load = Load(cluster)
    with under_load(cluster, load):
        for number in range(ARGUMENTS.rounds):
            longest.append(jump(clocks, cluster, load, f"clock{number}"))
            await_owner(cluster, load)
            takeovers.append(end_owner("kill", cluster, load))
    print(f"writes {sum(load.acknowledged)}, reads {load.reads}, stale {load.stale}")
    print(load.shared.summary())
    print(f"jumps {ARGUMENTS.rounds * len(JUMPS)}, takeovers by them 0, longest time to the next acknowledged write {max(longest):.2f} s")
    print(f"monotonic clocks hours ahead: {len(clocks.spaces)} daemons")
    print(f"kills {len(takeovers)}: median {statistics.median(takeovers):.2f} s, longest {max(takeovers):.2f} s")


def main():
    with tempfile.TemporaryDirectory() as directory:
        clocks = Clocks(directory)
        try:
            run(clocks, directory)
        finally:
            clocks.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("armatured")
    parser.add_argument("shim")
    parser.add_argument("--rounds", type=int, default=3)
    ARGUMENTS = parser.parse_args()
    main()
