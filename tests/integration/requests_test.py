#!/usr/bin/python3
"""armature running and armature slow, against a real daemon.

Run by CTest; by hand: requests_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import API_ERROR, PATHS, USAGE_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S, Daemon  # noqa: E402

TABLE = {"TableName": "Orders", "BillingMode": "PAY_PER_REQUEST",
         "AttributeDefinitions": [{"AttributeName": "order_id", "AttributeType": "S"}],
         "KeySchema": [{"AttributeName": "order_id", "KeyType": "HASH"}],
         "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}}


class RequestsTest(CliTest):
    FLAGS = ("--slow_request_ms=1",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        command = [PATHS.armature, "--endpoint", cls.daemon.grpc, "table", "create", "--cli-input-json", json.dumps(TABLE)]
        subprocess.run([*command, "--wait"], capture_output=True, check=True, timeout=10 * WAIT_S)

    def wait_for_running(self, operation, table=None):
        """The running request of that operation, once it has been read and so names the table."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            for each in self.cli("running").get("Requests", []):
                if each["Operation"] == operation and each.get("TableName") == table:
                    return each
        raise AssertionError(f"{operation} does not run")

    def test_what_runs_is_listed_until_it_ends(self):
        watch = subprocess.Popen(self.command("watch", "Orders"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(watch.communicate)
        self.addCleanup(watch.kill)
        listed = self.wait_for_running("Watch", "Orders")
        self.assertEqual(listed["Front"], "grpc")
        self.assertRegex(listed["Peer"], r"^127\.0\.0\.1:\d+$")
        self.assertLess(abs(listed["BeganTime"] - time.time()), WAIT_S)
        again = self.wait_for_running("Watch", "Orders")
        self.assertGreater(again["DurationUs"], listed["DurationUs"])
        # The list shows itself, too.
        self.wait_for_running("admin:ListRequests")
        self.assertEqual(self.cli("running", "--at-least", "1h").get("Requests", []), [])
        table = self.run_cli("--output", "table", "running").stdout.decode()
        self.assertRegex(table, r"(?m)^ *\d+\.\d +Watch +Orders ")
        watch.kill()
        end = time.monotonic() + WAIT_S
        while any(each["Operation"] == "Watch" for each in self.cli("running").get("Requests", [])):
            self.assertLess(time.monotonic(), end, "the watch still runs")

    def test_slow_requests_are_kept_with_their_waits(self):
        # A commit of many items takes longer than a millisecond.
        items = [{"PutRequest": {"Item": {"order_id": {"S": f"{i}"}, "note": {"S": "x" * 100_000}}}} for i in range(25)]
        request = self.directory / "batch.json"
        request.write_text(json.dumps({"RequestItems": {"Orders": items}}))
        self.cli("batch-write", "--cli-input-json", f"@{request}")
        answer = self.cli("slow")
        self.assertEqual(answer["SlowUs"], 1000)
        slow = [each for each in answer["Requests"] if each["Operation"] == "BatchWriteItem"]
        self.assertTrue(slow, answer)
        self.assertEqual(slow[0]["Result"], "ok")
        self.assertEqual(slow[0]["TableName"], "Orders")
        self.assertRegex(slow[0]["RequestId"], r"^[0-9a-f-]{36}$")
        self.assertGreaterEqual(slow[0]["DurationUs"], 1000)
        self.assertIn("Waits", slow[0])
        self.assertIn("BatchWriteItem", self.run_cli("--output", "table", "slow").stdout.decode())
        self.assertEqual(len(self.cli("slow", "-n", "1")["Requests"]), 1)
        self.cli("sql", "SELECT * FROM Orders")
        statements = [each for each in self.cli("slow")["Requests"] if each["Operation"] == "ExecuteStatement"]
        self.assertEqual([each["TableName"] for each in statements[:1]], ["Orders"])

    def test_nonsense_is_refused(self):
        for arguments in (("--at-least", "soon"), ("--at-least", "-1s"), ("--at-least", "inf"), ("-n", "0"), ("-n", "1001")):
            self.failing(USAGE_ERROR, "running", *arguments)
        self.assertIn("at_least_us", self.failing(API_ERROR, "slow", "--at-least", "2562048h"))

    def test_without_the_flag_only_requests_of_a_second_are_slow(self):
        with Daemon(PATHS.armatured) as quiet:
            def show(*arguments):
                command = [PATHS.armature, "--endpoint", quiet.grpc, *arguments]
                return subprocess.run(command, capture_output=True, check=True, timeout=10 * WAIT_S).stdout.decode()

            self.assertIn("1000.0 ms or longer (--slow_request_ms", show("--output", "table", "slow"))
            listed = [each for each in json.loads(show("running"))["Requests"]]
            self.assertEqual([each["Operation"] for each in listed], ["admin:ListRequests"])
            self.assertNotIn("Waits", listed[0])


if __name__ == "__main__":
    run_tests()
