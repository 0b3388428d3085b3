#!/usr/bin/python3
"""`armature export` and `armature import` against a real daemon: snapshot, types, damage, interruptions.

Run by CTest; by hand: export_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import base64
import collections
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import API_ERROR, INPUT_ERROR, PATHS, USAGE_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S, Daemon  # noqa: E402

EVERY_BYTE = base64.b64encode(bytes(range(256))).decode()
ALL_TYPES = [
    {"id": {"S": "scalars"}, "n": {"N": "-0.00012345678901234567890123456789012345678"}, "b": {"B": EVERY_BYTE},
     "yes": {"BOOL": True}, "no": {"BOOL": False}, "nil": {"NULL": True}},
    {"id": {"S": "numbers"}, "n": {"N": "99999999999999999999999999999999999999"},
     "ns": {"NS": ["-1E-130", "0", "9.9999999999999999999999999999999999999E+125"]}},
    {"id": {"S": "sets"}, "ss": {"SS": ["a", "b, \"c\""]}, "bs": {"BS": ["AA==", "AAA="]}, "ns": {"NS": ["1"]}},
    {"id": {"S": "empty"}, "s": {"S": ""}, "b": {"B": ""}, "l": {"L": []}, "m": {"M": {}}},
    {"id": {"S": "texts \u0000 \ud83d\ude00 \u2028"}, "t": {"S": "\u0000\u0001\r\n\t\"\\/\u007f\ufeff\uffff"},
     "Item": {"S": "x"}, "\u00e4 \"odd\", name": {"N": "1"}},
    {"id": {"S": "nested"}, "m": {"M": {" ": {"L": [{"M": {"S": {"S": "S"}}}, {"NULL": True}, {"B": "/+8="}]}}}},
]


def table(name, **more):
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        **more,
    }


def item(number):
    return {"id": {"S": f"item-{number:06}"}, "n": {"N": str(number)}, "text": {"S": "x" * 40}}


def normal(items):
    """Items in a fixed order, with the members of their sets in a fixed order."""
    def value(json_value):
        (kind, body), = json_value.items()
        if kind in ("SS", "NS", "BS"):
            return {kind: sorted(body)}
        if kind == "L":
            return {kind: [value(each) for each in body]}
        if kind == "M":
            return {kind: {name: value(each) for name, each in body.items()}}
        return json_value
    return sorted(({name: value(each) for name, each in one.items()} for one in items), key=lambda one: json.dumps(one["id"]))


class ExportTest(CliTest):
    maxDiff = 2000

    def setUp(self):
        super().setUp()
        self.table = self.id().rsplit(".", 1)[1]
        self.to = self.directory / "export"

    def create_table(self, name, **more):
        self.create(table(name, **more))

    def fill(self, items):
        lines = "".join(json.dumps(one) + "\n" for one in items)
        self.cli("load", "--table-name", self.table, "-", input=lines.encode())

    def scan(self, name):
        return self.cli("scan", "--table-name", name, "--consistent-read", "--all-pages")["Items"]

    def export(self, *options, name=None, to=None):
        return self.cli("export", "--table-name", name or self.table, "--to", to or self.to, *options)

    def manifest(self):
        return json.loads((self.to / "manifest.json").read_text())

    def lines(self):
        for file in self.manifest()["Files"]:
            data = (self.to / file["Name"]).read_bytes()
            if file["Name"].endswith(".gz"):
                data = gzip.decompress(data)
            yield from data.decode().split("\n")[:-1]

    def exported(self):
        return [json.loads(line)["Item"] for line in self.lines()]

    def printed(self, *options, name=None):
        done = self.run_cli("export", name or self.table, "--to", "-", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, b"")
        return done.stdout

    def load_copy(self, data, *options):
        """The items of a new table that the data was loaded into."""
        self.cli("drop", f"{self.table}-copy", "--yes") if f"{self.table}-copy" in self.cli("table", "list")["TableNames"] else None
        self.create_table(f"{self.table}-copy")
        self.cli("load", f"{self.table}-copy", *options, "-", input=data)
        return self.scan(f"{self.table}-copy")

    def test_printed_lines_of_all_types_come_back(self):
        self.create_table(self.table)
        self.fill(ALL_TYPES)
        expected = normal(self.scan(self.table))
        for options in ((), ("--format", "jsonl"), ("--format", "typed")):
            with self.subTest(options):
                self.assertEqual(normal(self.load_copy(self.printed(*options))), expected)
        typed = [json.loads(line)["Item"] for line in self.printed("--format", "typed").decode().split("\n")[:-1]]
        self.assertEqual(normal(typed), expected)
        plain = self.printed().decode().split("\n")[:-1]
        self.assertEqual(len(plain), len(ALL_TYPES))
        self.assertIn('{"id": "numbers", "n": 99999999999999999999999999999999999999, "ns": {"NS": [', "\n".join(plain))

    def test_printed_lines_of_an_attribute_item(self):
        """A line {"Item": ...} means an item in other files."""
        self.create(table(self.table, AttributeDefinitions=[{"AttributeName": "Item", "AttributeType": "B"}],
                          KeySchema=[{"AttributeName": "Item", "KeyType": "HASH"}]))
        self.fill([{"Item": {"B": "AP8="}}, {"Item": {"B": "Uw=="}, "S": {"S": "x"}}])
        for options in ((), ("--format", "typed"), ("--format", "csv")):
            done = self.printed(*options)
            self.cli("truncate", self.table, "--yes")
            self.cli("load", self.table, "--format", "csv" if "csv" in options else "jsonl", "-", input=done)
            self.assertEqual(sorted(one["Item"]["B"] for one in self.scan(self.table)), ["AP8=", "Uw=="], options)

    def test_printed_csv_of_all_types_comes_back(self):
        items = [{"id": {"S": f"{n}, \"x\"\r\ny"}, "n": {"N": "-0.00012345678901234567890123456789012345678"}, "b": {"B": EVERY_BYTE},
                  "yes": {"BOOL": True}, "a \"b\", c\nd": {"S": " blank"}, "ss": {"SS": ["a", "b, \"c\""]},
                  "ns": {"NS": ["-1E-130", "9.9999999999999999999999999999999999999E+125"]}, "bs": {"BS": ["AA==", "AAA="]},
                  "l": {"L": [{"S": ""}, {"NULL": True}]}, "m": {"M": {"S": {"S": "x"}}}} for n in range(3)]
        items[1]["nil"] = {"NULL": True}  # absent in the others
        del items[2]["yes"]
        self.create_table(self.table)
        self.fill(items)
        data = self.printed("--format", "csv")
        self.assertTrue(data.startswith(b'id,"a ""b"", c\nd",b,'), data[:40])
        types = "n=N,b=B,yes=BOOL,ss=SS,ns=NS,bs=BS,l=L,m=M,nil=NULL"
        copy = self.load_copy(data, "--format", "csv", "--types", types)
        self.assertEqual(normal(copy), normal(self.scan(self.table)))
        self.assertEqual([one.get("nil") for one in sorted(copy, key=lambda one: one["id"]["S"])], [None, {"NULL": True}, None])

    def test_a_selection_is_printed(self):
        self.create_table(self.table)
        self.fill([{**item(n), "a,\"b\"\n": {"S": "1"}} for n in range(50)])
        lines = self.printed("--where", "n >= 48").decode().splitlines()
        self.assertEqual(sorted(json.loads(line)["n"] for line in lines), [48, 49])
        self.assertEqual(self.printed("--where", "n = 7", "--select", "n,id").decode(), '{"n": 7, "id": "item-000007"}\n')
        self.assertEqual(self.printed("--where", "n = 7", "--select", "n, `a,\"b\"\n`", "--format", "csv").decode(),
                         'n,"a,""b""\n"\n7,1\n')
        self.assertEqual(self.printed("--where", "n = 99"), b"")
        self.assertEqual(self.printed("--where", "n = 99", "--format", "csv"), b"")
        self.failing(USAGE_ERROR, "export", self.table, "--to", "-", "--where", "n =")

    def test_mistakes_in_printed_exports(self):
        self.create_table(self.table)
        for options, words in ((("--gzip",), "one stream"), (("--file-mb", "1"), "one stream"),
                               (("--columns", "n"), "belongs to --format csv"),
                               (("--format", "csv", "--columns", "n", "--select", "id"), "one of them")):
            self.assertIn(words, self.failing(USAGE_ERROR, "export", self.table, "--to", "-", *options))
        for options in (("--where", "n = 1"), ("--select", "n")):
            self.assertIn("belong to --to -", self.failing(USAGE_ERROR, "export", self.table, "--to", self.to, *options))
        self.assertFalse(self.to.exists())
        self.failing(API_ERROR, "export", "nowhere", "--to", "-")
        self.failing(API_ERROR, "export", "nowhere", "--to", "-", "--where", "n = 1")
        self.failing(USAGE_ERROR, "export", f"{self.table}/index", "--to", "-", "--where", "n = 1")

    def test_a_directory_in_plain_json(self):
        self.create_table(self.table)
        self.fill(ALL_TYPES)
        self.export("--format", "jsonl")
        self.assertTrue(all(not line.startswith('{"Item"') for line in self.lines()))
        self.cli("import", self.to, "--table-name", f"{self.table}-copy")
        self.assertEqual(normal(self.scan(f"{self.table}-copy")), normal(self.scan(self.table)))

    def test_all_types_come_back(self):
        index = {
            "IndexName": "by_n",
            "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
        attributes = [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "n", "AttributeType": "N"}]
        self.create_table(self.table, AttributeDefinitions=attributes, GlobalSecondaryIndexes=[index])
        self.fill(ALL_TYPES)
        for options in ((), ("--gzip",)):
            with self.subTest(options):
                self.to = self.directory / f"export{len(options)}"
                done = self.export(*options)
                self.assertEqual((done["Items"], done["Files"]), (len(ALL_TYPES), 1))
                # Each of these items has changed an index.
                self.assertGreaterEqual(done["ChangeSequence"], sum("n" in each for each in ALL_TYPES))
                self.assertEqual(normal(self.exported()), normal(self.scan(self.table)))
                copy = f"{self.table}_{len(options)}"
                self.assertEqual(self.cli("import", self.to, "--table-name", copy)["Items"], len(ALL_TYPES))
                self.assertEqual(normal(self.scan(copy)), normal(self.scan(self.table)))
                self.assertEqual(len(self.scan(copy)), len(ALL_TYPES))
                described = self.cli("table", "describe", "--table-name", copy)["Table"]
                self.assertEqual([each["IndexName"] for each in described["GlobalSecondaryIndexes"]], ["by_n"])
                # The import has left no files behind, and the export is unchanged.
                self.assertEqual(
                    sorted(path.name for path in self.to.iterdir()),
                    sorted(["manifest.json", *(file["Name"] for file in self.manifest()["Files"])]))

    def test_the_manifest_tells_the_table_and_the_files(self):
        self.create_table(self.table)
        self.fill(item(n) for n in range(100))
        done = self.export()
        manifest = self.manifest()
        self.assertEqual(manifest["FormatVersion"], 1)
        self.assertEqual(manifest["Format"], "jsonl")
        self.assertEqual(manifest["ItemCount"], 100)
        self.assertEqual(manifest["Table"], table(self.table))
        self.assertEqual(manifest["ChangeSequence"], done["ChangeSequence"])
        for file in manifest["Files"]:
            path = self.to / file["Name"]
            self.assertEqual(path.stat().st_size, file["Bytes"])
            self.assertEqual(subprocess.check_output(["sha256sum", path]).split()[0].decode(), file["Sha256"])

    def test_csv_comes_back(self):
        self.create_table(self.table)
        rows = [item(n) for n in range(2500)]
        rows[7]["tags"] = {"SS": ["a", "b"]}
        rows[8]["text"] = {"S": " with \"quotes\",\r\nand breaks\u0000 "}
        self.fill(rows)
        for options in (("--columns", "n,text,tags"), ("--columns", "tags,text,n", "--gzip", "--file-mb", 1)):
            with self.subTest(options):
                self.to = self.directory / f"export{len(options)}"
                self.export("--format", "csv", *options)
                copy = f"{self.table}_{len(options)}"
                self.cli("import", self.to, "--table-name", copy)
                self.assertEqual(normal(self.scan(copy)), normal(rows))

    def test_csv_refuses_what_it_cannot_tell(self):
        self.create_table(self.table)
        self.fill([*(item(n) for n in range(1500)), {**item(9999), "rare": {"S": ""}}])
        error = self.failing(INPUT_ERROR, "export", "--table-name", self.table, "--to", self.to, "--format", "csv")
        self.assertIn("the attribute rare of the item {\"id\":{\"S\":\"item-009999\"}} ", error)
        self.assertIn("--format jsonl", error)
        self.assertIn("not an export, or an unfinished one", self.failing(INPUT_ERROR, "import", self.to))

    def test_large_tables_have_several_files(self):
        self.create_table(self.table)
        rows = [{**item(n), "text": {"S": f"{n:08}" * 1000}} for n in range(500)]
        self.fill(rows)
        self.assertGreaterEqual(self.export("--file-mb", 1)["Files"], 4)
        self.assertEqual(self.manifest()["Files"][1]["Name"], "data-00002.jsonl")
        self.assertEqual(normal(self.exported()), normal(rows))
        self.cli("table", "delete", "--table-name", self.table, "--wait", "--yes")
        self.assertEqual(self.cli("import", self.to)["Items"], 500)
        self.assertEqual(normal(self.scan(self.table)), normal(rows))

    def test_an_empty_table_is_exported_too(self):
        self.create_table(self.table)
        self.assertEqual(self.export()["Files"], 0)
        self.cli("import", self.to, "--table-name", self.table + "_copy")
        self.assertEqual(self.scan(self.table + "_copy"), [])

    def test_an_export_is_of_one_moment(self):
        """Writers change both items of a pair in one transaction. Each pair must be exported with one number."""
        pairs = 120
        self.create_table(self.table)
        self.fill({"id": {"S": f"{side}-{n}"}, "n": {"N": "0"}, "text": {"S": "x" * 50_000}}
                  for n in range(pairs) for side in "ab")
        stop = threading.Event()
        faults = []

        def update(key):
            return {"Update": {"TableName": self.table, "Key": {"id": {"S": key}}, "UpdateExpression": "ADD n :one",
                               "ExpressionAttributeValues": {":one": {"N": "1"}}}}

        def write(first):
            while not stop.is_set():
                for n in range(first, pairs, 2):
                    status, answer = self.daemon.json_call(
                        "TransactWriteItems", TransactItems=[update(f"a-{n}"), update(f"b-{n}")])
                    if status != 200:
                        faults.append(answer)
                        return

        writers = [threading.Thread(target=write, args=(first,)) for first in (0, 1)]
        for writer in writers:
            writer.start()
        try:
            sums = []
            for turn in range(4):
                self.to = self.directory / f"export{turn}"
                self.assertEqual(self.export()["Items"], 2 * pairs)
                numbers = collections.defaultdict(list)
                for each in self.exported():
                    numbers[each["id"]["S"][2:]].append(int(each["n"]["N"]))
                torn = {key: pair for key, pair in numbers.items() if len(set(pair)) != 1}
                self.assertEqual(torn, {})
                sums.append(sum(sum(pair) for pair in numbers.values()))
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        self.assertEqual(faults, [])
        # There were writes meanwhile.
        self.assertEqual(sums, sorted(set(sums)))

    def test_damage_is_found_before_anything_is_written(self):
        self.create_table(self.table)
        rows = [{**item(n), "text": {"S": f"{n:08}" * 1000}} for n in range(300)]
        self.fill(rows)
        self.export("--file-mb", 1)
        name = self.manifest()["Files"][1]["Name"]
        path = self.to / name
        good = path.read_bytes()
        copy = self.table + "_copy"

        def refused(text):
            error = self.failing(INPUT_ERROR, "import", self.to, "--table-name", copy)
            self.assertIn(text, error)
            self.assertIn("ResourceNotFoundException", self.failing(API_ERROR, "table", "describe", "--table-name", copy))

        bad = bytearray(good)
        bad[len(bad) // 2] ^= 1
        path.write_bytes(bad)
        refused(f"{name} is damaged: its checksum differs")
        path.write_bytes(good[:-1])
        refused(f"{name} is damaged: it has {len(good) - 1} bytes, and had {len(good)}")
        path.unlink()
        refused(f"{name}: No such file")
        path.write_bytes(good)
        manifest = self.to / "manifest.json"
        text = manifest.read_text()
        manifest.write_text(text.replace('"ItemCount": 300', '"ItemCount": 301'))
        refused("manifest.json is damaged")
        manifest.unlink()
        refused("is not an export, or an unfinished one")
        manifest.write_text(text)
        self.assertEqual(self.cli("import", self.to, "--table-name", copy)["Items"], 300)

    def test_another_key_is_refused(self):
        self.create_table(self.table)
        self.fill([item(1)])
        self.export()
        other = self.table + "_other"
        self.create_table(other, AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "N"}])
        self.assertIn("has another key", self.failing(INPUT_ERROR, "import", self.to, "--table-name", other))
        # A table with the same key and an item of its own, which stays.
        self.cli("item", "put", "--table-name", self.table, "--item", json.dumps(item(2)))
        self.cli("import", self.to)
        self.assertEqual(normal(self.scan(self.table)), normal([item(1), item(2)]))

    def test_a_killed_import_is_resumed(self):
        rows = 60_000
        self.create_table(self.table)
        self.fill(item(n) for n in range(rows))
        self.export("--file-mb", 1)
        files = [file["Name"] for file in self.manifest()["Files"]]
        self.assertGreater(len(files), 2)
        copy = self.table + "_copy"
        states = self.directory / "states"
        states.mkdir()
        arguments = ("import", self.to, "--table-name", copy, "--state", states)
        second = states / f"{files[1]}.load-state"
        with subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as importing:
            while importing.poll() is None and not second.exists():
                os.sched_yield()
            self.assertIsNone(importing.poll(), "it was through before it could be disturbed")
            importing.kill()
        self.assertIn("ResourceNotFoundException", self.failing(
            API_ERROR, "import", self.to, "--table-name", "gone", "--state", states, "--resume"))
        done = self.cli(*arguments, "--resume")
        self.assertLess(done["Items"], rows)
        self.assertEqual(self.cli("scan", "--table-name", copy, "--select", "COUNT", "--all-pages")["Count"], rows)
        self.assertEqual(list(states.iterdir()), [])
        self.assertEqual(sorted(path.name for path in self.to.iterdir()), sorted(["manifest.json", *files]))

    def test_an_interrupted_export_is_none(self):
        rows = 40_000
        self.create_table(self.table)
        self.fill(item(n) for n in range(rows))
        with subprocess.Popen(self.command("export", "--table-name", self.table, "--to", self.to),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as exporting:
            while exporting.poll() is None and not self.to.exists():
                os.sched_yield()
            exporting.kill()
        self.assertFalse((self.to / "manifest.json").exists(), "it was through before it could be disturbed")
        self.assertIn("is not an export", self.failing(INPUT_ERROR, "import", self.to))
        if any(self.to.iterdir()):
            error = self.failing(INPUT_ERROR, "export", "--table-name", self.table, "--to", self.to)
            self.assertIn("is not empty", error)
        shutil.rmtree(self.to)
        self.assertEqual(self.export()["Items"], rows)

    def test_a_daemon_that_stops_ends_exports(self):
        with Daemon(PATHS.armatured) as self.daemon:
            self.create_table(self.table)
            self.fill({**item(n), "text": {"S": "x" * 50_000}} for n in range(1000))
            self.to.mkdir()
            with subprocess.Popen(self.command("export", "--table-name", self.table, "--to", self.to),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as exporting:
                while exporting.poll() is None and not any(self.to.iterdir()):
                    os.sched_yield()
                self.daemon.process.terminate()
                self.assertEqual(self.daemon.process.wait(timeout=WAIT_S), 0)
                _, error = exporting.communicate(timeout=WAIT_S)
        self.assertEqual(exporting.returncode, API_ERROR, error)
        self.assertIn(b"ServiceUnavailable", error)
        self.assertFalse((self.to / "manifest.json").exists())

    def test_what_cannot_work_says_so(self):
        self.assertIn("ResourceNotFoundException",
                      self.failing(API_ERROR, "export", "--table-name", "nowhere", "--to", self.to))
        self.assertIn("--columns", self.failing(USAGE_ERROR, "export", "--table-name", "x", "--to", self.to, "--columns", "a"))
        full = self.directory / "full"
        full.mkdir()
        (full / "something").write_text("x")
        self.assertIn("is not empty", self.failing(INPUT_ERROR, "export", "--table-name", "nowhere", "--to", full))
        self.assertIn("cannot make", self.failing(
            INPUT_ERROR, "export", "--table-name", "nowhere", "--to", full / "something" / "in"))
        self.failing(INPUT_ERROR, "import", self.directory / "nowhere")
        self.assertIn("no answer", subprocess.run(
            [PATHS.armature, "--endpoint", "127.0.0.1:1", "--timeout", "0.2", "export", "--table-name", "nowhere",
             "--to", str(self.directory / "new")],
            capture_output=True, timeout=WAIT_S, check=False).stderr.decode())


if __name__ == "__main__":
    run_tests()
