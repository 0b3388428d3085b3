#!/usr/bin/python3
"""The short commands for items, against a real daemon.

Run by CTest; by hand: item_commands_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import csv
import io
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_cli import API_ERROR, DIFFERENCES, INPUT_ERROR, PATHS, USAGE_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S  # noqa: E402
from on_terminal import on_terminal  # noqa: E402

MISSING = DIFFERENCES  # the exit code for an item that does not exist


def table(name, keys, types, indexes=()):
    def schema(parts):
        return [{"AttributeName": part, "KeyType": kind} for part, kind in zip(parts, ("HASH", "RANGE"))]

    definition = {"TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": schema(keys),
                  "AttributeDefinitions": [{"AttributeName": part, "AttributeType": kind} for part, kind in types.items()]}
    if indexes:
        definition["GlobalSecondaryIndexes"] = [
            {"IndexName": index, "KeySchema": schema(parts), "Projection": {"ProjectionType": "ALL"}}
            for index, parts in indexes]
    return definition


class ItemCommandsTest(CliTest):
    def setUp(self):
        super().setUp()
        self.create(table("orders", ["order_id"], {"order_id": "S", "status": "S", "amount": "N"},
                          [("by_status", ["status", "amount"])]))
        self.create(table("measures", ["sensor", "time"], {"sensor": "S", "time": "N"}))
        for name in ("orders", "measures"):
            self.addCleanup(self.cli, "table", "delete", "--table-name", name, "--yes", "--wait")

    def done(self, exit_code, *arguments, given=None):
        """Output and messages of a command."""
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=10 * WAIT_S, check=False,
                              input=given)
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        return done.stdout, done.stderr

    def said(self, *arguments, given=None):
        """The output of a command that succeeds silently."""
        out, err = self.done(0, *arguments, given=given)
        self.assertEqual(err, "")
        return out

    def refused(self, exit_code, *arguments):
        out, err = self.done(exit_code, *arguments)
        self.assertEqual(out, "")
        return err

    def lines(self, *arguments):
        return [json.loads(line) for line in self.said(*arguments).splitlines()]

    def on_terminal(self, *arguments, answer="", columns=80):
        return on_terminal(self.command(*arguments), answer, columns)

    def test_an_item_goes_in_and_out_and_away(self):
        item = '{"order_id": "K1", "amount": 12.50, "big": 12345678901234567890123456789012345678, "tags": {"SS": ["a"]}, ' \
               '"address": {"lines": ["x", null], "S": {"M": {"S": "y"}}}}'
        self.assertEqual(self.said("put", "orders", item), "")
        shown = self.said("get", "orders", "K1", "--consistent")
        self.assertEqual(shown, '{"order_id": "K1", "address": {"S": {"M": {"S": "y"}}, "lines": ["x", null]}, "amount": 12.5, '
                                '"big": 12345678901234567890123456789012345678, "tags": {"SS": ["a"]}}\n')
        self.said("put", "orders", "-", given=shown)
        self.assertEqual(self.said("get", "orders", "order_id=K1"), shown)
        self.assertEqual(self.said("get", "orders", '{"order_id": "K1"}'), shown)
        self.assertEqual(json.loads(self.said("get", "orders", "K1", "--typed"))["amount"], {"N": "12.5"})
        self.assertEqual(self.said("get", "orders", "K1", "--select", "amount, address.lines[0]"),
                         '{"amount": 12.5, "address": {"lines": ["x"]}}\n')
        self.assertEqual(self.said("del", "orders", "K1"), "")
        self.assertEqual(self.refused(MISSING, "get", "orders", "K1"), "armature: no item with order_id = K1 in orders\n")
        self.assertEqual(self.refused(MISSING, "del", "orders", "K1"), "armature: no item with order_id = K1 in orders\n")

    def test_items_from_files(self):
        path = self.directory / "item.json"
        path.write_text('{\n  "order_id": "K1"\n}\n')
        self.said("put", "orders", f"@{path}")
        self.assertEqual(self.said("get", "orders", "K1"), '{"order_id": "K1"}\n')
        self.said("put", "orders", "@-", given='{"order_id": {"S": "K2"}}')
        self.assertEqual(self.said("get", "orders", "K2"), '{"order_id": "K2"}\n')
        self.assertEqual(self.refused(USAGE_ERROR, "put", "orders", "file://item.json"),
                         "armature: file://item.json is not taken here: use @item.json\n")
        self.assertIn("cannot read file /nowhere", self.refused(USAGE_ERROR, "put", "orders", "@/nowhere"))
        self.assertIn("the item: not valid JSON: parse error at line 1, column",
                      self.refused(USAGE_ERROR, "put", "orders", "{order_id: 1}"))

    def test_keys_have_the_types_of_the_table(self):
        self.said("put", "measures", '{"sensor": "7", "time": -5, "v": 1}')
        for key in (["7", "-5.0"], ["time=-5", "sensor=7"], ['{"sensor": "7", "time": {"N": "-5"}}']):
            self.assertEqual(self.said("get", "measures", "--", *key), '{"sensor": "7", "time": -5, "v": 1}\n')
        key = "measures has the key sensor (S), time (N)"
        self.assertEqual(self.refused(USAGE_ERROR, "get", "measures", "7"),
                         f"armature: 1 value for a key of 2 attributes; {key}\n")
        self.assertEqual(self.refused(USAGE_ERROR, "get", "measures", "7", "noon"),
                         f'armature: the key attribute time is a number, not "noon"; {key}\n')
        self.assertEqual(self.refused(USAGE_ERROR, "del", "measures", "", "1"),
                         f"armature: the key attribute sensor must not be empty; {key}\n")
        self.assertIn("3 values", self.refused(USAGE_ERROR, "get", "measures", "1", "2", "3"))
        self.assertEqual(self.refused(USAGE_ERROR, "get", "measures"),
                         f"armature: 0 values for a key of 2 attributes; {key}\n")
        self.assertIn("ResourceNotFoundException", self.refused(API_ERROR, "get", "nothing", "7"))
        for arguments in (("get", "orders/by_status", "open"), ("put", "orders/by_status", "{}")):
            self.assertIn("not of the index by_status", self.refused(USAGE_ERROR, *arguments))
        # Words of the command line are values, too.
        self.said("put", "measures", '{"sensor": "query", "time": 1}')
        self.assertEqual(self.said("get", "measures", "query", "1"), '{"sensor": "query", "time": 1}\n')

    def test_keys_in_brackets_have_their_names(self):
        for key in ("vip", "[vip]"):
            self.said("put", "orders", json.dumps({"order_id": key}))
        error = "armature: a value in brackets needs the name of its attribute: NAME=[vip]\n"
        for command in ("get", "del", "query", "count"):
            self.assertEqual(self.refused(USAGE_ERROR, command, "orders", "[vip]"), error)
        self.assertEqual(self.refused(USAGE_ERROR, "update", "orders", "[vip]", "--set", "a = 1"), error)
        self.assertEqual(self.said("get", "orders", "order_id=[vip]"), '{"order_id": "[vip]"}\n')
        self.assertEqual(self.found("query", "orders", "order_id=[vip]"), ["[vip]"])

    def test_conditions_of_writes(self):
        self.said("put", "orders", '{"order_id": "K1", "status": "open"}', "--if", "attribute_not_exists(order_id)")
        error = self.refused(API_ERROR, "put", "orders", '{"order_id": "K1"}', "--if", "attribute_not_exists(order_id)")
        self.assertIn("ConditionalCheckFailedException", error)
        self.assertIn("ConditionalCheckFailedException", self.refused(API_ERROR, "del", "orders", "K1", "--if", "status = 'x'"))
        self.assertEqual(self.refused(USAGE_ERROR, "del", "orders", "K1", "--if", "status = and"),
                         'armature: --if "status = and", character 10: expected an attribute, not "and"; an attribute of this '
                         'name stands in backticks\n')
        seen, _ = self.on_terminal("del", "orders", "K1", "--if", "status = and")
        self.assertIn("  status = and\n           ^\narmature: --if", seen)
        self.said("del", "orders", "K1", "--if", "status = \"open\" and size(status) = 4")

    def test_updates(self):
        self.said("put", "orders", '{"order_id": "K1", "amount": 1, "note": "n", "tags": {"SS": ["a", "b"]}, "order": [1]}')
        updated = self.said("update", "orders", "K1", "--set", "amount = amount + 5, name = 'x'", "--set",
                            "order = list_append(order, [2])", "--remove", "note", "--add", "visits 1",
                            "--delete", 'tags {"SS": ["a"]}', "--if", "amount < 5")
        self.assertEqual(updated, '{"order_id": "K1", "amount": 6, "name": "x", "order": [1, 2], "tags": {"SS": ["b"]}, '
                                  '"visits": 1}\n')
        self.assertEqual(self.said("update", "orders", "K2", "--set", "amount = if_not_exists(amount, 0)"),
                         '{"order_id": "K2", "amount": 0}\n')
        self.assertIn("ConditionalCheckFailed", self.refused(API_ERROR, "update", "orders", "K1", "--set", "a = 1", "--if", "a = 2"))
        self.assertIn("nothing to change", self.refused(USAGE_ERROR, "update", "orders", "K1"))
        self.assertIn('--set "amount", character 7: expected =', self.refused(USAGE_ERROR, "update", "orders", "K1", "--set", "amount"))

    def put_orders(self, count):
        requests = "".join(
            json.dumps({"order_id": {"S": f"K{n:04}"}, "status": {"S": "open" if n % 2 else "done"}, "amount": {"N": str(n)}})
            + "\n" for n in range(count))
        path = self.directory / "orders.jsonl"
        path.write_text(requests)
        self.done(0, "load", "--table-name", "orders", str(path))

    def found(self, *arguments):
        return [item["order_id"] for item in self.lines(*arguments)]

    def wait_for_index(self):
        """A write and a read that waits until the index holds it."""
        written = json.loads(self.cli_text("item", "put", "--table-name", "orders", "--item", '{"order_id": {"S": "K0000"}, '
                                           '"status": {"S": "done"}, "amount": {"N": "0"}}'))
        self.cli_text("scan", "--table-name", "orders", "--index-name", "by_status", "--limit", "1",
                      "--at-least-sequence", str(written["ChangeSequence"]))

    def cli_text(self, *arguments):
        return self.done(0, *arguments)[0]

    def test_queries(self):
        self.put_orders(10)
        self.wait_for_index()
        query = ("query", "orders/by_status")
        self.assertEqual(self.found(*query, "status=open"), ["K0001", "K0003", "K0005", "K0007", "K0009"])
        self.assertEqual(self.found(*query, "open", "amount>3", "--reverse", "-n", "2"), ["K0009", "K0007"])
        self.assertEqual(self.found(*query, "status=open", "amount between 3 and 5"), ["K0003", "K0005"])
        self.assertEqual(self.found(*query, "status=open", "order_id^=K0003"), ["K0003"])
        self.assertEqual(self.found(*query, "status=open", "--where", "order_id = 'K0001' or order_id = 'K0009'"), ["K0001", "K0009"])
        self.assertEqual(self.said(*query, "status=open", "-n", "1", "--select", "amount,status"),
                         '{"amount": 1, "status": "open"}\n')
        self.assertEqual(self.found("query", "orders", "K0004", "--consistent"), ["K0004"])
        self.assertEqual(self.found("query", "orders", "K9"), [])
        self.assertEqual(self.found("query", "orders", "--", "-K9"), [])
        key = "orders/by_status has the key status (S), amount (N)"
        self.assertIn(f"a query needs NAME=VALUE for the partition key; {key}", self.refused(USAGE_ERROR, *query, "amount>1"))
        self.assertIn("amount is a number", self.refused(USAGE_ERROR, *query, "status=open", "amount>x"))
        self.assertIn("there is no index by_statu; orders has the indexes by_status; did you mean 'by_status'?",
                      self.refused(USAGE_ERROR, "query", "orders/by_statu", "a=b"))

    def test_scans_and_counts(self):
        self.put_orders(10)
        self.wait_for_index()
        self.assertEqual(len(self.found("scan", "orders")), 10)
        self.assertEqual(len(self.found("scan", "orders/by_status")), 10)
        self.assertEqual(sorted(self.found("scan", "orders", "--where", "amount >= 8")), ["K0008", "K0009"])
        self.assertEqual(len(self.found("scan", "orders", "-n", "3")), 3)
        self.assertEqual(len(self.found("scan", "orders", "-n", "3", "--where", "amount > 2")), 3)
        for count, arguments in ((10, ["orders"]), (5, ["orders/by_status", "status=open"]), (2, ["orders", "amount>7"]),
                                 (1, ["orders", "K0001", "--consistent"]), (4, ["orders", "--where", "amount < 4"]),
                                 (2, ["orders/by_status", "open", "--where", "order_id < 'K0005'"])):
            self.assertEqual(self.said("count", *arguments), f"{count}\n", arguments)

    def test_all_pages_are_read(self):
        for n in range(5):
            self.daemon.json_call("PutItem", TableName="orders", Item={"order_id": {"S": f"K{n}"}, "v": {"S": "x" * 390_000}})
        self.assertEqual(len(self.found("scan", "orders", "--select", "order_id")), 5)
        self.assertEqual(self.said("count", "orders"), "5\n")

    def test_one_command_has_two_forms(self):
        self.put_orders(2)
        self.assertEqual(json.loads(self.said("scan", "--table-name", "orders"))["Count"], 2)
        usage = "; the short form is scan TABLE[/INDEX], the long form scan --table-name TABLE\n"
        for option in (("--limit", "5"), ("--all-pages",)):
            self.assertEqual(json.loads(self.said("scan", "orders", *option))["Count"], 2, "TABLE names it in both forms")
        self.assertEqual(self.refused(USAGE_ERROR, "scan", "orders", "--limit", "5", "--where", "a = 1"),
                         f"armature: --where belongs to the short form{usage}")
        self.assertEqual(self.refused(USAGE_ERROR, "scan", "--table-name", "orders", "--where", "a = 1"),
                         f"armature: --where belongs to the short form{usage}")
        self.assertEqual(self.refused(USAGE_ERROR, "scan"), "armature: --table-name is required\n")

    def test_formats(self):
        self.said("put", "orders", '{"order_id": "K1", "amount": 1.5, "note": "a,\\"b\\"", "tags": {"SS": ["x"]}}')
        self.said("put", "orders", '{"order_id": "K2", "note": "", "list": [1, {"a": "yes"}]}')
        as_text = {
            "get": {"json": '{"order_id": "K2", "list": [1, {"a": "yes"}], "note": ""}\n',
                    "yaml": 'order_id: K2\nlist:\n  - 1\n  -\n    a: "yes"\nnote: ""\n',
                    "csv": 'order_id,list,note\nK2,"[1, {""a"": ""yes""}]",""\n',
                    "table": 'order_id  list               note\nK2        [1, {"a": "yes"}]  ""\n'}}
        for output, text in as_text["get"].items():
            self.assertEqual(self.said("get", "orders", "K2", "--output", output), text)
        items = json.loads(self.said("scan", "orders", "--output", "json"))
        self.assertEqual(sorted(item["order_id"] for item in items), ["K1", "K2"])
        rows = list(csv.DictReader(io.StringIO(self.said("scan", "orders", "--output", "csv"))))
        self.assertEqual(sorted(row["note"] for row in rows), ["", 'a,"b"'])
        self.assertEqual(list(rows[0]), ["order_id", "amount", "list", "note", "tags"])
        self.assertEqual(self.said("query", "orders", "K1", "--select", "note,amount,none", "--output", "csv"),
                         'note,amount,none\n"a,""b""",1.5,\n')
        self.assertTrue(self.said("query", "orders", "K1", "--output", "yaml").startswith("- order_id: K1\n  amount: 1.5\n"))
        self.assertEqual(self.said("query", "orders", "K9", "--output", "json"), "[]\n")
        self.assertEqual(self.said("query", "orders", "K9", "--output", "csv"), "")
        self.assertIn("is for get, update, and the short forms", self.refused(USAGE_ERROR, "--output", "csv", "table", "list"))
        self.assertIn("is for get", self.refused(USAGE_ERROR, "--output", "yaml", "scan", "--table-name", "orders"))

    def test_csv_refuses_attributes_without_a_column(self):
        self.put_orders(1001)
        for item in self.lines("scan", "orders"):
            last = item["order_id"]
        self.said("update", "orders", last, "--set", "late = 1")
        out, err = self.done(INPUT_ERROR, "scan", "orders", "--output", "csv")
        self.assertIn("has the attribute late, which none of the first 1000 items has", err)
        self.assertEqual(len(out.splitlines()), 1001)
        self.assertEqual(len(self.said("scan", "orders", "--output", "csv", "--select", "order_id,late").splitlines()), 1002)

    def test_people_get_tables(self):
        self.said("put", "orders", '{"order_id": "K1", "amount": 5, "note": null}')
        self.said("put", "orders", '{"order_id": "K2", "amount": 100, "text": "' + "x" * 100 + '"}')
        seen, code = self.on_terminal("query", "orders", "K1")
        self.assertEqual((seen, code), ("order_id  amount  note\nK1             5  NULL\n1 item\n", 0))
        seen, _ = self.on_terminal("get", "orders", "K2", columns=40)
        self.assertEqual(seen, "order_id  amount  text\nK2           100  " + "x" * 21 + "…\n")
        seen, _ = self.on_terminal("get", "orders", "K2", "--wide", columns=40)
        self.assertIn("x" * 100, seen)
        seen, _ = self.on_terminal("get", "orders", "K2", columns=17)
        self.assertIn("1 attribute is not shown: --wide shows all, --select a,b some\n", seen)
        seen, _ = self.on_terminal("put", "orders", '{"order_id": "K3"}')
        self.assertEqual(seen, "put 1 item into orders\n")
        seen, _ = self.on_terminal("update", "orders", "K3", "--set", "amount = 1")
        self.assertIn("updated 1 item in orders\n", seen)
        seen, _ = self.on_terminal("del", "orders", "K3")
        self.assertEqual(seen, "deleted 1 item from orders\n")
        seen, _ = self.on_terminal("query", "orders", "K3")
        self.assertEqual(seen, "no items\n")

    def test_a_terminal_gets_no_control_characters(self):
        self.said("put", "orders", r'{"order_id": "K1", "no\u001bte": "a\u001b[2J\u009bb"}')
        self.assertEqual(self.said("get", "orders", "K1", "--output", "csv"), "order_id,no\x1bte\nK1,a\x1b[2J\x9bb\n")
        seen, _ = self.on_terminal("get", "orders", "K1", "--output", "csv")
        self.assertEqual(seen, "order_id,no\\x1bte\nK1,a\\x1b[2J\\x9bb\n")
        self.assertIn("no item with order_id = a\\x1b in", self.refused(MISSING, "get", "orders", "a\x1b"))

    def test_a_terminal_gets_a_thousand_items(self):
        self.put_orders(1001)
        more = "1,000 items shown; there are more: --all or -n N\n"
        for arguments in (("scan", "orders"), ("scan", "orders", "--where", "amount >= 0"), ("scan", "orders", "--output", "jsonl")):
            seen, _ = self.on_terminal(*arguments)
            self.assertTrue(seen.endswith(more), seen[-200:])
            self.assertEqual(len([line for line in seen.splitlines() if "K0" in line or "K1" in line]), 1000)
        seen, _ = self.on_terminal("scan", "orders", "--all")
        self.assertTrue(seen.endswith("1,001 items\n"), seen[-200:])
        seen, _ = self.on_terminal("scan", "orders", "-n", "1001")
        self.assertTrue(seen.endswith("1,001 items\n"), seen[-200:])
        self.said("del", "orders", "K0500")
        seen, _ = self.on_terminal("scan", "orders")
        self.assertTrue(seen.endswith("1,000 items\n"), seen[-200:])
        self.assertEqual(len(self.found("scan", "orders")), 1000)

    def test_truncate(self):
        self.put_orders(120)
        self.assertIn("say --yes", self.refused(USAGE_ERROR, "truncate", "orders"))
        seen, code = self.on_terminal("truncate", "orders", answer="n\n")
        self.assertIn("This deletes all items of the table orders (120). Go on? [y/N]", seen)
        self.assertEqual(code, USAGE_ERROR)
        self.assertEqual(self.said("count", "orders"), "120\n")
        seen, code = self.on_terminal("truncate", "orders", answer="y\n")
        self.assertIn("deleted 120 items from orders\n", seen)
        self.assertEqual(self.said("count", "orders", "--consistent"), "0\n")
        self.put_orders(3)
        self.assertEqual(self.said("truncate", "orders", "--yes"), "")
        self.assertEqual(self.said("count", "orders", "--consistent"), "0\n")
        self.assertIn("truncate takes a table", self.refused(USAGE_ERROR, "truncate", "orders/by_status", "--yes"))


if __name__ == "__main__":
    run_tests()
