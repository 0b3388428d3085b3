#!/usr/bin/python3
"""The commands of the command line for several items, statements, streams and time to live, against a real daemon.

Run by CTest; by hand: commands_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402

PATHS = argparse.Namespace()
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def item_of(key, **more):
    return {"id": {"S": key}, **more}


class CommandsTest(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon(PATHS.armatured, "--ttl_interval=20ms"))
        self.daemon.create_table("Orders", StreamSpecification=STREAM)

    def run_cli(self, *arguments, given=None):
        return subprocess.run([PATHS.armature, "--endpoint", self.daemon.grpc, *arguments], capture_output=True, text=True,
                              timeout=10 * WAIT_S, check=False, input=given)

    def cli(self, *arguments, given=None):
        done = self.run_cli(*arguments, given=given)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def document(self, *arguments, given=None):
        return json.loads(self.cli(*arguments, given=given))

    def refused(self, exit_code, *arguments, given=None):
        done = self.run_cli(*arguments, given=given)
        self.assertEqual((done.returncode, done.stdout), (exit_code, ""), done.stderr)
        return done.stderr

    def put(self, *keys):
        requests = [{"PutRequest": {"Item": item_of(key, n={"N": str(number)})}} for number, key in enumerate(keys)]
        self.document("batch-write", "--request-items", json.dumps({"Orders": requests}))

    def test_batches(self):
        self.put("a", "b", "c")
        self.document("batch-write", "--request-items", json.dumps(
            {"Orders": [{"DeleteRequest": {"Key": item_of("b")}}, {"PutRequest": {"Item": item_of("d")}}]}))
        keys = json.dumps({"Orders": {"Keys": [item_of(key) for key in "abcd"], "ConsistentRead": True}})
        got = self.document("batch-get", "--request-items", keys, "--return-consumed-capacity", "TOTAL")
        self.assertEqual({item["id"]["S"] for item in got["Responses"]["Orders"]}, {"a", "c", "d"})
        self.assertNotIn("UnprocessedKeys", got)
        self.assertEqual(got["ConsumedCapacity"][0]["TableName"], "Orders")
        table = self.cli("--output", "table", "batch-get", "--request-items", keys)
        self.assertIn("Orders\n", table)
        self.assertIn("ResourceNotFoundException",
                      self.refused(1, "batch-get", "--request-items", json.dumps({"Nothing": {"Keys": [item_of("a")]}})))
        self.assertIn("--request-items is required", self.refused(2, "batch-write"))
        self.assertIn("--request-items", self.refused(2, "batch-write", "--request-items", "{"))

    def test_a_batch_of_more_than_16_mb_is_read_in_parts(self):
        for key in range(60):
            self.daemon.json_call("PutItem", TableName="Orders", Item=item_of(f"k{key}", v={"S": "x" * 390_000}))
        keys = json.dumps({"Orders": {"Keys": [item_of(f"k{key}") for key in range(60)]}})
        self.assertEqual(len(self.document("batch-get", "--request-items", keys)["Responses"]["Orders"]), 60)

    def test_transactions(self):
        self.put("a")
        actions = [{"Put": {"TableName": "Orders", "Item": item_of("b")}},
                   {"ConditionCheck": {"TableName": "Orders", "Key": item_of("a"), "ConditionExpression": "attribute_exists(n)"}}]
        for _ in range(2):
            self.document("transact", "write", "--client-request-token", "t1", "--transact-items", json.dumps(actions))
        got = self.document("transact", "get", "--transact-items", json.dumps(
            [{"Get": {"TableName": "Orders", "Key": item_of(key)}} for key in "abx"]))
        self.assertEqual([response.get("Item", {}).get("id") for response in got["Responses"]],
                         [{"S": "a"}, {"S": "b"}, None])
        actions[1]["ConditionCheck"]["ConditionExpression"] = "attribute_not_exists(n)"
        error = self.refused(1, "transact", "write", "--transact-items", json.dumps(actions))
        self.assertIn("TransactionCanceledException", error)
        self.assertIn("ConditionalCheckFailed", error)

    def test_statements(self):
        self.document("sql", "INSERT INTO Orders VALUE {'id': 'a', 'n': 1}")
        text = "INSERT INTO Orders VALUE {'id': 'b;c', 'n': 2}; -- two\nUPDATE Orders SET n = n + 5 WHERE id = 'a';\n"
        self.cli("sql", given=text)
        found = self.document("sql", "--parameters", '[{"S": "b;c"}]', "SELECT n FROM Orders WHERE id = ?")
        self.assertEqual(found, {"Items": [{"n": {"N": "2"}}]})
        everything = self.document("sql", "--consistent-read", "SELECT * FROM Orders")["Items"]
        self.assertEqual(sorted(item["n"]["N"] for item in everything), ["2", "6"])
        self.assertEqual(len(self.document("sql", "--limit", "1", "SELECT * FROM Orders")["Items"]), 1)
        self.assertIn("Scan", self.document("sql", "--explain", "SELECT * FROM Orders")["Plan"])
        self.assertIn("GetItem", self.document("sql", "--explain", "SELECT * FROM Orders WHERE id = 'a'")["Plan"])
        self.assertIn("6", self.cli("--output", "table", "sql", "-", given="SELECT * FROM Orders WHERE id = 'a'"))
        self.assertIn("ValidationException", self.refused(1, "sql", "SELEC"))
        self.assertIn("there is no statement", self.refused(2, "sql", given=" ; "))
        self.assertIn("--parameters", self.refused(2, "sql", "--parameters", '{"S": "x"}', "SELECT 1"))
        self.assertIn("--parameters", self.refused(2, "sql", "--parameters", "[]", given="SELECT 1; SELECT 2"))
        # Statements before the error are done.
        done = self.run_cli("sql", given="DELETE FROM Orders WHERE id = 'a'; nonsense; DELETE FROM Orders WHERE id = 'b;c'")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(self.document("sql", "SELECT * FROM Orders")["Items"]), 1)

    def test_a_statement_over_many_pages(self):
        for key in range(12):
            self.daemon.json_call("PutItem", TableName="Orders", Item=item_of(f"k{key}", v={"S": "x" * 300_000}))
        self.assertEqual(len(self.document("sql", "SELECT id FROM Orders")["Items"]), 12)

    def records(self, *arguments):
        return [json.loads(line) for line in self.cli("stream", "read", *arguments).splitlines()]

    def test_streams(self):
        self.put("a", "b", "c", "d", "e", "f")
        self.put("a")
        streams = self.document("stream", "list", "--table-name", "Orders")["Streams"]
        self.assertEqual([stream["TableName"] for stream in streams], ["Orders"])
        arn = streams[0]["StreamArn"]
        described = self.document("stream", "describe", "--stream-arn", arn)["StreamDescription"]
        self.assertEqual((described["StreamStatus"], len(described["Shards"])), ("ENABLED", 1))
        self.assertIn("open", self.cli("--output", "table", "stream", "describe", "--stream-arn", arn))
        records = self.records("--table-name", "Orders")
        self.assertEqual(records, self.records("--stream-arn", arn))
        self.assertEqual(sorted(record["dynamodb"]["Keys"]["id"]["S"] for record in records), list("abcdef"))
        self.assertEqual(len(self.records("--table-name", "Orders", "--limit", "2")), 2)
        self.assertEqual(self.records("--table-name", "Orders", "--from", "now"), [])
        self.assertIn("name either", self.refused(2, "stream", "read"))
        self.daemon.create_table("Plain")
        self.assertIn("never had a stream", self.refused(2, "stream", "read", "--table-name", "Plain"))
        self.assertIn("ResourceNotFoundException", self.refused(1, "stream", "describe", "--stream-arn", arn + "9"))

    def test_a_stream_is_followed_to_its_end(self):
        self.put("a", "b")
        with subprocess.Popen([PATHS.armature, "--endpoint", self.daemon.grpc, "stream", "read", "--table-name", "Orders",
                               "--follow"], stdout=subprocess.PIPE, text=True) as follower:
            alarm = threading.Timer(WAIT_S, follower.kill)
            alarm.start()
            self.addCleanup(alarm.cancel)
            first = [json.loads(follower.stdout.readline()) for _ in range(2)]
            self.assertEqual({record["eventName"] for record in first}, {"INSERT"})
            self.daemon.json_call("DeleteItem", TableName="Orders", Key=item_of("a"))
            self.assertEqual(json.loads(follower.stdout.readline())["eventName"], "REMOVE")
            # The shards of a stream that is switched off have an end.
            self.daemon.json_call("UpdateTable", TableName="Orders", StreamSpecification={"StreamEnabled": False})
            self.assertEqual(follower.stdout.read(), "")
            self.assertEqual(follower.wait(WAIT_S), 0)

    def test_time_to_live(self):
        status = self.document("ttl", "--table-name", "Orders")["TimeToLiveDescription"]["TimeToLiveStatus"]
        self.assertEqual(status, "DISABLED")
        self.document("ttl", "--table-name", "Orders", "--enable", "ends")
        self.daemon.json_call("PutItem", TableName="Orders", Item=item_of("gone", ends={"N": str(int(time.time()) - 60)}))
        deadline = time.monotonic() + WAIT_S
        while self.document("sql", "SELECT * FROM Orders")["Items"]:
            self.assertLess(time.monotonic(), deadline)
        described = self.document("table", "ttl", "--table-name", "Orders")["TimeToLiveDescription"]
        self.assertEqual(described, {"TimeToLiveStatus": "ENABLED", "AttributeName": "ends"})
        self.document("ttl", "--table-name", "Orders", "--disable")
        self.assertIn("already disabled", self.refused(1, "ttl", "--table-name", "Orders", "--disable"))
        self.assertIn("either", self.refused(2, "ttl", "--table-name", "Orders", "--disable", "--enable", "x"))

    def test_hot_keys(self):
        hint = self.refused(1, "hot-keys", "--table-name", "Orders")
        self.assertIn("armature hot-keys --table-name Orders --enable", hint)
        self.assertIn("not enabled for table Orders", hint)
        self.assertNotIn("--enable", self.refused(1, "hot-keys", "--table-name", "Others"))
        status = self.document("hot-keys", "--table-name", "Orders", "--enable")["ContributorInsightsStatus"]
        self.assertEqual(status, "ENABLING")
        self.put("a", "b", "c")
        self.put("b")
        answer = self.document("hot-keys", "--table-name", "Orders", "--by", "write", "--limit", "1")
        self.assertEqual(answer["HotKeys"], [{"Key": item_of("b"), "Count": 2, "Error": 0, "Cut": False}])
        self.assertEqual((answer["Total"], answer["Missed"], answer["KeysAreWhole"]), (4, 0, True))
        table = self.cli("--output", "table", "hot-keys", "--table-name", "Orders", "--by", "write")
        self.assertRegex(table, r"id=b +2.0 +0.0 +50.0 %")
        self.assertIn("Units in the last", table)
        self.refused(2, "hot-keys", "--table-name", "Orders", "--by", "age")
        self.refused(2, "hot-keys", "--table-name", "Orders", "--limit", "0")
        self.assertIn("either", self.refused(2, "hot-keys", "--table-name", "Orders", "--enable", "--disable"))
        self.assertIn("--throttled-only", self.refused(2, "hot-keys", "--table-name", "Orders", "--throttled-only"))
        self.document("hot-keys", "--table-name", "Orders", "--enable", "--throttled-only")
        self.assertIn("--enable", self.refused(1, "hot-keys", "--table-name", "Orders"))
        self.assertEqual(self.document("hot-keys", "--table-name", "Orders", "--by", "throttled")["HotKeys"], [])
        self.document("hot-keys", "--table-name", "Orders", "--disable")
        self.refused(1, "hot-keys", "--table-name", "Orders", "--by", "throttled")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    _, rest = parser.parse_known_args(namespace=PATHS)
    unittest.main(argv=[sys.argv[0], *rest])
