"""Rules for programs that meet a lost file: they name it, and never abort. For tests of local directories and of Ceph RADOS."""

import re
import signal

# Lines of logs: of this project and of RocksDB by way of it, of librados.
LOG_LINE = re.compile(r"^([IWEF]\d{4,8} |WARNING: Logging before|\d{4}-\d\d-\d\dT\S+ [0-9a-f]+ +-?\d+ )")
# Files that are empty, or hold nothing that is not known otherwise: made anew without a word.
WORTHLESS = ("LOCK", "armature.spare", "armature.place")


def name_of(path):
    return path.rsplit("/", 1)[-1]


def is_worthless(path):
    return name_of(path) in WORTHLESS


def check_command(test, what, done):
    """A command without a daemon: it is not ended by a signal, and writes no lines of logs."""
    test.assertGreaterEqual(done.returncode, 0, f"{what}: {done.stderr}")
    test.assertNotEqual(done.returncode, 128 + signal.SIGABRT, f"{what}: {done.stderr}")
    logged = [line for line in done.stderr.splitlines() if LOG_LINE.match(line)]
    test.assertEqual(logged, [], what)


def check_named(test, what, written, names):
    test.assertTrue(any(name in written for name in names), f"{what}: none of {names} in: {written}")
