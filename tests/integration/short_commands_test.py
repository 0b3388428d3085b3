#!/usr/bin/python3
"""The short commands on tables, profiles and hints of the command line, against a real daemon.

Run by CTest; by hand: short_commands_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import API_ERROR, PATHS, USAGE_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S  # noqa: E402
from on_terminal import on_terminal  # noqa: E402


class ShortTest(CliTest):
    """Each test has its own state and configuration, and no tables."""

    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "XDG_STATE_HOME": str(self.directory / "state"),
                            "XDG_CONFIG_HOME": str(self.directory / "config")}
        for name in self.cli("table", "list")["TableNames"]:
            self.cli("drop", name, "--yes")

    def run_cli(self, *arguments, **options):
        return super().run_cli(*arguments, **{"env": self.environment, **options})

    def text(self, *arguments):
        """The output for people."""
        done = self.run_cli("--output", "table", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def failing(self, exit_code, *arguments):
        done = self.run_cli(*arguments)
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()

    def on_terminal(self, *arguments, answer=""):
        return on_terminal(self.command(*arguments), answer, env=self.environment)

    def create_orders(self):
        self.cli("create", "orders", "--key", "order_id", "--index",
                 "ByCustomer=customer_id,status | order_date,amount:N")


class TablesTest(ShortTest):
    def test_a_table_is_made_in_one_line(self):
        made = self.cli(*("create", "orders", "--key", "customer,at:N", "--local", "ByTotal=total:N (keys)"),
                        *("--index", "ByState=state,region | total (note)", "--index", "ByNote=note"),
                        *("--stream", "--ttl", "expires_at", "--protect"))["TableDescription"]
        self.assertEqual(made["TableStatus"], "ACTIVE")
        self.assertEqual(made["KeySchema"], [{"AttributeName": "customer", "KeyType": "HASH"},
                                             {"AttributeName": "at", "KeyType": "RANGE"}])
        self.assertEqual(made["LocalSecondaryIndexes"][0]["Projection"]["ProjectionType"], "KEYS_ONLY")
        indexes = {index["IndexName"]: index for index in made["GlobalSecondaryIndexes"]}
        self.assertEqual([part["KeyType"] for part in indexes["ByState"]["KeySchema"]], ["HASH", "HASH", "RANGE"])
        self.assertEqual(indexes["ByState"]["Projection"], {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]})
        self.assertEqual(made["StreamSpecification"]["StreamViewType"], "NEW_AND_OLD_IMAGES")
        self.assertEqual(made["TimeToLiveDescription"]["AttributeName"], "expires_at")
        self.assertTrue(made["DeletionProtectionEnabled"])
        self.assertEqual(made["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")
        screen = self.text("describe", "orders")
        self.assertRegex(screen, r"(?m)^orders  ACTIVE  0 items  0 B$")
        self.assertRegex(screen, r"(?m)^  key      customer S \| at N$")
        self.assertRegex(screen, r"(?m)^  stream   NEW_AND_OLD_IMAGES$")
        self.assertRegex(screen, r"(?m)^  expiry   by expires_at$")
        self.assertRegex(screen, r"(?m)^  protect  cannot be deleted$")
        self.assertRegex(screen, r"(?m)^ByTotal +local +customer S +total N +keys +ACTIVE +0 +0 B$")
        self.assertRegex(screen, r"(?m)^ByState +global +state S, region S +total N +keys, note +ACTIVE +0 +0 B$")
        self.cli("table", "update", "orders", "--no-deletion-protection-enabled")

    def test_a_table_with_an_index_takes_few_keystrokes(self):
        line = "armature create orders --key order_id --index 'ByCustomer=customer_id,status | order_date,amount:N'"
        self.assertLessEqual(len(line), 118)
        self.create_orders()

    def test_mistakes_in_shapes_make_nothing(self):
        said = self.failing(USAGE_ERROR, "create", "orders", "--key", "id:X")
        self.assertIn("the types of key attributes are S, N and B", said)
        self.failing(USAGE_ERROR, "create", "orders", "--key", "id", "--index", "A=b,c")
        self.failing(USAGE_ERROR, "create", "orders")
        self.failing(USAGE_ERROR, "create", "--key", "id")
        self.failing(USAGE_ERROR, "create", "orders", "--key", "id", "--stream=SOME")
        self.assertEqual(self.cli("ls"), {"Tables": []})
        self.assertIn("There is no table", self.text("ls"))

    def test_lists_of_tables(self):
        self.create_orders()
        self.cli("create", "logs", "--key", "day,n:N", "--ttl", "gone")
        self.assertEqual([table["TableName"] for table in self.cli("ls")["Tables"]], ["logs", "orders"])
        listed = self.text("ls")
        self.assertRegex(listed, r"(?m)^logs +day S \| n N +0 +0 B +ACTIVE$")
        self.assertRegex(listed, r"(?m)^orders +order_id S +0 +0 B +1 +ACTIVE$")
        listed = self.text("ls", "-l")
        self.assertRegex(listed, r"(?m)^logs .* on demand +gone +20\d\d-")
        self.assertRegex(listed, r"(?m)^orders .* ByCustomer +ACTIVE")

    def test_drop_asks(self):
        self.create_orders()
        self.assertIn("--yes", self.failing(USAGE_ERROR, "drop", "orders"))
        seen, code = self.on_terminal("drop", "orders", answer="n\n")
        self.assertIn("Table orders with 0 items (0 B) and 1 index will be deleted. Go on? [y/N]", seen)
        self.assertEqual(code, USAGE_ERROR)
        seen, code = self.on_terminal("drop", "orders", answer="y\n")
        self.assertEqual((code, seen.endswith("orders is deleted\n")), (0, True), seen)
        self.failing(API_ERROR, "drop", "orders", "--yes")

    def test_indexes_come_and_go(self):
        self.create_orders()
        added = self.cli("index", "add", "orders", "ByDate=order_date | amount")
        self.assertEqual({index["IndexName"]: index["State"] for index in added["Indexes"]},
                         {"ByCustomer": "ACTIVE", "ByDate": "ACTIVE"})
        self.assertIn("--yes", self.failing(USAGE_ERROR, "index", "drop", "orders", "ByDate"))
        self.cli("index", "drop", "orders", "ByDate", "--yes")
        self.assertEqual([index["IndexName"] for index in self.cli("index", "status", "orders")["Indexes"]], ["ByCustomer"])

    def test_the_demo_fills_a_daemon_and_asks_before_it_overwrites(self):
        made = self.cli("demo")["Tables"]
        self.assertEqual([(table["TableName"], table["Created"], table["Items"]) for table in made],
                         [("Business", True, 5), ("CustomerOrders", True, 6), ("GameScores", True, 13), ("Thread", True, 11),
                          ("orders-table", True, 3)])
        self.assertEqual(self.cli("count", "Thread"), 11)
        self.assertIn("There are tables Business,", self.failing(USAGE_ERROR, "demo"))
        self.assertEqual([table["Created"] for table in self.cli("demo", "--yes")["Tables"]], [False] * 5)
        self.assertIn("describe orders-table", self.text("demo", "--yes"))
        self.cli("drop", "Thread", "--yes")
        self.cli("create", "Thread", "--key", "id:N")
        self.assertIn("there is a table Thread with another key", self.failing(USAGE_ERROR, "demo", "--yes"))


class PlacesOfTablesTest(ShortTest):
    def test_each_command_takes_its_table_as_a_word(self):
        self.create_orders()
        described = self.cli("table", "describe", "orders")
        self.assertEqual(described, self.cli("table", "describe", "--table-name", "orders"))
        self.assertEqual(described, self.cli("describe", "orders"))
        self.assertEqual(self.cli("count", "orders"), 0)
        names = ("--filter-expression", "attribute_exists(order_id)")
        self.assertEqual(self.cli("scan", "orders", *names)["Count"], 0)
        self.assertEqual(self.cli("ttl", "orders")["TimeToLiveDescription"]["TimeToLiveStatus"], "DISABLED")
        lines = self.directory / "orders.jsonl"
        lines.write_text('{"order_id": {"S": "1"}}\n')
        self.cli("load", "orders", lines)
        self.cli("load", lines, "--table-name", "orders")
        self.cli("export", "orders", "--to", self.directory / "out")
        self.assertEqual(len(list((self.directory / "out").glob("*.jsonl"))), 1)
        self.assertIn("given twice", self.failing(USAGE_ERROR, "scan", "orders", "--table-name", "orders"))

    def test_the_table_in_use(self):
        self.create_orders()
        self.assertIn("--table-name is required", self.failing(USAGE_ERROR, "describe"))
        self.assertEqual(self.cli("use"), {"TableName": None})
        self.assertIn("No table is in use", self.text("use"))
        self.failing(API_ERROR, "use", "nowhere")
        self.assertEqual(self.cli("use", "orders"), {"TableName": "orders"})
        self.assertEqual(self.text("use"), "orders\n")
        self.assertEqual(self.cli("describe")["Table"]["TableName"], "orders")
        self.assertEqual(self.cli("count"), 0)
        lines = self.directory / "orders.jsonl"
        lines.write_text('{"order_id": {"S": "1"}}\n')
        self.cli("load", lines)
        self.failing(USAGE_ERROR, "drop", "--yes")
        self.failing(USAGE_ERROR, "table", "delete", "--yes")
        self.assertEqual(self.cli("use", "-"), {"TableName": None})
        self.failing(USAGE_ERROR, "describe")
        self.cli("use", "orders")
        self.cli("drop", "orders", "--yes")
        self.assertEqual(self.cli("use"), {"TableName": None}, "a table that is gone is not in use")

    def test_a_table_is_no_key_of_the_table_in_use(self):
        self.create_orders()
        self.cli("create", "others", "--key", "id")
        for key in ("others", "K9"):
            self.cli("put", "orders", json.dumps({"order_id": key}))
        self.cli("use", "orders")
        for command in (("del", "others"), ("update", "others", "--set", "a = 1")):
            self.assertEqual(self.failing(USAGE_ERROR, *command), "armature: KEY is required; for the key 'others' of the "
                             "table in use write . others\n")
        self.cli("update", "K9", "--set", "a = 1")
        self.cli("update", ".", "others", "--set", "a = 1")
        self.assertEqual(self.cli("count", "--where", "a = 1"), 2)
        self.cli("del", "K9")
        self.cli("del", ".", "others")
        self.assertEqual(self.cli("count"), 0)
        self.assertIn("takes no table in use", self.failing(USAGE_ERROR, "truncate", ".", "--yes"))
        self.assertIn("TABLE is required", self.failing(USAGE_ERROR, "truncate", "--yes"))

    def test_the_table_in_use_in_both_forms_of_reads(self):
        self.create_orders()
        self.cli("use", "orders")
        self.cli("put", '{"order_id": "K1", "customer_id": "c", "status": "s", "order_date": "d", "amount": 1}')
        self.assertEqual(self.cli("scan")["order_id"], "K1")
        for table in ((), (".", ), ("--table-name", "."), ("orders", )):
            self.assertEqual(self.cli("scan", *table, "--limit", "5")["Count"], 1, table)
        self.assertEqual(self.cli("query", "order_id=K1")["order_id"], "K1")
        self.assertIn("belongs to the short form", self.failing(USAGE_ERROR, "query", "order_id=K1", "--limit", "5"))
        self.assertIn("is for get, update", self.failing(USAGE_ERROR, "scan", ".", "--limit", "5", "--output", "csv"))
        arn = self.cli("describe")["Table"]["TableArn"]
        self.cli("use", arn)
        self.assertIn(self.cli("count", "./ByCustomer", "c", "s"), (0, 1))

    def test_files_to_load_are_no_tables(self):
        self.create_orders()
        self.cli("create", "others", "--key", "order_id")
        for i, name in enumerate(("a", "b.jsonl", "others", "my file")):
            (self.directory / name).write_text(f'{{"order_id": "{i}"}}\n')
        options = {"cwd": self.directory}
        self.assertIn("--table-name is required", self.run_cli("load", "./a", "./b.jsonl", **options).stderr.decode())
        self.cli("use", "orders")
        for files in (("./a", "./b.jsonl"), ("a", "b.jsonl"), ("b.jsonl", "a"), (".", "a", "b.jsonl"), ("my file", "a", "b.jsonl"),
                      ("orders", "a", "b.jsonl"), (self.directory / "a", "b.jsonl"), ("-", "b.jsonl", "a")):
            self.cli("load", *files, **options, input=b"")
            self.assertEqual(self.cli("count", "orders"), 3 if "my file" in files else 2, files)
            self.assertEqual(self.cli("count", "others"), 0)
            self.cli("truncate", "orders", "--yes")
        done = self.run_cli("load", "others", "a", **options)
        self.assertEqual((done.returncode, done.stderr.decode()), (USAGE_ERROR, "armature: 'others' is a table and a file: write "
                         "./others for the file of the table in use, or --table-name others\n"))
        self.cli("load", "./others", "a", **options)
        self.assertEqual((self.cli("count", "orders"), self.cli("count", "others")), (2, 0))
        self.cli("load", "--table-name", "others", "a", **options)
        self.assertEqual(self.cli("count", "others"), 1)

    def test_frequent_commands_have_one_letter(self):
        self.create_orders()
        self.cli("use", "orders")
        self.cli("p", '{"order_id": "K9", "customer_id": "c1", "status": "s", "order_date": "d", "amount": 1}')
        self.assertEqual(self.cli("g", "K9")["amount"], 1)
        self.cli("u", "K9", "--set", "amount += 5")
        self.assertEqual(self.cli("s", "--where", "amount > 5")["amount"], 6)
        self.assertEqual(self.cli("q", "order_id=K9")["amount"], 6)
        self.assertEqual(self.cli("c"), 1)
        self.assertIn("a value in brackets", self.failing(USAGE_ERROR, "g", "[K9]"))
        self.assertIn("unknown option '--sett'", self.failing(USAGE_ERROR, "u", "K9", "--sett", "x"))
        self.assertEqual(self.run_cli("s", "--output", "csv").stdout.decode().splitlines()[0],
                         "order_id,amount,customer_id,order_date,status")

    def test_a_surplus_word_is_a_wrong_use(self):
        self.create_orders()
        self.cli("use", "orders")
        said = self.failing(USAGE_ERROR, "put", '{"order_id": "1"}', '{"order_id": "2"}')
        self.assertTrue(said.startswith("armature: ITEM: "), said)
        self.assertEqual(self.cli("count"), 0)

    def test_tail_is_watch(self):
        self.cli("create", "orders", "--key", "order_id", "--stream")
        self.cli("item", "put", "orders", "--item", '{"order_id": {"S": "1"}}')
        record = self.cli("tail", "orders", "--from", "oldest", "--limit", "1")
        self.assertEqual(record["eventName"], "INSERT")


class HintsTest(ShortTest):
    """The daemon's text stays on the first line; hints follow it."""

    def said(self, *arguments, exit_code=API_ERROR):
        lines = self.failing(exit_code, *arguments).splitlines()
        for line in lines[1:]:
            self.assertTrue(line.startswith("hint: "), lines)
        return lines[0], "\n".join(line[len("hint: "):] for line in lines[1:])

    def test_unknown_tables(self):
        error, hint = self.said("scan", "oders")
        self.assertTrue(error.startswith("ResourceNotFoundException: Requested resource not found"), error)
        self.assertEqual(hint, "there is no table 'oders'; the daemon has no tables")
        self.create_orders()
        self.assertEqual(self.said("scan", "oders")[1], "there is no table 'oders'; did you mean 'orders'?")
        self.assertEqual(self.said("describe", "zzz")[1], "there is no table 'zzz'; there are: orders")
        keys = json.dumps({"oders": {"Keys": [{"order_id": {"S": "1"}}]}})
        self.assertIn("did you mean 'orders'?", self.said("batch-get", "--request-items", keys)[1])
        actions = json.dumps([{"Get": {"TableName": "oders", "Key": {"order_id": {"S": "1"}}}}])
        self.assertIn("did you mean 'orders'?", self.said("transact", "get", "--transact-items", actions)[1])
        error, hint = self.said("create", "orders", "--key", "id")
        self.assertIn("ResourceInUseException", error)
        self.assertEqual(hint, "it is shown by: armature describe orders")

    def test_keys(self):
        self.create_orders()
        error, hint = self.said("item", "get", "orders", "--key", '{"id": {"S": "1"}, "n": {"N": "2"}}')
        self.assertEqual(error, "ValidationException: The provided key element does not match the schema")
        self.assertEqual(hint, "the key of orders is order_id S\ngiven: id S, n N")
        self.assertIn("given: order_id N", self.said("item", "put", "orders", "--item", '{"order_id": {"N": "1"}}')[1])
        self.assertIn("given: x S", self.said("item", "put", "orders", "--item", '{"x": {"S": "1"}}')[1])
        self.assertIn("given: x\\x1b S", self.said("item", "put", "orders", "--item", r'{"x\u001b": {"S": "1"}}')[1])

    def test_conditions_on_other_attributes(self):
        self.create_orders()
        values = ("--expression-attribute-values", '{":x": {"S": "a"}}')
        _, hint = self.said("query", "orders", "--key-condition-expression", "amount = :x", *values)
        self.assertIn("the key condition names amount\n", hint)
        self.assertIn("the key of orders is order_id S\n", hint)
        self.assertIn("the key of its index ByCustomer is customer_id S, status S | order_date S, amount N\n", hint)
        self.assertIn("armature scan", hint)
        _, hint = self.said("query", "orders", "--index-name", "ByCustomr", "--key-condition-expression", "a = :x", *values)
        self.assertEqual(hint, "the indexes of orders: ByCustomer; did you mean 'ByCustomer'?")
        _, hint = self.said("scan", "orders", "--filter-expression", "status = :x", *values)
        self.assertEqual(hint, "write #status instead of status, and --expression-attribute-names '{\"#status\": \"status\"}'")

    def test_values(self):
        self.create_orders()
        item = self.directory / "large.json"
        item.write_text(json.dumps({"order_id": {"S": "1"}, "note": {"S": "x" * 500_000}}))
        _, hint = self.said("item", "put", "orders", "--item", f"@{item}")
        self.assertRegex(hint, r"^an item may have 409,600 bytes, .* about 500,0\d\d, of which the attribute note has 500,0")
        long = json.dumps({"order_id": {"S": "1"}, "n": {"L": [{"N": "1" * 39}]}})
        self.assertEqual(self.said("item", "put", "orders", "--item", long)[1], "the number is in the attribute n[0]")

    def test_streams(self):
        self.create_orders()
        error, hint = self.said("watch", "orders")
        self.assertIn("Table orders has no stream", error)
        self.assertTrue(hint.startswith("enable it by: armature table update "), hint)
        self.cli(*hint.removeprefix("enable it by: armature ").split())
        self.cli("item", "put", "orders", "--item", '{"order_id": {"S": "1"}}')
        self.assertEqual(self.cli("watch", "orders", "--from", "oldest", "--limit", "1")["eventName"], "INSERT")

    def test_json(self):
        self.create_orders()
        put = ("item", "put", "orders", "--item")
        lines = self.failing(USAGE_ERROR, *put, '{"order_id": {"S": x}}').splitlines()
        self.assertTrue(lines[0].startswith("armature: --item: not valid JSON: "), lines)
        self.assertEqual(lines[1:], ['    {"order_id": {"S": x}}', "    " + " " * 19 + "^"])
        item = self.directory / "item.json"
        item.write_text('{"order_id": {"S": "1"}}')
        for text in (f"file://{item}", str(item)):
            said = self.failing(USAGE_ERROR, *put, text)
            self.assertEqual(said, f"armature: --item: '{text}' is no JSON; for the content of the file write @{item}\n")
        self.cli(*put, f"@{item}")

    def test_loads_of_wrong_files(self):
        self.create_orders()
        said = self.failing(5, "load", "orders", self.directory / "none.jsonl")
        self.assertEqual(len(said.splitlines()), 1, said)
        wrong = self.directory / "wrong.jsonl"
        wrong.write_text("no item\n")
        said = self.failing(5, "load", "orders", wrong)
        self.assertEqual(said.count("wrong.jsonl:1"), 1, said)

    def test_no_daemon(self):
        done = subprocess.run([PATHS.armature, "--endpoint", "127.0.0.1:1", "ls"], capture_output=True, env=self.environment,
                              timeout=WAIT_S, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.decode(), "armature: no answer from 127.0.0.1:1: 127.0.0.1:1 refuses the connection: "
                                               "no daemon listens there\n")


