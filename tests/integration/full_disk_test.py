#!/usr/bin/python3
"""A full disk: writes are refused with their exception, reads work, no acknowledged write is lost, and writes resume without
a restart when there is space.

Some tests use a small file system, which needs root, and the daemon reacts to its free space. The others limit the size
of the daemon's files, so that a write itself fails; they need no mount.
"""

import argparse
import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import Daemon  # noqa: E402

FILE_BYTES_MAX = 4 << 20
DISK_BYTES = 64 << 20
ITEM_BYTES = 100_000
WAIT_S = 60
ARGS = None


def limit_files(file_bytes_max):
    """Limits the size of files of a process that is about to start."""
    # With SIGXFSZ ignored, write() fails instead of killing the process.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes_max, resource.RLIM_INFINITY))


@contextlib.contextmanager
def small_disk(size_bytes):
    """The mount point of a file system of that size. Skips the test if none can be mounted."""
    with tempfile.TemporaryDirectory(prefix="armature_full_") as directory:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", directory],
                                 capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            raise unittest.SkipTest(f"no file system can be mounted: {mounted.stderr.strip()}")
        try:
            yield pathlib.Path(directory)
        finally:
            subprocess.run(["umount", "--lazy", directory], check=True)


class TestedDaemon(Daemon):
    """A daemon with the table Items, and a list of acknowledged keys."""

    def __init__(self, data_dir, *flags, file_bytes_max=resource.RLIM_INFINITY):
        super().__init__(ARGS.armatured, *flags, data_dir=str(data_dir),
                         preexec_fn=lambda: limit_files(file_bytes_max), restore_signals=False)
        self.kept = []

    def create(self):
        self.create_table("Items")

    def put(self, key):
        """Puts an item. Returns status and document of the answer."""
        answer = self.json_call("PutItem", TableName="Items", Item={"id": {"S": key}, "text": {"S": "x" * ITEM_BYTES}})
        if is_taken(answer):
            self.kept.append(key)
        return answer

    def has(self, key):
        status, answer = self.json_call("GetItem", TableName="Items", Key={"id": {"S": key}})
        return status == 200 and "Item" in answer

    def lost(self):
        return [key for key in self.kept if not self.has(key)]

    def put_until(self, name, condition):
        """Puts items until `condition(answer)` is true. Returns that answer."""
        deadline = time.monotonic() + WAIT_S
        number = 0
        while time.monotonic() < deadline:
            answer = self.put(f"{name}-{number}")
            if condition(answer):
                return answer
            number += 1
            if is_refused(answer):
                # The daemon checks the disk once a second and needs processor time for it.
                threading.Event().wait(0.02)
        raise AssertionError(f"nothing changed in {WAIT_S} s; the last answer: {answer}\n{self.log()}")


def is_taken(answer):
    return answer[0] == 200


def is_refused(answer):
    return answer[0] != 200


