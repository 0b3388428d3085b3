#!/usr/bin/python3
"""Runs a program with a Ceph cluster on loopback: with_cluster.py [--cephx] PROGRAM ARGUMENT...

The program learns of it from ARMATURE_RADOS_CONF, ARMATURE_RADOS_USER, ARMATURE_RADOS_POOL and ARMATURE_RADOS_DIR. Test
programs in C++ that start daemons put their databases into its pool, because of ARMATURE_TEST_STORE. An
ARMATURE_RADOS_DIR that is set names a cluster that runs already, which is used and left as it is.

Exit status: the program's; 77, skipped, unless ARMATURE_RADOS_TEST is 1 and Ceph's packages are installed.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/rados-dev"
SKIPPED = 77


def main():
    arguments = sys.argv[1:]
    options = [argument for argument in arguments if argument == "--cephx"]
    program = arguments[len(options) :]
    if os.environ.get("ARMATURE_RADOS_TEST") != "1":
        print("skipped: set ARMATURE_RADOS_TEST=1 to run the tests that need a Ceph cluster")
        return SKIPPED
    if not all(shutil.which(name) for name in ("ceph-mon", "ceph-osd", "ceph", "rados")):
        print("skipped: Ceph's packages are missing; tools/setup --rados installs them")
        return SKIPPED
    given = os.environ.get("ARMATURE_RADOS_DIR")
    if given and not options:
        return run(program, given)
    directory = tempfile.mkdtemp(prefix="armature-rados-")
    try:
        subprocess.run([TOOL, "start", directory, *options], check=True)
        return run(program, directory)
    finally:
        subprocess.run([TOOL, "stop", directory, "--remove"], check=False)


def run(program, directory):
    told = subprocess.run([TOOL, "env", directory], check=True, capture_output=True, text=True).stdout
    environment = dict(os.environ, ARMATURE_RADOS_DIR=directory)
    environment.update(line.split("=", 1) for line in told.split())
    environment["ARMATURE_TEST_STORE"] = "rados://" + environment["ARMATURE_RADOS_POOL"]
    return subprocess.run(program, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