class CompletionTest(ShortTest):
    def complete(self, *words, endpoint=None):
        """The words that bash would offer, from its script. It splits words at ':' as bash does."""
        host, port = (endpoint or self.daemon.grpc).rsplit(":", 1)
        script = f'source <("{PATHS.armature}" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _armature; ' \
            'printf "%s\\n" "${COMPREPLY[@]}"'
        line = [PATHS.armature, "--endpoint", host, ":", port, *words]
        done = subprocess.run(["bash", "-c", script, "bash", *line], capture_output=True, text=True, timeout=WAIT_S,
                              check=False, env=self.environment, cwd=self.directory)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_names_of_the_database(self):
        self.create_orders()
        self.cli("item", "put", "orders", "--item", '{"order_id": {"S": "1"}, "note": {"S": "x"}}')
        (self.directory / "orchard.jsonl").write_text("")
        self.assertEqual(self.complete("describe", "or"), ["orders"])
        self.assertEqual(self.complete("table", "describe", "--table-name", "or"), ["orders"])
        self.assertEqual(self.complete("table", "describe", "--table-name", "=", "or"), ["orders"])
        self.assertEqual(self.complete("load", "or"), ["orders"])
        self.assertEqual(self.complete("load", "orders", "or"), ["orchard.jsonl"])
        self.assertEqual(self.complete("index", "drop", "orders", "By"), ["ByCustomer"])
        self.assertEqual(self.complete("query", "orders", "--index-name", ""), ["ByCustomer"])
        self.assertEqual(self.complete("query", "orders", "--projection-expression", ""),
                         ["amount", "customer_id", "note", "order_date", "order_id", "status"])
        self.cli("use", "orders")
        self.assertEqual(self.complete("query", "--index-name", ""), ["ByCustomer"])

    def test_without_a_daemon_there_are_no_names_and_no_files(self):
        (self.directory / "orchard.jsonl").write_text("")
        self.assertEqual(self.complete("describe", "or", endpoint="127.0.0.1:1"), [])
        self.assertEqual(self.complete("describe", "--ta", endpoint="127.0.0.1:1"), ["--table-name"])

    def test_profiles(self):
        path = self.directory / "config/armature/config.toml"
        path.parent.mkdir(parents=True)
        path.write_text("[live]\n[test]\n")
        self.assertEqual(self.complete("--profile", ""), ["live", "test"])


