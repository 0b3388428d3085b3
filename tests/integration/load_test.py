#!/usr/bin/python3
"""`armature load` against a real daemon: formats, bad lines, interruptions.

Run by CTest; by hand: load_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import API_ERROR, INPUT_ERROR, PATHS, UNREACHABLE, USAGE_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S, Daemon  # noqa: E402


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


class LoadTest(CliTest):
    # A low limit, so that a test can fill an item collection.
    FLAGS = ("--item_collection_mb_max=1",)

    def setUp(self):
        super().setUp()
        self.table = self.id().rsplit(".", 1)[1]
        self.create(table(self.table))

    def load(self, *arguments, **options):
        return self.cli("load", "--table-name", self.table, *arguments, **options)

    def failing_load(self, exit_code, *arguments):
        """Runs a load that fails. Returns its stderr."""
        return self.failing(exit_code, "load", "--table-name", self.table, *arguments)

    def file(self, name, text):
        path = self.directory / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def count(self):
        return self.cli("scan", "--table-name", self.table, "--select", "COUNT", "--all-pages")["Count"]

    def get(self, key, at):
        key_json = json.dumps({"id": {"S": key}, "at": {"N": str(at)}})
        return self.cli("item", "get", "--table-name", self.table, "--key", key_json, "--consistent-read").get("Item")

    def state(self, path):
        try:
            return json.loads(pathlib.Path(f"{path}.load-state").read_text())
        except FileNotFoundError:
            return None

    def start_load(self, path, *options):
        """Starts a load and waits until it has made progress."""
        loading = subprocess.Popen(
            self.command("load", "--table-name", self.table, path, *options),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while loading.poll() is None and (self.state(path) or {"Offset": 0})["Offset"] == 0:
            os.sched_yield()
        self.assertIsNone(loading.poll(), "it was through before it could be disturbed")
        return loading

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
        error = self.failing_load(INPUT_ERROR, path)
        self.assertIn(f"{path}:2: ", error)
        error = self.failing_load(API_ERROR, path, "--skip-bad", 1)
        self.assertIn(f"{path}:3: ", error)
        self.assertIn("ValidationException", error)
        done = self.load(path, "--skip-bad", 2)
        self.assertEqual((done["Items"], done["Skipped"]), (2, 2))
        self.assertEqual(self.count(), 2)

    def test_what_an_open_quote_may_have_taken_is_not_passed_over(self):
        path = self.file("items.csv", 'id,at,text\na,1,"never closed\nb,2,"fine"\nc,3,fine\n')
        error = self.failing_load(INPUT_ERROR, path, "--skip-bad", 9)
        self.assertIn(f"{path}:2: a quote is not closed", error)
        self.assertEqual(self.count(), 0)

    def test_a_full_item_collection_is_about_its_own_lines_only(self):
        self.table += "_collections"
        definition = table(self.table, LocalSecondaryIndexes=[{
            "IndexName": "by_rank",
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "rank", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }])
        definition["AttributeDefinitions"].append({"AttributeName": "rank", "AttributeType": "N"})
        self.create(definition)
        large = [{"id": {"S": "full"}, "at": {"N": str(n)}, "text": {"S": "x" * 300_000}} for n in range(6)]
        path = self.file("items.jsonl", "".join(json.dumps(i) + "\n" for i in large) + line(1) + line(2))
        error = self.failing_load(API_ERROR, path)
        self.assertIn("ItemCollectionSizeLimitExceededException", error)
        done = self.load(path, "--skip-bad", 5)
        self.assertGreater(done["Skipped"], 0)
        self.assertEqual(done["Items"] + done["Skipped"], 8)
        self.assertEqual(self.get("item-000002", 2), item(2))

    def test_a_wrong_table_is_not_taken_for_bad_lines(self):
        path = self.file("items.jsonl", line(1) + line(2))
        for name, refusal in (("not a name", "ValidationException"), ("nowhere", "ResourceNotFoundException")):
            self.table = name
            self.assertIn(refusal, self.failing_load(API_ERROR, path, "--skip-bad", 9))
            self.assertIsNone(self.state(path))

    def test_a_file_whose_last_line_had_no_break_may_grow(self):
        path = self.file("items.jsonl", line(1) + line(2).rstrip("\n"))
        other = self.file("other.jsonl", "oops\n")
        self.assertIn(f"{other}:1: ", self.failing_load(INPUT_ERROR, path, other))
        self.file("items.jsonl", line(1) + line(2) + line(3) + "oops\n")
        self.assertIn(f"{path}:4: ", self.failing_load(INPUT_ERROR, path, "--resume"))
        self.assertEqual(self.state(path)["Items"], 3)

    def test_it_goes_on_behind_what_was_acknowledged(self):
        good = "".join(line(n) for n in range(3000))
        bad = line(3000).replace("{", "[", 1)
        path = self.file("items.jsonl", good + bad + "and more of it\n" + line(3001))
        self.assertIn(f"{path}:3001: ", self.failing_load(INPUT_ERROR, path))
        state = self.state(path)
        self.assertEqual(state["TableName"], self.table)
        self.assertEqual(state["Line"], 3000)
        # Lines after the saved position may be changed.
        self.file("items.jsonl", good + line(3000) + line(3001))
        done = self.load(path, "--resume")
        self.assertEqual(done["Items"], 2)
        self.assertEqual(self.count(), 3002)
        self.assertIsNone(self.state(path))

    def test_a_killed_load_is_resumed(self):
        items = 60_000
        for name, pack in (("plain.jsonl", bytes), ("packed.jsonl.gz", gzip.compress)):
            with self.subTest(name):
                path = self.file(name, pack("".join(line(n) for n in range(items)).encode()))
                with self.start_load(path) as loading:
                    loading.kill()
                state = self.state(path)
                self.assertGreater(state["Line"], 0)
                done = self.load(path, "--resume")
                self.assertEqual(done["Items"], items - state["Line"])
                self.assertEqual(self.count(), items)
                # Each round needs its own table, because the second would find the items of the first.
                self.table += "_packed"
                self.create(table(self.table))

    def test_the_state_of_another_load_is_refused(self):
        path = self.file("items.jsonl", line(1) + "oops\n")
        self.failing_load(INPUT_ERROR, path)
        self.file("items.jsonl", line(2) + line(3))
        error = self.failing_load(INPUT_ERROR, path, "--resume")
        self.assertIn("not what they were", error)
        self.assertIn(f"remove {path}.load-state", error)
        self.file("items.jsonl", line(1) + line(2))
        self.create(table(self.table + "_other"))
        done = self.run_cli("load", "--table-name", self.table + "_other", path, "--resume")
        self.assertEqual(done.returncode, INPUT_ERROR)
        self.assertIn(f"is about the table {self.table};", done.stderr.decode())
        self.assertEqual(self.load(path, "--resume")["Items"], 1)

    def test_an_empty_file_is_loaded_too(self):
        contents = {"a.jsonl": b"", "b.jsonl": b"\n \r\n", "c.csv": b"id,at\n", "d.gz": gzip.compress(b"")}
        for name, content in contents.items():
            with self.subTest(name):
                path = self.file(name, content)
                self.assertEqual(self.load(path)["Items"], 0)
                self.assertIsNone(self.state(path))
        self.failing_load(INPUT_ERROR, self.file("e.csv", b""))

    def test_long_lines_and_large_items(self):
        large = {**item(1), "text": {"S": "é" * 190_000}}
        too_large = {**item(2), "text": {"S": "x" * 410_000}}
        # The maximum length of a line.
        huge = {**item(3), "text": {"S": "x" * 16_600_000}}
        path = self.file("items.jsonl", "".join(json.dumps(i) + "\n" for i in (large, too_large, huge, item(4))))
        done = self.load(path, "--skip-bad", 2)
        self.assertEqual((done["Items"], done["Skipped"]), (2, 2))
        self.assertEqual(self.get("item-000001", 1), large)
        self.file("items.jsonl", line(5) + "x" * 17_200_000 + "\n" + line(6))
        self.assertIn(f"{path}:2: the line is longer", self.failing_load(INPUT_ERROR, path, "--skip-bad", 9))
        self.assertEqual(self.state(path)["Line"], 1)

    def test_several_files_are_resumed_where_each_stands(self):
        first = self.file("a.jsonl", line(1) + line(2))
        second = self.file("b.csv", "id,at\nx,3\ny,none\n")
        third = self.file("c.jsonl", line(5))
        self.assertIn(f"{second}:3: ", self.failing_load(API_ERROR, first, second, third))
        self.assertEqual((self.state(first)["Line"], self.state(third)), (2, None))
        self.file("b.csv", "id,at\nx,3\ny,4\n")
        self.load(first, second, third, "--resume")
        self.assertEqual(self.count(), 5)
        self.assertEqual([self.state(path) for path in (first, second, third)], [None] * 3)

    def test_a_daemon_that_is_killed_and_started_again_gets_all(self):
        path = self.file("items.jsonl", "".join(line(n) for n in range(60_000)))
        flags = [f"--grpc_listen=unix:{self.directory}/socket"]
        with Daemon(PATHS.armatured, *flags, data_dir=self.directory / "data") as self.daemon:
            self.create(table(self.table))
            loading = self.start_load(path)
            self.daemon.kill()
        with Daemon(PATHS.armatured, *flags, data_dir=self.directory / "data") as self.daemon, loading:
            out, error = loading.communicate(timeout=10 * WAIT_S)
            self.assertEqual(loading.returncode, 0, error)
            self.assertEqual(json.loads(out)["Items"], 60_000)
            self.assertEqual(self.count(), 60_000)

    def test_a_daemon_that_does_not_answer_is_given_up(self):
        path = self.file("items.jsonl", "".join(line(n) for n in range(60_000)))
        with self.start_load(path, "--timeout", "2") as loading:
            os.kill(self.daemon.process.pid, signal.SIGSTOP)
            try:
                _, error = loading.communicate(timeout=WAIT_S)
            finally:
                os.kill(self.daemon.process.pid, signal.SIGCONT)
        self.assertEqual(loading.returncode, UNREACHABLE, error)
        self.assertIn(b"answered nothing", error)
        done = self.load(path, "--resume")
        self.assertGreater(done["Items"], 0)
        self.assertEqual(self.count(), 60_000)

    def test_what_is_throttled_is_repeated(self):
        self.table += "_slow"
        self.create(table(self.table, BillingMode="PROVISIONED",
                          ProvisionedThroughput={"ReadCapacityUnits": 100, "WriteCapacityUnits": 1}))
        # The table has saved capacity for three hundred seconds.
        path = self.file("items.jsonl", "".join(line(n) for n in range(303)))
        self.assertEqual(self.load(path)["Items"], 303)
        self.assertEqual(self.count(), 303)

    def test_the_state_is_kept_while_a_load_is_held_up(self):
        self.table += "_slow"
        self.create(table(self.table, BillingMode="PROVISIONED",
                          ProvisionedThroughput={"ReadCapacityUnits": 100, "WriteCapacityUnits": 1}))
        # All lines are read and sent at once. After three hundred items, each takes a second.
        path = self.file("items.jsonl", "".join(line(n) for n in range(330)))
        with self.start_load(path) as loading:
            loading.kill()

    def test_what_cannot_work_says_so(self):
        path = self.file("items.jsonl", line(1))
        self.assertIn("cannot read", self.failing_load(INPUT_ERROR, self.directory / "nothing.jsonl"))
        self.assertIn("--types", self.failing_load(USAGE_ERROR, self.file("x.csv", "id\n"), "--types", "a=X"))
        cut = self.file("cut.jsonl.gz", gzip.compress(line(1).encode() * 1000)[:-20])
        self.assertIn("cut.jsonl.gz", self.failing_load(INPUT_ERROR, cut))
        self.assertIn("standard input", self.failing_load(USAGE_ERROR, "-", "--resume"))
        self.table = "nowhere"
        self.assertIn("ResourceNotFoundException", self.failing_load(API_ERROR, path))
        done = subprocess.run(
            [PATHS.armature, "--endpoint", "127.0.0.1:1", "--timeout", "0.2", "load", "--table-name", "nowhere", str(path)],
            capture_output=True, timeout=WAIT_S, check=False)
        self.assertEqual(done.returncode, UNREACHABLE, done.stderr)


if __name__ == "__main__":
    run_tests()
