"""The starter of daemons, with programs that do not serve and programs that do not close their daemon."""

import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import armature.testing

PATIENCE = 30


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


class TestingTest(unittest.TestCase):
    def test_a_program_that_does_not_serve_is_ended_in_time(self):
        with tempfile.TemporaryDirectory() as directory:
            program, number = pathlib.Path(directory, "silent"), pathlib.Path(directory, "process")
            program.write_text(f"#!/bin/sh\necho 'a line for the log' >&2\necho $$ > {number}\nexec sleep {PATIENCE}\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            begun = time.monotonic()
            with mock.patch.object(armature.testing, "_START_SECONDS", 0.5):
                with self.assertRaisesRegex(RuntimeError, "does not serve within 0.5 seconds: *\na line for the log"):
                    armature.testing.start(str(program))
            self.assertLess(time.monotonic() - begun, PATIENCE)
            self.assertFalse(is_alive(int(number.read_text())))

    def test_a_program_that_ends_takes_its_daemon_along(self):
        text = "import armature.testing; d = armature.testing.start(); print(d.process_id, d._directory)"
        ended = subprocess.run(
            [sys.executable, "-W", "error", "-c", text], stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True
        )
        process, directory = ended.stdout.split()
        alive = is_alive(int(process))
        if alive:
            os.kill(int(process), signal.SIGKILL)
        self.assertFalse(alive)
        self.assertFalse(os.path.exists(directory))

    def test_a_fork_leaves_the_directory_to_the_program(self):
        text = "import os, sys, armature.testing; d = armature.testing.start(); child = os.fork() or sys.exit(0)"
        text += "; os.waitpid(child, 0); print(os.path.exists(d._directory))"
        ended = subprocess.run(
            [sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True
        )
        self.assertEqual(ended.stdout.split()[-1], "True")

    def test_a_closed_daemon_is_forgotten(self):
        with armature.testing.start() as daemon:
            self.assertIn(daemon, armature.testing._open)
        self.assertNotIn(daemon, armature.testing._open)


if __name__ == "__main__":
    unittest.main()
