#!/usr/bin/python3
"""The code of README.md and of the pages for users runs as it stands there.

Each page has a daemon of its own with the sample tables, a scratch directory that looks like a tree with a release build,
and its blocks run there in one shell, in their order. blocks.py has the marks of those that do not. A block whose program
or package is not installed is left out. The test ends with a list of all that was not run, and why.

Run by CTest; by hand: documents_test.py --armatured PATH --armature PATH [--work DIR] [unittest arguments]. With --work, blocks of
JavaScript run, too, with packages that npm installs below DIR.
"""

import argparse
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from blocks import COMPILED, ROOT, blocks_of, pages, read

sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/clients")]
from armature_daemon import Daemon, client_environment  # noqa: E402
from client_programs import npm_clients  # noqa: E402

OPTIONS = argparse.Namespace(work=None)
PAGE_S = 300
# Programs of others; a block that calls one which is not there is left out.
PROGRAMS = re.compile(r"^\s*(?:\w+=\S+ )*(aws|curl|docker|protoc|jq|openssl)\b", re.MULTILINE)
PACKAGES = re.compile(r"^(?:import|from) (boto3|grpc|pytest)\b", re.MULTILINE)
# Directories of the pages that a test has in its scratch directory instead.
PLACES = re.compile(r"(?<![\w./-])/(tmp|backup|archive|srv)(?=/)")
# Parts of the output of a page's commands.
EXPECTED = {"README.md": ("order-9001", "fee added", "SUM(amount)"),
            "docs/start/five-minutes.md": ("order-9001", "fee added", "Meteor Blasters", "ByVisitor", '"help"')}
DEFAULT_FLAGS = ("--index_reads=settled", "--noenforce_throughput")


def missing(block):
    """The program or package that a block needs and that is not installed; None if all is there."""
    for program in PROGRAMS.findall(block.code) if block.language in ("sh", "bash") else ():
        if shutil.which(program) is None:
            return program
    for package in PACKAGES.findall(block.code) if block.language != "js" else ():
        if importlib.util.find_spec(package) is None:
            return package
    return None


