#!/usr/bin/python3
"""docs/reference/cli-commands.md against the parser, and its examples against a daemon with the tables of `armature demo`.

Run by CTest; by hand: cli_reference_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import DIFFERENCES, PATHS, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S, Daemon  # noqa: E402

PAGE = ROOT / "docs/reference/cli-commands.md"
SECTION = re.compile(r"^## ([a-z-]+(?: [a-z-]+)?)\n(.*?)(?=^## |\Z)", re.M | re.S)
EXAMPLE = re.compile(r"^(Example[^\n]*):\n\n```sh\n(.*?)```\n", re.M | re.S)
# Commands that look for faults may find one on this machine.
MAY_DIFFER = {"doctor"}


def sections():
    return {name: text for name, text in SECTION.findall(PAGE.read_text()) if "Options of" not in name}


class PageTest(CliTest):
    @classmethod
    def setUpClass(cls):
        """No daemon is needed."""

    def test_the_page_is_that_of_the_parser(self):
        page = subprocess.run([PATHS.armature, "man", "--markdown"], capture_output=True, text=True, timeout=WAIT_S, check=True).stdout
        self.assertEqual(page, PAGE.read_text(), "run: armature man --markdown >docs/reference/cli-commands.md")

    def test_every_command_has_an_example(self):
        for name, text in sections().items():
            examples = EXAMPLE.findall(text)
            self.assertEqual(len(examples), 1, name)
            self.assertRegex(examples[0][1], rf"(?m)\barmature {name}\b", name)
        manual = subprocess.run([PATHS.armature, "man"], capture_output=True, text=True, timeout=WAIT_S, check=True).stdout
        commands = {line.removeprefix(".SS armature ").replace("\\-", "-") for line in manual.splitlines() if line.startswith(".SS ")}
        self.assertEqual(set(sections()), commands)


class ExamplesTest(CliTest):
    @classmethod
    def setUpClass(cls):
        """Each test has its own daemon."""

    def setUp(self):
        super().setUp()
        (self.directory / "docs").symlink_to(ROOT / "docs")
        self.environment = {**os.environ, "PATH": f"{pathlib.Path(PATHS.armature).parent}:{os.environ['PATH']}",
                            "XDG_STATE_HOME": str(self.directory / "state"), "XDG_CONFIG_HOME": str(self.directory / "config")}
        self.environment.pop("ARMATURE_PROFILE", None)

    def run_examples(self, kind):
        count = 0
        for name, text in sections().items():
            for introduction, lines in EXAMPLE.findall(text):
                if introduction != kind:
                    continue
                done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", lines], cwd=self.directory, env=self.environment,
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=4 * WAIT_S, check=False)
                allowed = (0, DIFFERENCES) if name in MAY_DIFFER else (0,)
                self.assertIn(done.returncode, allowed, f"{lines}{done.stdout.decode()}{done.stderr.decode()}")
                count += 1
        return count

    def test_examples_work(self):
        with Daemon(PATHS.armatured, f"--backup_dir={self.directory}/backups", f"--archive_dir={self.directory}/archive",
                    data_dir=self.directory / "data") as daemon:
            self.environment["ARMATURE_ENDPOINT"] = daemon.grpc
            subprocess.run([PATHS.armature, "demo"], env=self.environment, capture_output=True, timeout=WAIT_S, check=True)
            self.assertGreater(self.run_examples("Example"), 50)
            self.wait_for_base()
            daemon.stop()
            self.assertGreater(self.run_examples("Example, after the daemon has stopped"), 8)

    def wait_for_base(self):
        """Until the archive has its first base."""


if __name__ == "__main__":
    run_tests()
