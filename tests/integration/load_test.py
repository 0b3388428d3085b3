#!/usr/bin/python3
"""`armature load` against a real daemon: formats, bad lines, interruptions.

Run by CTest; by hand: load_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402

PATHS = argparse.Namespace()

USAGE_ERROR = 2
API_ERROR = 1
UNREACHABLE = 3


def table(name, **more):
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "at", "AttributeType": "N"},
        ],
        "KeySchema": [
            {"AttributeName": "id", "KeyType": "HASH"},
            {"AttributeName": "at", "KeyType": "RANGE"},
        ],
        **more,
    }


def item(number):
    return {"id": {"S": f"item-{number:06}"}, "at": {"N": str(number)}, "text": {"S": "x" * 40}}


def line(number):
    return json.dumps(item(number)) + "\n"


class LoadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(PATHS.armatured).__enter__()
        cls.addClassCleanup(cls.daemon.__exit__, None, None, None)

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="armature_load_")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.table = self.id().rsplit(".", 1)[1]
        self.create(table(self.table))

    def create(self, definition):
        self.cli("table", "create", "--cli-input-json", json.dumps(definition), "--wait")

    def command(self, *arguments):
        return [PATHS.armature, "--endpoint", self.daemon.grpc, *map(str, arguments)]

    def run_cli(self, *arguments, **options):
        return subprocess.run(self.command(*arguments), capture_output=True, timeout=10 * WAIT_S, check=False, **options)

    def cli(self, *arguments, **options):
        done = self.run_cli(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout) if done.stdout.strip() else None

    def load(self, *arguments, **options):
        return self.cli("load", "--table-name", self.table, *arguments, **options)

    def failing_load(self, exit_code, *arguments):
        """What it wrote to stderr."""
        done = self.run_cli("load", "--table-name", self.table, *arguments)
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()

    def file(self, name, text):
        path = self.directory / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def count(self):
        return self.cli("scan", "--table-name", self.table, "--select", "COUNT")["Count"]

    def get(self, key, at):
        key_json = json.dumps({"id": {"S": key}, "at": {"N": str(at)}})
        return self.cli("item", "get", "--table-name", self.table, "--key", key_json, "--consistent-read").get("Item")

    def state(self, path):
        try:
            return json.loads(pathlib.Path(f"{path}.load-state").read_text())
        except FileNotFoundError:
            return None

    def test_json_lines_bare_and_of_an_export(self):
        wrapped = json.dumps({"Item": item(2)})
        path = self.file("items.jsonl", line(1) + "\n" + wrapped + "\r\n" + line(3).rstrip("\n"))
        self.assertEqual(self.load(path)["Items"], 3)
        self.assertEqual([self.get(f"item-{n:06}", n) for n in (1, 2, 3)], [item(n) for n in (1, 2, 3)])
        self.assertIsNone(self.state(path))

    def test_an_attribute_may_be_called_item(self):
        path = self.file("items.jsonl", '{"Item": {"id": {"S": "a"}, "at": {"N": "1"}, "Item": {"M": {}}}}\n')
        self.load(path)
        self.assertEqual(self.get("a", 1), {"id": {"S": "a"}, "at": {"N": "1"}, "Item": {"M": {}}})

    def test_several_files_and_gzip_and_standard_input(self):
        first = self.file("a.jsonl", "".join(line(n) for n in range(500)))
        second = self.file("b.json.gz", gzip.compress("".join(line(n) for n in range(500, 1000)).encode()))
        self.assertEqual(self.load(first, second)["Items"], 1000)
        self.assertEqual(self.load("-", input=line(2000).encode())["Items"], 1)
        self.assertEqual(self.count(), 1001)

    def test_csv_has_the_types_of_the_keys_and_what_is_said(self):
        path = self.file(
            "items.csv",
            "\ufeffid,at,text,paid,tags\r\n"
            'a,1,"said ""no"",\r\nand left",true,"[""x"",""y""]"\r\n'
            "b,2,,,\r\n",
        )
        self.assertEqual(self.load(path, "--types", "paid=BOOL,tags=SS")["Items"], 2)
        self.assertEqual(
            self.get("a", 1),
            {
                "id": {"S": "a"},
                "at": {"N": "1"},
                "text": {"S": 'said "no",\r\nand left'},
                "paid": {"BOOL": True},
                "tags": {"SS": ["x", "y"]},
            },
        )
        self.assertEqual(self.get("b", 2), {"id": {"S": "b"}, "at": {"N": "2"}})

    def test_bad_lines_stop_it_unless_they_are_allowed(self):
        path = self.file("items.jsonl", line(1) + "{oops\n" + '{"id": {"S": "no sort key"}}\n' + line(2))
        error = self.failing_load(USAGE_ERROR, path)
        self.assertIn(f"{path}:2: ", error)
        error = self.failing_load(API_ERROR, path, "--skip-bad", 1)
        self.assertIn(f"{path}:3: ", error)
        self.assertIn("ValidationException", error)
        done = self.load(path, "--skip-bad", 2)
        self.assertEqual((done["Items"], done["Skipped"]), (2, 2))
        self.assertEqual(self.count(), 2)

    def test_it_goes_on_behind_what_was_acknowledged(self):
        good = "".join(line(n) for n in range(3000))
        bad = line(3000).replace("{", "[", 1)
        path = self.file("items.jsonl", good + bad + line(3001))
        self.assertIn(f"{path}:3001: ", self.failing_load(USAGE_ERROR, path))
        state = self.state(path)
        self.assertEqual(state["TableName"], self.table)
        self.assertLessEqual(state["Line"], 3000)
        self.file("items.jsonl", good + line(3000) + line(3001))
        done = self.load(path, "--resume")
        self.assertEqual(done["Items"], 3002 - state["Line"])
        self.assertEqual(self.count(), 3002)
        self.assertIsNone(self.state(path))

    def test_a_killed_load_is_resumed(self):
        items = 100000
        for name, pack in (("plain.jsonl", bytes), ("packed.jsonl.gz", gzip.compress)):
            with self.subTest(name):
                path = self.file(name, pack("".join(line(n) for n in range(items)).encode()))
                loading = subprocess.Popen(
                    self.command("load", "--table-name", self.table, path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                with loading:
                    while loading.poll() is None and (self.state(path) or {"Offset": 0})["Offset"] == 0:
                        os.sched_yield()
                    loading.kill()
                state = self.state(path)
                self.assertIsNotNone(state, "it was through before it could be killed")
                self.assertGreater(state["Line"], 0)
                done = self.load(path, "--resume")
                self.assertEqual(done["Items"], items - state["Line"])
                self.assertEqual(self.count(), items)

    def test_the_state_of_another_load_is_refused(self):
        path = self.file("items.jsonl", line(1) + "oops\n")
        self.failing_load(USAGE_ERROR, path)
        self.file("items.jsonl", line(1) + line(2))
        self.assertIn("remove it", self.failing_load(USAGE_ERROR, path, "--resume"))
        self.assertEqual(self.load(path)["Items"], 2)

    def test_what_is_throttled_is_repeated(self):
        self.table += "_slow"
        self.create(table(self.table, BillingMode="PROVISIONED",
                          ProvisionedThroughput={"ReadCapacityUnits": 100, "WriteCapacityUnits": 1}))
        # Three hundred seconds' worth is saved up.
        path = self.file("items.jsonl", "".join(line(n) for n in range(303)))
        self.assertEqual(self.load(path)["Items"], 303)
        self.assertEqual(self.count(), 303)

    def test_what_cannot_work_says_so(self):
        path = self.file("items.jsonl", line(1))
        self.assertIn("cannot read", self.failing_load(USAGE_ERROR, self.directory / "nothing.jsonl"))
        self.assertIn("--types", self.failing_load(USAGE_ERROR, self.file("x.csv", "id\n"), "--types", "a=X"))
        cut = self.file("cut.jsonl.gz", gzip.compress(line(1).encode() * 1000)[:-20])
        self.assertIn("cut.jsonl.gz", self.failing_load(USAGE_ERROR, cut))
        self.assertIn("standard input", self.failing_load(USAGE_ERROR, "-", "--resume"))
        self.table = "nowhere"
        self.assertIn("ResourceNotFoundException", self.failing_load(API_ERROR, path))
        done = subprocess.run(
            [PATHS.armature, "--endpoint", "127.0.0.1:1", "--timeout", "0.2", "load", "--table-name", "nowhere", str(path)],
            capture_output=True, timeout=WAIT_S, check=False)
        self.assertEqual(done.returncode, UNREACHABLE, done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    parsed, rest = parser.parse_known_args()
    vars(PATHS).update(vars(parsed))
    unittest.main(argv=[sys.argv[0], *rest])