class Scratch:
    """A directory in which a reader of the page would be: a tree with a release build, whose programs are on the path."""

    def __init__(self, path, daemon):
        self.path, self.daemon = pathlib.Path(path), daemon
        for name in ("docs", "proto", "tools", "packaging", "client", "tests"):
            (self.path / name).symlink_to(ROOT / name)
        self.programs = self.path / "build/release"
        self.programs.mkdir(parents=True)
        for name in ("armatured", "armature"):
            wrapper = self.programs / name
            wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(getattr(OPTIONS, name))} "$@"\n')
            wrapper.chmod(0o755)
        for place in ("tmp", "backup", "archive", "srv"):
            (self.path / "places" / place).mkdir(parents=True)

    def adapted(self, code):
        """The code with the addresses of the page's daemon, and with places in the scratch directory."""
        code = re.sub(r"\b(?:127\.0\.0\.1|localhost):7700\b", self.daemon.grpc, code)
        code = re.sub(r"\b(?:127\.0\.0\.1|localhost):7701\b", self.daemon.http, code)
        code = re.sub(r"\b(?:127\.0\.0\.1|localhost):7702\b", self.daemon.metrics, code)
        return PLACES.sub(f"{self.path}/places/\\1", code)

    def command(self, block, number):
        """The lines of shell that run a block."""
        code = self.adapted(block.code)
        if block.language in ("sh", "bash"):
            return code
        runner = "node" if block.language == "js" else "/usr/bin/python3" + " -m pytest -q" * ("import pytest" in code)
        file = self.path / f"test_block{number}.{'mjs' if block.language == 'js' else 'py'}"
        file.write_text(code)
        return f"{runner} {file.name}\n"

    def run(self, page, blocks):
        """Runs the blocks in one shell. Returns the exit status and the output: of a failure from the place of its block on."""
        script = ["set -euo pipefail; shopt -s expand_aliases; export PATH\n"]
        for number, block in enumerate(blocks):
            script.append(f"echo '@@ {page}:{block.line}'\n{self.command(block, number)}")
        environment = client_environment(
            PATH=f"{self.programs}:{os.environ['PATH']}", ARMATURE_ENDPOINT=self.daemon.grpc, HOME=str(self.path),
            PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run(["bash", "-c", "".join(script)], cwd=self.path, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PAGE_S, check=False)
        return done.returncode, done.stdout if done.returncode == 0 else "@@ " + done.stdout.rsplit("@@ ", 1)[-1]


class Marks(unittest.TestCase):
    def test_blocks_and_marks_are_read(self):
        text = ("```sh\na\n```\n\n<!-- not run: root -->\n```sh\nb\n```\n```python\nc\n```\n"
                "- x\n\n  <!-- run by tests/x.py -->\n  ```js\n  d\n   e\n  ```\n```json\n{}\n```\n")
        found = [(block.language, block.line, block.code, block.reason, block.runner) for block in blocks_of("p.md", text)]
        self.assertEqual(found, [("sh", 2, "a\n", None, None), ("sh", 7, "b\n", "root", None), ("python", 10, "c\n", None, None),
                                 ("js", 16, "d\n e\n", None, "tests/x.py")])

    def test_runners_name_the_page(self):
        for page in pages():
            for block in read(page):
                if block.runner:
                    with self.subTest(str(block)):
                        runner = (ROOT / block.runner).read_text(encoding="utf-8")
                        self.assertIn(page if page.startswith("docs/") else "README.md", runner)

    def test_blocks_of_compiled_languages_say_who_runs_them(self):
        for page in pages():
            for block in read(page):
                self.assertFalse(block.is_ours() and block.language in COMPILED, f"{block}: mark it")

    def test_a_failing_block_is_told_by_its_place(self):
        with tempfile.TemporaryDirectory(prefix="armature_documents_") as directory, Daemon(
                OPTIONS.armatured, "--metrics_listen=127.0.0.1:0") as daemon:
            scratch = Scratch(directory, daemon)
            text = "```sh\nexport A=1\n```\n```sh\ntest $A = 1\necho b; (exit 7)\n```\n"
            self.assertEqual(scratch.run("p.md", blocks_of("p.md", text)), (7, "@@ p.md:5\nb\n"))
            text = "```python\nprint(4)\n```\n"
            self.assertEqual(scratch.run("p.md", blocks_of("p.md", text)), (0, "@@ p.md:2\n4\n"))
            status, told = scratch.run("p.md", blocks_of("p.md", "```python\nassert 0\n```\n"))
            self.assertEqual(status, 1)
            self.assertIn("AssertionError", told)


class Pages(unittest.TestCase):
    left_out = []
    npm = None

    @classmethod
    def setUpClass(cls):
        if OPTIONS.work:
            cls.npm = npm_clients(OPTIONS.work)

    @classmethod
    def tearDownClass(cls):
        print(f"\nnot run ({len(cls.left_out)}):", *sorted(cls.left_out), sep="\n  ", flush=True)

    def chosen(self, page):
        """The blocks of a page that this run executes; the others are noted."""
        found = []
        for block in read(page):
            if not block.is_ours():
                self.left_out.append(f"{block}: {block.reason or 'run by ' + block.runner}")
            elif block.language == "js" and self.npm is None:
                self.left_out.append(f"{block}: needs packages of npm")
            elif (absent := missing(block)) is not None:
                self.left_out.append(f"{block}: {absent} is not installed")
            else:
                found.append(block)
        return found

    def test_the_code_runs(self):
        for page in pages():
            if not (blocks := self.chosen(page)):
                continue
            with self.subTest(page), tempfile.TemporaryDirectory(prefix="armature_documents_") as directory:
                flags = (*DEFAULT_FLAGS, "--metrics_listen=127.0.0.1:0", f"--backup_dir={directory}/places/backup/armature")
                with Daemon(OPTIONS.armatured, *flags) as daemon:
                    loaded = subprocess.run(["bash", str(ROOT / "tools/demo/load.sh"), daemon.grpc, OPTIONS.armature],
                                            capture_output=True, text=True, timeout=PAGE_S, check=False)
                    self.assertEqual(loaded.returncode, 0, loaded.stderr)
                    scratch = Scratch(directory, daemon)
                    if self.npm:
                        (scratch.path / "node_modules").symlink_to(pathlib.Path(self.npm).resolve() / "node_modules")
                    status, output = scratch.run(page, blocks)
                    self.assertEqual(status, 0, f"\n{output}\n{daemon.log()[-2000:]}")
                    for expected in EXPECTED.get(page, ()):
                        self.assertIn(expected, output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    parser.add_argument("--work", help="a folder for packages of npm: blocks of JavaScript run, too")
    parsed, rest = parser.parse_known_args()
    vars(OPTIONS).update(vars(parsed))
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
