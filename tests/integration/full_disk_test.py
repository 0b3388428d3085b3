#!/usr/bin/python3
"""A disk that takes no more: writes are refused by name, reads go on, a restart brings back all that was acknowledged.

The disk is not really full: the daemon's files may not grow beyond a limit, which fails in the same place.
"""

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

FILE_BYTES_MAX = 4 << 20
ITEM_BYTES = 60_000
ARGS = None


class Daemon:
    def __init__(self, data_dir, file_bytes_max):
        self.log = tempfile.TemporaryFile("w+")

        def limit():
            # A file that would grow too large makes write() fail instead of killing the process.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes_max, resource.RLIM_INFINITY))

        self.process = subprocess.Popen(
            [ARGS.armatured, f"--data_dir={data_dir}", "--grpc_listen=127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=self.log, text=True, preexec_fn=limit, restore_signals=False)
        self.endpoint = self.process.stdout.readline().strip().split("grpc=")[1]

    def call(self, *arguments):
        return subprocess.run([ARGS.armature, "--endpoint", self.endpoint, *arguments],
                              capture_output=True, text=True, timeout=60)

    def put(self, key):
        item = {"id": {"S": key}, "text": {"S": "x" * ITEM_BYTES}}
        return self.call("item", "put", "--table-name", "Items", "--item", json.dumps(item))

    def has(self, key):
        answer = self.call("item", "get", "--table-name", "Items", "--key", json.dumps({"id": {"S": key}}))
        return answer.returncode == 0 and "Item" in json.loads(answer.stdout)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.process.stdout.close()
        self.log.seek(0)
        text = self.log.read()
        self.log.close()
        return status, text


class FullDisk(unittest.TestCase):
    def test_writes_are_refused_and_nothing_is_lost(self):
        with tempfile.TemporaryDirectory(prefix="armature_full_") as directory:
            self.run_in(directory + "/data")

    def run_in(self, data_dir):
        daemon = Daemon(data_dir, FILE_BYTES_MAX)
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
        status, log = daemon.stop()
        self.assertEqual(status, 0, log)
        self.assertIn("takes no more writes until the daemon is restarted", log)

        daemon = Daemon(data_dir, resource.RLIM_INFINITY)
        self.assertEqual([key for key in kept if not daemon.has(key)], [])
        self.assertEqual(daemon.put("after").returncode, 0)
        self.assertEqual(daemon.stop()[0], 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
