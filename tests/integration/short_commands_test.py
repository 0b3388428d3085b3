#!/usr/bin/python3
"""The short commands on tables, profiles and hints of the command line, against a real daemon.

Run by CTest; by hand: short_commands_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import os
import pathlib
import pty
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import API_ERROR, PATHS, USAGE_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S  # noqa: E402


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
        ours, theirs = pty.openpty()
        with subprocess.Popen(self.command(*arguments), stdin=theirs, stdout=theirs, stderr=theirs, env=self.environment,
                              close_fds=True) as process:
            os.close(theirs)
            os.write(ours, answer.encode())
            seen = b""
            try:
                while chunk := os.read(ours, 65536):
                    seen += chunk
            except OSError:  # the other end of the terminal is closed
                pass
            os.close(ours)
            return seen.decode().replace("\r\n", "\n"), process.wait(WAIT_S)

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
        self.assertEqual(self.cli("scan", "Thread")["Count"], 11)
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
        self.assertEqual(self.cli("scan", "orders")["Count"], 0)
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
        self.assertEqual(self.cli("scan")["Count"], 0)
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

    def test_tail_is_watch(self):
        self.cli("create", "orders", "--key", "order_id", "--stream")
        self.cli("item", "put", "orders", "--item", '{"order_id": {"S": "1"}}')
        record = self.cli("tail", "orders", "--from", "oldest", "--limit", "1")
        self.assertEqual(record["eventName"], "INSERT")


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
