"""What tests of the command line share: the tool, a daemon for it to call, a directory."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from armature_daemon import WAIT_S, Daemon

# Of the programs; filled by run_tests.
PATHS = argparse.Namespace()

# The tool's exit codes.
API_ERROR = 1
USAGE_ERROR = 2
UNREACHABLE = 3
DIFFERENCES = 4
INPUT_ERROR = 5


class CliTest(unittest.TestCase):
    """A class of tests with a daemon, and a directory for each of them."""

    FLAGS = ()  # of the daemon

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
        """What it answered, from JSON; None for nothing."""
        done = self.run_cli(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout) if done.stdout.strip() else None

    def failing(self, exit_code, *arguments):
        """What it wrote to stderr."""
        done = self.run_cli(*arguments)
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()


def run_tests():
    """The tests of the program that calls it: ... --armatured PATH --armature PATH [unittest arguments]"""
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    parsed, rest = parser.parse_known_args()
    vars(PATHS).update(vars(parsed))
    unittest.main(argv=[sys.argv[0], *rest])
