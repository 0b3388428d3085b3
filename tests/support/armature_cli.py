"""Shared helpers of command line tests: the tool, a daemon, a directory."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from armature_daemon import WAIT_S, Daemon

# Paths of the programs, set by run_tests.
PATHS = argparse.Namespace()

# The tool's exit codes.
API_ERROR = 1
USAGE_ERROR = 2
UNREACHABLE = 3
DIFFERENCES = 4
INPUT_ERROR = 5


class CliTest(unittest.TestCase):
    """Base of tests with one daemon for the class and a directory for each test."""

    FLAGS = ()  # flags of the daemon

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(PATHS.armatured, *cls.FLAGS).__enter__()
        cls.addClassCleanup(cls.daemon.__exit__, None, None, None)

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="armature_cli_")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def create(self, definition):
        self.cli("table", "create", "--cli-input-json", json.dumps(definition), "--wait")

    def command(self, *arguments):
        return [PATHS.armature, "--endpoint", self.daemon.grpc, *map(str, arguments)]

    def run_cli(self, *arguments, **options):
        return subprocess.run(self.command(*arguments), capture_output=True, timeout=10 * WAIT_S, check=False, **options)

    def cli(self, *arguments, **options):
        """Runs a command. Returns its parsed output, None if there is none."""
        done = self.run_cli(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout) if done.stdout.strip() else None

    def failing(self, exit_code, *arguments):
        """Runs a command that fails with `exit_code`. Returns its stderr."""
        done = self.run_cli(*arguments)
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()


def run_tests():
    """Runs the tests of the calling program: ... --armatured PATH --armature PATH [unittest arguments]"""
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    parsed, rest = parser.parse_known_args()
    vars(PATHS).update(vars(parsed))
    unittest.main(argv=[sys.argv[0], *rest])