class FullDisk(unittest.TestCase):
    def check_refusal(self, answer, text):
        status, document = answer
        self.assertEqual(status, 503)
        self.assertTrue(document["__type"].endswith("#ServiceUnavailable"), document)
        self.assertTrue(document["message"].startswith(text), document)

    def check_reads_and_restart(self, daemon, data_dir):
        """Checks that no acknowledged item is lost, before and after a kill."""
        self.assertIsNone(daemon.process.poll(), "the daemon is gone")
        self.assertEqual(daemon.lost(), [])
        daemon.kill()
        with TestedDaemon(data_dir, "--disk_reserve=0") as again:
            again.kept = daemon.kept
            self.assertEqual(again.lost(), [])
            self.assertTrue(is_taken(again.put("after")))
            self.assertEqual(again.stop(), 0)

    def test_writes_stop_before_the_disk_is_full_and_go_on_when_there_is_space(self):
        with small_disk(DISK_BYTES) as disk, TestedDaemon(disk / "data", "--disk_reserve=25%") as daemon:
            daemon.create()
            ballast = disk / "ballast"
            self.assertTrue(is_taken(daemon.put("first")))
            used = os.statvfs(disk)
            with open(ballast, "wb") as file:
                file.write(b"x" * (used.f_bavail * used.f_frsize - DISK_BYTES // 4 - (2 << 20)))
            refused = daemon.put_until("filling", is_refused)
            self.check_refusal(refused, "The server's disk is nearly full")
            left = os.statvfs(disk)
            self.assertGreater(left.f_bavail * left.f_frsize, DISK_BYTES // 8)
            self.assertEqual(daemon.lost(), [])
            self.check_refusal(
                daemon.json_call("CreateTable", TableName="More", BillingMode="PAY_PER_REQUEST",
                                 AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                                 KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}]), "The server's disk is nearly full")
            ballast.unlink()
            daemon.put_until("resumed", is_taken)
            self.check_reads_and_restart(daemon, disk / "data")

    def test_a_table_may_be_deleted_to_make_space(self):
        with small_disk(DISK_BYTES) as disk, TestedDaemon(disk / "data", "--disk_reserve=25%") as daemon:
            daemon.create()
            used = os.statvfs(disk)
            with open(disk / "ballast", "wb") as file:
                file.write(b"x" * (used.f_bavail * used.f_frsize - DISK_BYTES // 5))
            daemon.put_until("refused", is_refused)
            self.assertEqual(daemon.json_call("DeleteTable", TableName="Items")[0], 200)

    @contextlib.contextmanager
    def ballast(self, disk):
        """A context in which the disk is full."""
        self.fill(disk)
        yield
        (disk / "ballast").unlink()

    def fill(self, disk):
        with open(disk / "ballast", "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)

    def test_writes_go_on_without_a_restart_after_the_disk_was_full(self):
        with small_disk(DISK_BYTES) as disk, TestedDaemon(disk / "data", "--disk_reserve=0") as daemon:
            daemon.create()
            # Several times, because each failure leaves a log file behind.
            for turn in range(3):
                daemon.put_until(f"before-{turn}", is_taken)
                with self.ballast(disk):
                    refused = daemon.put_until(f"filling-{turn}", is_refused)
                    self.check_refusal(refused, "The server's disk is full")
                    self.assertEqual(daemon.lost(), [])
                daemon.put_until(f"resumed-{turn}", is_taken)
            self.assertNotIn("until the daemon is restarted", daemon.log())
            self.check_reads_and_restart(daemon, disk / "data")

    def test_a_daemon_whose_disk_is_full_can_be_stopped(self):
        with small_disk(DISK_BYTES) as disk:
            with TestedDaemon(disk / "data", "--disk_reserve=0") as daemon:
                daemon.create()
                with self.ballast(disk):
                    daemon.put_until("filling", is_refused)
                    self.assertEqual(daemon.stop(), 0)
            self.assertGreater(len(daemon.kept), 0)
            with TestedDaemon(disk / "data", "--disk_reserve=0") as again:
                again.kept = daemon.kept
                self.assertEqual(again.lost(), [])

    def test_a_killed_daemon_starts_on_a_full_disk_for_reads(self):
        with small_disk(DISK_BYTES) as disk, contextlib.ExitStack() as daemons:
            def start():
                return daemons.enter_context(TestedDaemon(disk / "data", "--disk_reserve=0"))
            daemon = start()
            daemon.create()
            self.wait_for_spare(disk / "data")
            with self.ballast(disk):
                daemon.put_until("filling", is_refused)
                kept = daemon.kept
                for turn in range(3):
                    daemon.kill()
                    if turn == 0:
                        self.fill(disk)  # a process that ends gives space back
                    daemon = start()
                    daemon.kept = kept
                    self.assertEqual(daemon.lost(), [])
                    self.check_refusal(daemon.put("refused"), "The server's disk is full")
            daemon.put_until("resumed", is_taken)
            self.wait_for_spare(disk / "data")
            self.check_reads_and_restart(daemon, disk / "data")

    def wait_for_spare(self, data_dir):
        deadline = time.monotonic() + WAIT_S
        while not (data_dir / "db" / "armature.spare").exists():
            self.assertLess(time.monotonic(), deadline)
            threading.Event().wait(0.02)

    def test_a_log_that_takes_no_more_is_followed_by_a_new_one(self):
        with tempfile.TemporaryDirectory(prefix="armature_full_") as directory:
            with TestedDaemon(directory + "/data", "--disk_reserve=0", file_bytes_max=FILE_BYTES_MAX) as daemon:
                daemon.create()
                refused = daemon.put_until("filling", is_refused)
                self.assertGreater(len(daemon.kept), 10)
                self.check_refusal(refused, "The server's disk is full")
                daemon.put_until("resumed", is_taken)
                self.check_reads_and_restart(daemon, directory + "/data")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
