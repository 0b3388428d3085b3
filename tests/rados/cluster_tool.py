"""Programs against the cluster that with_cluster.py has started: the command line of this project, and Ceph's own."""

import os
import pathlib
import re
import subprocess

CONF = os.environ.get("ARMATURE_RADOS_CONF", "")
POOL = os.environ.get("ARMATURE_RADOS_POOL", "")
DIRECTORY = os.environ.get("ARMATURE_RADOS_DIR", "")
# Flags of daemons.
CLUSTER_FLAGS = (f"--rados_conf={CONF}", f"--rados_user={os.environ.get('ARMATURE_RADOS_USER', '')}")
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/rados-dev"
OSDS = ("0", "1", "2")
COMMAND_SECONDS = 120


def place_of(name):
    """A place that no other run uses, in a cluster that may outlive this one."""
    return f"rados://{POOL}/{name}.{os.getpid()}"


def change_cluster(verb, *osd):
    subprocess.run([TOOL, verb, DIRECTORY, *osd], check=True, stdout=subprocess.DEVNULL)


def rados(place, *arguments):
    """Ceph's tool for the namespace of a place. Returns its output."""
    name_space = place.rsplit("/", 1)[-1]
    command = ["rados", "-c", CONF, "-p", POOL, "-N", name_space, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=COMMAND_SECONDS).stdout


def ceph(*arguments):
    command = ["ceph", "-c", CONF, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=COMMAND_SECONDS).stdout


def objects(place):
    return rados(place, "ls").split()


def files(place):
    """Ids and sizes of the files of a volume by their paths, without directories."""
    listed = rados(place, "listomapvals", "directory")
    found = {}
    for path, dump in re.findall(r"^(/\S*)\nvalue \(\d+ bytes\) :\n((?:[0-9a-f]{8}  .*\n)+)", listed, re.MULTILINE):
        entry = b"".join(bytes.fromhex(line[10:58].replace(" ", "")) for line in dump.splitlines()).decode()
        words = entry.split()
        if words[0] == "file":
            found[path] = (words[1], words[2])
    return found


def run(program, *arguments, timeout=COMMAND_SECONDS, environment=None):
    """A command without a terminal."""
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=timeout, check=False,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, **(environment or {})))
