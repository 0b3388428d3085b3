#!/usr/bin/python3
"""Runs a program with a Ceph cluster on loopback: with_cluster.py [--cephx] [--network] PROGRAM ARGUMENT...

The program learns of it from ARMATURE_RADOS_CONF, ARMATURE_RADOS_USER, ARMATURE_RADOS_POOL and ARMATURE_RADOS_DIR. Test
programs in C++ that start daemons put their databases into its pool, because of ARMATURE_TEST_STORE. An
ARMATURE_RADOS_DIR that is set names a cluster that runs already, which is used and left as it is.

--network: cluster and program run in a network namespace of their own, in which the cluster has an address that other
namespaces can reach: ARMATURE_RADOS_ADDRESS. It goes away with the last process in it.

Exit status: the program's; 77, skipped, unless ARMATURE_RADOS_TEST is 1, Ceph's packages are installed and, with
--network, the machine permits namespaces.
"""

import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/rados-dev"
SKIPPED = 77
OPTIONS = ("--cephx", "--network")
# Set aside for documentation, so it is no address of the machine.
CLUSTER_ADDRESS = "192.0.2.1"


def main():
    options = list(itertools.takewhile(lambda argument: argument in OPTIONS, sys.argv[1:]))
    program = sys.argv[1 + len(options) :]
    if os.environ.get("ARMATURE_RADOS_TEST") != "1":
        print("skipped: set ARMATURE_RADOS_TEST=1 to run the tests that need a Ceph cluster")
        return SKIPPED
    if not all(shutil.which(name) for name in ("ceph-mon", "ceph-osd", "ceph", "rados")):
        print("skipped: Ceph's packages are missing; tools/setup --rados installs them")
        return SKIPPED
    if "--network" in options:
        enter_network(program, options)
        return SKIPPED
    given = os.environ.get("ARMATURE_RADOS_DIR")
    address = os.environ.get("ARMATURE_RADOS_ADDRESS")
    if given and not options and not address:
        return run(program, given)
    if address:
        options = [*options, "--address", address]
    directory = tempfile.mkdtemp(prefix="armature-rados-")
    try:
        subprocess.run([TOOL, "start", directory, *options], check=True)
        return run(program, directory)
    finally:
        subprocess.run([TOOL, "stop", directory, "--remove"], check=False)


def enter_network(program, options):
    """Begins again in a network of its own. Returns only if that is not possible."""
    if not all(shutil.which(name) for name in ("ip", "unshare", "nsenter")):
        print("skipped: the programs ip, unshare and nsenter are missing")
        return
    # Users other than root may make networks in a namespace in which they are root.
    enter = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    set_up = f"ip link set lo up && ip address add {CLUSTER_ADDRESS}/32 dev lo && ip link add probe type veth peer name other"
    tried = subprocess.run([*enter, "sh", "-c", set_up], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        print("skipped: the machine does not permit networks of a process:", tried.stderr.strip())
        return
    rest = [option for option in options if option != "--network"]
    again = ["sh", "-c", f'{set_up} && ip link delete probe && exec "$@"', "sh", sys.executable, __file__, *rest, *program]
    sys.stdout.flush()
    os.execvpe(enter[0], [*enter, *again], dict(os.environ, ARMATURE_RADOS_ADDRESS=CLUSTER_ADDRESS))


def run(program, directory):
    told = subprocess.run([TOOL, "env", directory], check=True, capture_output=True, text=True).stdout
    environment = dict(os.environ, ARMATURE_RADOS_DIR=directory)
    environment.update(line.split("=", 1) for line in told.split())
    environment["ARMATURE_TEST_STORE"] = "rados://" + environment["ARMATURE_RADOS_POOL"]
    return subprocess.run(program, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
