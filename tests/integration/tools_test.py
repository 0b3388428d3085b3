#!/usr/bin/python3
"""The command line and the sample tables, against a real daemon.

Run by CTest; by hand: tools_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import argparse
import importlib.util
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402
from on_terminal import on_terminal  # noqa: E402
PATHS = argparse.Namespace()

TABLE = {
    "TableName": "Music",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "Artist", "AttributeType": "S"},
        {"AttributeName": "Song", "AttributeType": "S"},
        {"AttributeName": "Year", "AttributeType": "N"},
    ],
    "KeySchema": [
        {"AttributeName": "Artist", "KeyType": "HASH"},
        {"AttributeName": "Song", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByYear",
            "KeySchema": [{"AttributeName": "Year", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=10 * WAIT_S, check=False, **options)


class ToolsTest(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enter(Daemon(PATHS.armatured))

    def enter(self, manager):
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def cli(self, *arguments, exit_code=0):
        """Output of a command: parsed if it succeeded, else its message on stderr, without what helps people."""
        done = run(PATHS.armature, "--endpoint", self.daemon.grpc, *arguments)
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        if exit_code:
            self.assertEqual(done.stdout, "")
            message, *more = done.stderr.splitlines()
            for line in more:
                self.assertRegex(line, "^(hint: |    )", done.stderr)
            return message
        return json.loads(done.stdout) if done.stdout.strip() else None

    def create_table(self):
        self.cli("table", "create", "--cli-input-json", json.dumps(TABLE), "--wait")

    def put(self, artist, song, **more):
        item = {"Artist": {"S": artist}, "Song": {"S": song}, **more}
        self.cli("item", "put", "--table-name", "Music", "--item", json.dumps(item))
        return item


class CommandLineTest(ToolsTest):
    def test_items_go_in_and_out_and_away(self):
        self.create_table()
        self.assertEqual(self.cli("table", "list")["TableNames"], ["Music"])
        item = self.put("Acme Band", "Happy Day", Year={"N": "2001"}, Tags={"SS": ["rock"]})
        key = json.dumps({"Artist": {"S": "Acme Band"}, "Song": {"S": "Happy Day"}})
        got = self.cli("item", "get", "--table-name", "Music", "--key", key)
        self.assertEqual(got["Item"], item)
        updated = self.cli(
            *("item", "update", "--table-name", "Music", "--key", key, "--return-values", "UPDATED_NEW"),
            *("--update-expression", "SET #y = #y + :one ADD Tags :pop"),
            *("--expression-attribute-names", '{"#y": "Year"}'),
            *("--expression-attribute-values", '{":one": {"N": "1"}, ":pop": {"SS": ["pop"]}}'),
        )
        self.assertEqual(updated["Attributes"], {"Year": {"N": "2002"}, "Tags": {"SS": ["pop", "rock"]}})
        self.cli("item", "delete", "--table-name", "Music", "--key", key)
        self.assertEqual(self.cli("item", "get", "--table-name", "Music", "--key", key), {})

    def test_queries_and_scans(self):
        self.create_table()
        for song, year in (("One", "1999"), ("Two", "2000"), ("Three", "2000")):
            self.put("Acme Band", song, Year={"N": year})
        found = self.cli(
            *("query", "--table-name", "Music", "--key-condition-expression", "Artist = :a and begins_with(Song, :s)"),
            *("--expression-attribute-values", '{":a": {"S": "Acme Band"}, ":s": {"S": "T"}}'),
        )
        self.assertEqual([item["Song"]["S"] for item in found["Items"]], ["Three", "Two"])
        self.assertEqual(self.cli("scan", "--table-name", "Music")["Count"], 3)

    def test_settings_of_tables(self):
        self.create_table()
        arn = self.cli("table", "describe", "--table-name", "Music")["Table"]["TableArn"]
        updated = self.cli("table", "update", "--table-name", arn, "--deletion-protection-enabled")
        self.assertTrue(updated["TableDescription"]["DeletionProtectionEnabled"])
        refused = self.cli("table", "delete", "--table-name", "Music", "--yes", exit_code=1)
        self.assertIn("protected against deletion", refused)
        self.cli("table", "update", "--table-name", "Music", "--no-deletion-protection-enabled")

        tags = [f"Key=k{n:02},Value=v" for n in range(11)]
        self.cli("table", "tag", "--resource-arn", arn, "--tags", *tags)
        self.cli("table", "untag", "--resource-arn", arn, "--tag-keys", "k00", "k02")
        listed = self.cli("table", "tags", "--resource-arn", arn)["Tags"]
        self.assertEqual([tag["Key"] for tag in listed], [f"k{n:02}" for n in range(11) if n not in (0, 2)])

        policy = ("policy", "get", "--resource-arn", arn)
        self.assertIn("PolicyNotFoundException", self.cli(*policy, exit_code=1))
        document = {"Statement": {"Effect": "Deny", "Principal": "*", "Action": "dynamodb:Scan", "Resource": "*"}}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(document, file, indent=4)
            file.flush()
            put = ("policy", "put", "--resource-arn", arn, "--policy", "@" + file.name)
            first = self.cli(*put, "--expected-revision-id", "NO_POLICY")["RevisionId"]
            self.assertEqual(self.cli(*put)["RevisionId"], first)
        self.assertEqual(json.loads(self.cli(*policy)["Policy"]), document)
        shown, _ = self.on_terminal(*policy)
        self.assertIn(f"Revision: {first}", shown)
        refused = self.cli("policy", "put", "--resource-arn", arn, "--policy", "{}", exit_code=1)
        self.assertIn("Invalid policy document: Statement is missing", refused)
        self.assertEqual(self.cli("policy", "delete", "--resource-arn", arn), {"RevisionId": first})

        ttl = ("table", "ttl", "--table-name", "Music")
        self.assertEqual(self.cli(*ttl)["TimeToLiveDescription"], {"TimeToLiveStatus": "DISABLED"})
        self.cli(*ttl, "--time-to-live-specification", "Enabled=true,AttributeName=expires")
        self.assertEqual(
            self.cli(*ttl)["TimeToLiveDescription"], {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
        )

    def on_terminal(self, *arguments, answer=""):
        return on_terminal([PATHS.armature, "--endpoint", self.daemon.grpc, *arguments], answer)

    def test_a_table_goes_only_if_it_is_meant(self):
        self.create_table()
        delete = ("table", "delete", "--table-name", "Music")
        self.assertIn("--yes", self.cli(*delete, exit_code=2))
        seen, code = self.on_terminal(*delete, answer="n\n")
        self.assertIn("Table Music and all its items and indexes will be deleted. Go on? [y/N]", seen)
        self.assertEqual(code, 2)
        self.assertEqual(self.cli("table", "list")["TableNames"], ["Music"])
        seen, code = self.on_terminal(*delete, "--wait", answer="y\n")
        self.assertEqual(code, 0, seen)
        self.assertEqual(self.cli("table", "list")["TableNames"], [])

    def test_people_get_tables_and_programs_json(self):
        self.create_table()
        self.assertEqual(self.cli("table", "list"), {"TableNames": ["Music"]})
        seen, _ = self.on_terminal("table", "list")
        self.assertNotIn("{", seen)
        self.assertIn("Music", seen)
        seen, _ = self.on_terminal("table", "list", "--output", "json")
        self.assertEqual(json.loads(seen), {"TableNames": ["Music"]})

    def test_the_overview(self):
        self.create_table()
        for n in range(3):
            self.put("Acme Band", str(n), Year={"N": "2001"})
        overview = self.cli("status")
        self.assertEqual([table["TableName"] for table in overview["Tables"]], ["Music"])
        self.assertEqual([index["IndexName"] for index in overview["Indexes"]], ["ByYear"])
        self.assertGreater(int(overview["Server"]["DiskTotalBytes"]), 0)
        self.assertNotIn("WritesRefusedReason", overview["Server"])
        seen, _ = self.on_terminal("status")
        self.assertRegex(seen, r"(?m)^writes  ok, \d+ waiting")
        self.assertRegex(seen, r"(?m)^Music +ACTIVE +3 ")
        self.assertRegex(seen, r"(?m)^ +ByYear +ACTIVE +\d ")
        self.assertEqual(overview["TablesWithPointInTimeRecovery"], [])
        self.assertNotIn("POINT-IN-TIME", seen)

    def test_the_overview_tells_that_point_in_time_recovery_keeps_no_history(self):
        self.create_table()
        status, _ = self.daemon.json_call("UpdateContinuousBackups", TableName="Music",
                                          PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        self.assertEqual(status, 200)
        self.assertIn("no history of tables is kept", self.daemon.log())
        self.assertEqual(self.cli("status")["TablesWithPointInTimeRecovery"], ["Music"])
        seen, _ = self.on_terminal("status")
        self.assertRegex(seen, r"(?m)^backups POINT-IN-TIME RECOVERY IS ENABLED BUT KEEPS NO HISTORY, .* Music\r?$")

    def test_completion(self):
        def complete(*words):
            script = f'source <("{PATHS.armature}" completion bash); COMP_WORDS=("$@"); ' \
                "COMP_CWORD=$(($# - 1)); _armature; echo ${COMPREPLY[@]}"
            done = run("bash", "-c", script, "bash", PATHS.armature, *words[1:])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return done.stdout.split()

        self.assertEqual(complete("armature", "sta"), ["status"])
        self.assertEqual(complete("armature", "table", "cr"), ["create"])
        self.assertEqual(complete("armature", "--endpoint", "a:1", "table", "delete", "--w"), ["--wait"])
        self.assertEqual(complete("armature", "table", "delete", "--out"), ["--output"])
        self.assertEqual(complete("armature", "table", "list", "--output", ""), ["csv", "json", "jsonl", "table", "yaml"])
        self.assertEqual(complete("armature", "completion", "z"), ["zsh"])
        for shell in ("zsh", "fish"):
            self.assertIn("armature", run(PATHS.armature, "completion", shell).stdout)

    def test_the_manual_tells_of_every_command(self):
        page = run(PATHS.armature, "man").stdout
        for command in ("table create", "status", "load", "verify"):
            self.assertIn(f".SS armature {command}\n", page)
        self.assertIn(r"\fB\-\-cli\-input\-json\fR", page)
        self.assertNotRegex(page, r"(?m)^\.(?!\\\"|TH|SH|SS|TP|PP|B |nf$|fi$)")

    def test_table_output_has_a_line_for_each_item(self):
        self.create_table()
        self.put("Acme Band", "One")
        done = run(PATHS.armature, "--endpoint", self.daemon.grpc, "--output", "table", "scan", "--table-name", "Music")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Acme Band", done.stdout)

    def test_refusals_exit_with_1(self):
        message = self.cli("scan", "--table-name", "Nowhere", exit_code=1)
        self.assertEqual(message, "ResourceNotFoundException: Requested resource not found")
        self.create_table()
        item = json.dumps({"Artist": {"N": "1"}, "Song": {"S": "x"}})
        message = self.cli("item", "put", "--table-name", "Music", "--item", item, exit_code=1)
        self.assertIn("ValidationException: ", message)
        self.assertEqual(self.cli("scan", "--table-name", "Music")["Count"], 0)

    def test_wrong_usage_exits_with_2(self):
        self.cli("no-such-command", exit_code=2)
        self.cli("item", "put", "--table-name", "Music", "--item", "{not json", exit_code=2)
        self.cli("item", "put", "--table-name", "Music", exit_code=2)

    def test_no_answer_exits_with_3(self):
        self.assertEqual(self.daemon.stop(), 0)
        message = self.cli("--timeout", "5", "table", "list", exit_code=3)
        self.assertIn(f"no answer from {self.daemon.grpc}", message)

    def test_help_needs_no_daemon(self):
        self.assertEqual(self.daemon.stop(), 0)
        self.assertEqual(run(PATHS.armature, "--help").returncode, 0)
        self.assertEqual(run(PATHS.armature, "query", "--help").returncode, 0)

    def test_status_commands(self):
        self.create_table()
        self.assertIn("ByYear", json.dumps(self.cli("index", "status")))
        self.cli("server", "info")

    def test_an_index_is_rebuilt(self):
        self.create_table()
        for year in range(3):
            self.put("Acme Band", str(year), Year={"N": str(year)})
        before = self.cli("table", "describe", "--table-name", "Music")["Table"]
        rebuilt = self.cli("--yes", "index", "rebuild", "--table-name", "Music", "--index-name", "ByYear")
        self.assertEqual([(index["State"], index["ItemCount"]) for index in rebuilt["Indexes"]], [("ACTIVE", 3)])
        after = self.cli("table", "describe", "--table-name", "Music")["Table"]
        for member in ("KeySchema", "Projection", "IndexName"):
            index_before, index_after = (table["GlobalSecondaryIndexes"][0][member] for table in (before, after))
            self.assertEqual(index_before, index_after)
        self.assertEqual(before["AttributeDefinitions"], after["AttributeDefinitions"])
        line = self.cli("--yes", "index", "rebuild", "--table-name", "Music", "--index-name", "Gone", exit_code=2)
        self.assertIn("has no global index Gone", line)


class SamplesTest(ToolsTest):
    def setUp(self):
        # As tools/run starts it: a query right after a write finds the item.
        self.daemon = self.enter(Daemon(PATHS.armatured, "--index_reads=settled"))

    def test_samples_load_twice(self):
        for _ in range(2):
            done = run("bash", str(ROOT / "tools/demo/load.sh"), self.daemon.grpc, PATHS.armature)
            self.assertEqual(done.returncode, 0, done.stderr)
        names = self.cli("table", "list")["TableNames"]
        self.assertEqual(names, ["Business", "CustomerOrders", "GameScores", "Thread", "orders-table"])
        self.assertEqual(self.cli("scan", "--table-name", "Thread")["Count"], 11)

    def run_shown(self, text):
        """Runs commands of `arm` as a page shows them, each of which must succeed. Their output."""
        files = self.enter(tempfile.TemporaryDirectory(prefix="armature_shown_"))
        arm = f"arm() {{ {shlex.quote(PATHS.armature)} --endpoint {self.daemon.grpc} \"$@\"; }}\n"
        done = run("bash", "-e", "-c", arm + text.replace("/tmp/", f"{files}/"), cwd=ROOT)
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_the_commands_to_try_run(self):
        shown = run("bash", str(ROOT / "tools/demo/load.sh"), self.daemon.grpc, PATHS.armature).stdout
        commands = shown.split("Commands to try:")[1].replace("  arm\n", "")
        output = self.run_shown("\n".join(line for line in commands.splitlines() if "alias" not in line))
        for expected in ("OrdersByStatusDateAmount", "Meteor Blasters", "LastPostDateTime", "Washington", '"C1"'):
            self.assertIn(expected, output)


def text_field(number, text):
    """An encoded field with a number below 16 and less than 128 bytes."""
    return bytes([number << 3 | 2, len(text)]) + text.encode()


@unittest.skipUnless(importlib.util.find_spec("grpc"), "python3-grpcio is not installed")
class StandardServicesTest(ToolsTest):
    """Health and reflection, called with encoded messages, so that no stubs are needed."""

    def setUp(self):
        super().setUp()
        import grpc  # pylint: disable=import-outside-toplevel

        self.grpc = grpc
        self.channel = self.enter(grpc.insecure_channel(self.daemon.grpc))

    def test_health_is_serving(self):
        check = self.channel.unary_unary("/grpc.health.v1.Health/Check")
        self.assertEqual(check(b"", timeout=WAIT_S), b"\x08\x01")  # status: SERVING
        with self.assertRaises(self.grpc.RpcError) as caught:
            check(text_field(1, "no.such.Service"), timeout=WAIT_S)
        self.assertEqual(caught.exception.code(), self.grpc.StatusCode.NOT_FOUND)

    def test_reflection_lists_the_services(self):
        call = self.channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        answer = b"".join(call(iter([text_field(7, "*")]), timeout=WAIT_S))  # list_services
        for name in ("armature.api.v1.ItemService", "armature.api.v1.TableService"):
            self.assertIn(name.encode(), answer)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    rest = parser.parse_known_args(namespace=PATHS)[1]
    unittest.main(argv=[sys.argv[0], *rest])
