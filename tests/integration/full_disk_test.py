#!/usr/bin/python3
"""A disk that takes no more: writes are refused by name, reads go on, a restart brings back all that was acknowledged.

The disk is not really full: the daemon's files may not grow beyond a limit, which fails in the same place.
"""

import argparse
import json
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import Daemon  # noqa: E402

FILE_BYTES_MAX = 4 << 20
ITEM_BYTES = 60_000
ARGS = None


def limit_files(file_bytes_max):
    """For a process that is about to start."""
    # A file that would grow too large makes write() fail instead of killing the process.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes_max, resource.RLIM_INFINITY))


class SmallDisk(Daemon):
    """A daemon whose files may not grow beyond a size."""

    def __init__(self, data_dir, file_bytes_max):
        super().__init__(ARGS.armatured, data_dir=data_dir, preexec_fn=lambda: limit_files(file_bytes_max),
                         restore_signals=False)

    def call(self, *arguments):
        return subprocess.run([ARGS.armature, "--endpoint", self.grpc, *arguments],
                              capture_output=True, text=True, timeout=60)

    def put(self, key):
        item = {"id": {"S": key}, "text": {"S": "x" * ITEM_BYTES}}
        return self.call("item", "put", "--table-name", "Items", "--item", json.dumps(item))

    def has(self, key):
        answer = self.call("item", "get", "--table-name", "Items", "--key", json.dumps({"id": {"S": key}}))
        return answer.returncode == 0 and "Item" in json.loads(answer.stdout)


class FullDisk(unittest.TestCase):
    def test_writes_are_refused_and_nothing_is_lost(self):
        with tempfile.TemporaryDirectory(prefix="armature_full_") as directory:
            self.run_in(directory + "/data")

    def run_in(self, data_dir):
        with SmallDisk(data_dir, FILE_BYTES_MAX) as daemon:
            kept = self.fill(daemon)
        with SmallDisk(data_dir, resource.RLIM_INFINITY) as daemon:
            self.assertEqual([key for key in kept if not daemon.has(key)], [])
            self.assertEqual(daemon.put("after").returncode, 0)
            self.assertEqual(daemon.stop(), 0)

    def fill(self, daemon):
        """What was acknowledged before the disk took no more."""
        created = daemon.call("table", "create", "--table-name", "Items", "--billing-mode", "PAY_PER_REQUEST",
                              "--attribute-definitions", "AttributeName=id,AttributeType=S",
                              "--key-schema", "AttributeName=id,KeyType=HASH")
        self.assertEqual(created.returncode, 0, created.stderr)
        while "ACTIVE" not in daemon.call("table", "describe", "--table-name", "Items").stdout:
            pass
        kept = []
        for number in range(2 * FILE_BYTES_MAX // ITEM_BYTES):
            answer = daemon.put(f"item-{number}")
            if answer.returncode != 0:
                break
            kept.append(f"item-{number}")
        self.assertGreater(len(kept), 10)
        self.assertIn("ServiceUnavailable", answer.stderr)
        self.assertNotEqual(daemon.put("one more").returncode, 0)
        self.assertIsNone(daemon.process.poll(), "the daemon is gone")
        self.assertTrue(daemon.has(kept[0]))
        self.assertTrue(daemon.has(kept[-1]))
        # There is room again. Whether writes are taken before a restart is not promised; that it lives on is.
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        daemon.put("later")
        self.assertIsNone(daemon.process.poll(), "the daemon is gone")
        self.assertEqual(daemon.stop(), 0, daemon.log())
        self.assertIn("takes no more writes until the daemon is restarted", daemon.log())
        return kept


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
