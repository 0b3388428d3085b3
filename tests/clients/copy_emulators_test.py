#!/usr/bin/python3
"""`armature copy` from and to emulators of the original: moto's server and dynalite, and the commands of docs/operate/copy.md.

moto is the one that is installed, or comes from PyPI; dynalite comes from npm. Tests of an emulator that is not to be had are
skipped. Run by CTest; by hand: copy_emulators_test.py --armatured PATH --armature PATH --work FOLDER
"""

import argparse
import http.client
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon, client_environment, wait_for  # noqa: E402

ARGS = argparse.Namespace()
INSTALL_S = 300
MOTO = "moto[server]==5.2.1"
DYNALITE = "dynalite@3.2.2"
TABLE = "orders"
DEFINITION = {
    "TableName": TABLE,
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": {"ReadCapacityUnits": 50, "WriteCapacityUnits": 50},
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "at", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [{
        "IndexName": "by_at", "KeySchema": [{"AttributeName": "at", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"}, "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}],
}
ITEMS = 300


def item_of(number):
    return {"id": {"S": f"item-{number}"}, "at": {"N": str(number % 9)}, "raw": {"B": "AAEC/w=="}, "tags": {"SS": ["a", "b"]},
            "numbers": {"NS": ["1", "-2.5"]}, "big": {"N": "12345678901234567890123456789012345678"},
            "deep": {"M": {"l": {"L": [{"NULL": True}, {"BOOL": False}]}}}}


class Server:
    """A program that serves the protocol on a port of this machine; a context manager."""

    def __init__(self, command):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"127.0.0.1:{port}"
        self.command = [*map(str, command), str(port)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.is_up, "the emulator")
        return self

    def is_up(self):
        if self.process.poll() is not None:
            raise unittest.SkipTest(f"{self.command[0]} does not run here")
        try:
            self.call("ListTables")
        except OSError:
            return False
        return True

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(WAIT_S)

    def call(self, operation, service="DynamoDB_20120810", **members):
        connection = http.client.HTTPConnection(self.address, timeout=WAIT_S)
        connection.request("POST", "/", json.dumps(members), {
            "X-Amz-Target": f"{service}.{operation}", "Content-Type": "application/x-amz-json-1.0", "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
                             "SignedHeaders=host;x-amz-date, Signature=00"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(body)
        return json.loads(body)


def moto():
    """moto's server; skips the test if it cannot be had."""
    if shutil.which("moto_server") is not None:
        return Server(["moto_server", "-p"])
    folder = pathlib.Path(ARGS.work) / "moto"
    if not (folder / "bin/moto_server").exists():
        for command in ([sys.executable, "-m", "venv", folder], [folder / "bin/pip", "install", "--quiet", MOTO]):
            if subprocess.run(command, capture_output=True, timeout=INSTALL_S, check=False).returncode != 0:
                raise unittest.SkipTest("pip cannot install moto here")
    return Server([folder / "bin/moto_server", "-p"])


def dynalite():
    folder = pathlib.Path(ARGS.work) / "dynalite"
    program = folder / "node_modules/.bin/dynalite"
    if shutil.which("npm") is None:
        raise unittest.SkipTest("no node and npm")
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder, DYNALITE],
                              capture_output=True, timeout=INSTALL_S, check=False)
        if done.returncode != 0:
            raise unittest.SkipTest("npm cannot install dynalite here")
    return Server([program, "--createTableMs", "0", "--updateTableMs", "0", "--port"])


class CopyEmulatorsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="armature_copy_")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.daemon = Daemon(ARGS.armatured).__enter__()
        self.addCleanup(self.daemon.__exit__, None, None, None)

    def run_in(self, command):
        environment = client_environment(
            HOME=self.directory, PATH=f"{pathlib.Path(ARGS.armature).parent}:/usr/bin:/bin", AWS_REGION="us-east-1")
        done = subprocess.run(command, cwd=self.directory, env=environment, capture_output=True, text=True,
                              timeout=4 * WAIT_S, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}{done.stdout}")
        return json.loads(done.stdout)["Tables"][0] if done.stdout else None

    def copy(self, *arguments):
        return self.run_in([ARGS.armature, "copy", *map(str, arguments)])

    def fill(self, call):
        call("CreateTable", **DEFINITION)
        wait_for(lambda: call("DescribeTable", TableName=TABLE)["Table"]["TableStatus"] == "ACTIVE", "the table")
        for begin in range(0, ITEMS, 25):
            call("BatchWriteItem", RequestItems={TABLE: [{"PutRequest": {"Item": item_of(n)}} for n in range(begin, begin + 25)]})

    def ours(self, operation, **members):
        status, answer = self.daemon.json_call(operation, **members)
        self.assertEqual(status, 200, answer)
        return answer

    def check_both_ways(self, server, *options):
        """From the emulator to us, and back to it under another name."""
        self.fill(server.call)
        self.assertEqual(self.copy("--from", server.address, "--to", self.daemon.http, TABLE, *options)["Items"], ITEMS)
        self.assertEqual(self.ours("Scan", TableName=TABLE, Select="COUNT")["Count"], ITEMS)
        back = ("--from", self.daemon.http, "--to", server.address, TABLE, "--rename", f"{TABLE}=copied", *options)
        self.assertEqual(self.copy(*back)["Items"], ITEMS)
        self.assertEqual(self.copy(*back, "--verify")["SourceItems"], ITEMS)
        described = server.call("DescribeTable", TableName="copied")["Table"]
        self.assertEqual(described["ProvisionedThroughput"]["ReadCapacityUnits"], 50)
        self.assertEqual(described["GlobalSecondaryIndexes"][0]["IndexName"], "by_at")

    def test_dynalite_both_ways(self):
        with dynalite() as server:
            self.check_both_ways(server)

    def test_moto_both_ways(self):
        with moto() as server:
            # It scans the whole table for each segment.
            self.check_both_ways(server, "--segments", 1)

    def test_moto_is_followed(self):
        with moto() as server:
            self.fill(server.call)
            copied = self.copy("--from", server.address, "--to", self.daemon.http, TABLE, "--segments", 1, "--follow",
                               "--enable-stream", "--until-lag", 0)
            self.assertEqual(copied["Items"], ITEMS)
            self.copy("--from", server.address, "--to", self.daemon.http, TABLE, "--segments", 1, "--verify")

    def test_commands_of_the_page(self):
        text = (ROOT / "docs/operate/copy.md").read_text()
        blocks = re.findall(r"<!-- run by tests/clients/copy_emulators_test.py -->\n```sh\n(.*?)```", text, re.S)
        self.assertEqual(len(blocks), 2)
        with Daemon(ARGS.armatured) as other:
            self.fill(self.ours)
            for line in "".join(blocks).splitlines():
                command = line.replace("127.0.0.1:8000", self.daemon.http).replace("127.0.0.1:8001", other.http)
                self.run_in(["sh", "-c", command])
            self.assertEqual(other.json_call("Scan", TableName="orders2", Select="COUNT")[1]["Count"], ITEMS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("armatured", "armature", "work"):
        parser.add_argument(f"--{name}", required=True)
    parsed, rest = parser.parse_known_args()
    vars(ARGS).update({name: str(pathlib.Path(value).resolve()) for name, value in vars(parsed).items()})
    unittest.main(argv=[sys.argv[0], *rest])
