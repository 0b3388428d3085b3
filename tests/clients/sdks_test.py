#!/usr/bin/python3
"""Small programs of SDKs and mappers of the original API, each from its registry, against a real daemon.

Each creates a table with a global index, puts, reads, updates, pages, queries the index, runs transactions, and lets conditions
fail. A program whose toolchain or packages cannot be had is skipped.

Run by CTest; by hand: sdks_test.py --armatured PATH --work DIR [unittest arguments]
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from armature_daemon import Daemon, client_environment  # noqa: E402
from client_programs import TIMEOUT_S, node_script, npm_clients  # noqa: E402

PYNAMODB = "pynamodb==6.1.0"
PYTHON = "/usr/bin/python3"  # of the distribution, which has botocore
# The packages cannot be downloaded, or the toolchain is too old for them.
UNAVAILABLE = re.compile(
    r"dial tcp|i/o timeout|disabled by GOPROXY|reading https?:|no such host|proxyconnect"
    r"|requires go >=|invalid go version|unknown directive: toolchain"
    r"|Could not (transfer|resolve|find)"
    r"|failed to (download|fetch|get|load source)|Could not resolve host|requires rustc|lock file version")
OPTIONS = argparse.Namespace()


class Programs(unittest.TestCase):
    def folder(self, name):
        """A folder of the build for a copy of the program in the folder `name` here, if that is there."""
        folder = pathlib.Path(OPTIONS.work) / name
        folder.mkdir(parents=True, exist_ok=True)
        if (HERE / name).is_dir():
            shutil.copytree(HERE / name, folder, dirs_exist_ok=True)
        return folder

    def need(self, *programs):
        for program in programs:
            if shutil.which(program) is None:
                self.skipTest(f"no {program}")

    def build(self, command, **options):
        """Installs or builds. Skips the test if the registry or the toolchain does not allow it."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, **options)
        out = done.stdout + done.stderr
        if done.returncode != 0 and UNAVAILABLE.search(out):
            self.skipTest(f"cannot be had here: {command[0]}\n{out[-2000:]}")
        self.assertEqual(done.returncode, 0, out)

    def run_program(self, command, passed, **environment):
        """Runs a program against a daemon whose index reads wait for the writes before them."""
        with Daemon(OPTIONS.armatured, "--index_reads=settled", "--index_read_wait=20s") as daemon:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                env=client_environment(ENDPOINT=f"http://{daemon.http}", **environment))
            self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}\n{daemon.log()}")
        self.assertIn(f"{passed}: all passed", done.stdout)


class Python(Programs):
    def test_pynamodb(self):
        if subprocess.run([PYTHON, "-c", "import botocore"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no python3-boto3")
        folder = self.folder("pynamodb") / PYNAMODB
        if not folder.exists():
            partial = folder.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            done = subprocess.run(
                [PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--target", str(partial), PYNAMODB],
                capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            if done.returncode != 0:
                self.skipTest(f"pip cannot install {PYNAMODB} here:\n{done.stderr}")
            partial.rename(folder)
        self.run_program([PYTHON, str(HERE / "pynamodb_orders.py")], "pynamodb", PYTHONPATH=str(folder))


class Node(Programs):
    def node(self, name):
        self.run_program(node_script(npm_clients(OPTIONS.work), f"{name}.mjs"), name)

    def test_dynamoose(self):
        self.node("dynamoose")

    def test_onetable(self):
        self.node("onetable")

    def test_electrodb(self):
        self.node("electrodb")


class Go(Programs):
    def test_go_sdk(self):
        self.need("go")
        folder = self.folder("go_sdk")
        program = folder / "go_sdk"
        self.build(["go", "build", "-mod=readonly", "-o", str(program), "."], cwd=folder,
                   env={**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"})
        self.run_program([str(program)], "go sdk")


class Java(Programs):
    def test_enhanced_client(self):
        self.need("mvn", "javac")
        maven = ["mvn", "--batch-mode", "--quiet", "--file", str(self.folder("java_enhanced") / "pom.xml")]
        # Also gets the plugin that runs the program, so a failure of the run is one of the program.
        self.build([*maven, "compile", "exec:help"])
        self.run_program([*maven, "compile", "exec:java"], "java enhanced client")


class Rust(Programs):
    """Compiles for minutes, so a test of its own."""

    def test_rust_sdk(self):
        self.need("cargo", "cc")
        folder = self.folder("rust_sdk")
        self.build(["cargo", "build", "--quiet", "--locked", "--manifest-path", str(folder / "Cargo.toml"), "--target-dir",
                    str(folder / "target")])
        self.run_program([str(folder / "target/debug/rust_sdk")], "rust sdk")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--work", required=True, help="folder for packages and programs; kept")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