class ProfilesTest(ShortTest):
    def write(self, text):
        path = self.directory / "config/armature/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def command(self, *arguments):
        return [PATHS.armature, *map(str, arguments)]

    def setUp(self):
        os.environ["ARMATURE_ENDPOINT"] = self.daemon.grpc
        self.addCleanup(os.environ.pop, "ARMATURE_ENDPOINT", None)
        super().setUp()
        self.environment.pop("ARMATURE_ENDPOINT")

    def test_profiles_name_the_daemon(self):
        self.write(f'[default]\nendpoint = "127.0.0.1:1"\n[here]\nendpoint = "{self.daemon.grpc}"\noutput = "table"\n')
        self.failing(3, "ls")
        self.assertIn("There is no table", self.run_cli("--profile", "here", "ls").stdout.decode())
        self.assertEqual(self.cli("--profile", "here", "--output", "json", "ls"), {"Tables": []})
        self.environment["ARMATURE_PROFILE"] = "here"
        self.assertEqual(self.cli("ls", "--output", "json"), {"Tables": []})
        self.failing(3, "ls", "--endpoint", "127.0.0.1:1")
        self.environment["ARMATURE_ENDPOINT"] = "127.0.0.1:1"
        self.failing(3, "ls")

    def test_mistakes_in_profiles(self):
        self.write('[default]\nendpoint = "a:1"\nspeed = 3\n')
        said = self.failing(USAGE_ERROR, "ls")
        self.assertIn("config.toml:3: unknown key 'speed'", said)
        self.assertEqual(self.run_cli("--help").returncode, 0)
        self.write("[default]\n")
        self.assertIn("no profile [nowhere]", self.failing(USAGE_ERROR, "ls", "--profile", "nowhere"))


if __name__ == "__main__":
    run_tests()
