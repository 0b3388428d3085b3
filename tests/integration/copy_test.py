#!/usr/bin/python3
"""`armature copy` between two daemons, and from and to servers that behave badly.

Run by CTest; by hand: copy_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import base64
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import API_ERROR, DIFFERENCES, INPUT_ERROR, PATHS, UNREACHABLE, USAGE_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S, Daemon, wait_for  # noqa: E402
from protocol_proxy import Answer, ProtocolProxy, refusal  # noqa: E402

ITEMS = 3000


def check(answer):
    status, document = answer
    assert status == 200, document
    return document


def binary(text):
    return {"B": base64.b64encode(text).decode()}


def item_of(number):
    """An item with all types."""
    return {
        "id": {"S": f"item-{number:05}"},
        "at": {"N": str(number % 7)},
        "big": {"N": "-1234567890123456789012345678901234567.8"},
        "tiny": {"N": "1E-130"},
        "raw": binary(bytes(range(256))),
        "tags": {"SS": ["b", "a", "\u00e9\u4e2d"]},
        "counts": {"NS": ["3", "1.5", "-7"]},
        "blobs": {"BS": [binary(b"x")["B"], binary(b"yy")["B"]]},
        "paid": {"BOOL": number % 2 == 0},
        "none": {"NULL": True},
        "empty": {"S": ""},
        "deep": {"L": [{"M": {"a \"quoted\" \n": {"L": [{"N": "0"}]}}}, {"L": []}, {"M": {}}]},
        "state": {"S": ("open", "done")[number % 2]},
        "text": {"S": "x" * (number % 500)},
    }


DEFINITION = {
    "AttributeDefinitions": [
        {"AttributeName": "id", "AttributeType": "S"},
        {"AttributeName": "at", "AttributeType": "N"},
        {"AttributeName": "state", "AttributeType": "S"},
        {"AttributeName": "big", "AttributeType": "N"},
    ],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
    "LocalSecondaryIndexes": [{
        "IndexName": "local", "Projection": {"ProjectionType": "KEYS_ONLY"},
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "big", "KeyType": "RANGE"}]}],
    "GlobalSecondaryIndexes": [{
        "IndexName": "by_state", "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["paid", "big"]},
        "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "HASH"},
                      {"AttributeName": "id", "KeyType": "RANGE"}]}],
    "BillingMode": "PAY_PER_REQUEST",
    "Tags": [{"Key": "owner", "Value": "tests"}],
}


class CopyTest(CliTest):
    """The source is the daemon of the class, and the target one of the test class, too. Each test has tables of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.target = Daemon(PATHS.armatured).__enter__()
        cls.addClassCleanup(cls.target.__exit__, None, None, None)

    def setUp(self):
        super().setUp()
        self.table = self.id().rsplit(".", 1)[1]
        self.state = self.directory / "state"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")}, "HOME": str(self.directory)}

    def make_table(self, items=ITEMS, daemon=None, **more):
        daemon = daemon or self.daemon
        definition = {**DEFINITION, "TableName": self.table, **more}
        check(daemon.json_call("CreateTable", **definition))
        wait_for(lambda: check(daemon.json_call("DescribeTable", TableName=self.table))["Table"]["TableStatus"] == "ACTIVE",
                 "the table")
        self.put(daemon, range(items))

    def put(self, daemon, numbers, item=item_of):
        numbers = list(numbers)
        for begin in range(0, len(numbers), 25):
            puts = [{"PutRequest": {"Item": item(number)}} for number in numbers[begin:begin + 25]]
            answer = check(daemon.json_call("BatchWriteItem", RequestItems={self.table: puts}))
            self.assertEqual(answer["UnprocessedItems"], {})

    def items(self, daemon, table=None):
        """All items by key, sets in order."""
        found, start = {}, {}
        while start is not None:
            page = check(daemon.json_call("Scan", TableName=table or self.table, ConsistentRead=True, **start))
            for item in page["Items"]:
                for value in item.values():
                    for kind in ("SS", "NS", "BS"):
                        if kind in value:
                            value[kind].sort()
                found[json.dumps([item["id"], item.get("at")])] = item
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]} if "LastEvaluatedKey" in page else None
        return found

    def copy_command(self, *arguments, source=None, target=None, timeout=WAIT_S):
        return [PATHS.armature, "--timeout", str(timeout), "copy", "--state", str(self.state),
                "--from", source or self.daemon.http, "--to", target or self.target.http, *map(str, arguments)]

    def copy(self, *arguments, exit_code=0, **more):
        """Runs a copy. Returns its output, or its stderr if it fails."""
        done = subprocess.run(self.copy_command(*arguments, **more), capture_output=True, check=False, timeout=10 * WAIT_S,
                              env=self.environment, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, exit_code, done.stderr + done.stdout)
        return json.loads(done.stdout) if exit_code in (0, DIFFERENCES) and done.stdout else done.stderr.decode()

    def start_copy(self, *arguments, **more):
        process = subprocess.Popen(self.copy_command(*arguments, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment, stdin=subprocess.DEVNULL)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def saved(self):
        """The table in the state file; empty without a file."""
        try:
            tables = json.loads(self.state.read_text())["Tables"]
            return tables[0] if tables else {}
        except FileNotFoundError:
            return {}

    def test_definitions_and_items_of_all_types(self):
        self.make_table()
        check(self.daemon.json_call("UpdateTimeToLive", TableName=self.table,
                                    TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}))
        answer = self.copy(self.table)
        self.assertEqual(answer["Tables"], [{"Source": self.table, "Target": self.table, "Items": ITEMS, "Changes": 0}])
        self.assertEqual(self.items(self.target), self.items(self.daemon))
        self.assertFalse(self.state.exists())
        described = [check(daemon.json_call("DescribeTable", TableName=self.table))["Table"]
                     for daemon in (self.daemon, self.target)]
        for member in ("KeySchema", "AttributeDefinitions"):
            self.assertEqual(described[0][member], described[1][member])
        for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
            for name in ("IndexName", "KeySchema", "Projection"):
                self.assertEqual(described[0][member][0][name], described[1][member][0][name])
        self.assertEqual(
            check(self.target.json_call("ListTagsOfResource", ResourceArn=described[1]["TableArn"]))["Tags"], DEFINITION["Tags"])
        self.assertEqual(
            check(self.target.json_call("DescribeTimeToLive", TableName=self.table))["TimeToLiveDescription"],
            {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"})
        verified = self.copy(self.table, "--verify")["Tables"][0]
        self.assertEqual((verified["SourceItems"], verified["TargetItems"], verified["Definition"]), (ITEMS, ITEMS, []))

    def test_an_existing_table_is_refused_with_its_differences(self):
        self.make_table(10)
        self.make_table(0, self.target, DeletionProtectionEnabled=True, Tags=[])
        said = self.copy(self.table, exit_code=DIFFERENCES)
        self.assertIn("--into-existing", said)
        self.assertIn("DeletionProtectionEnabled is absent in the source and true in the target", said)
        self.assertIn("Tags is ", said)
        self.assertEqual(self.items(self.target), {})
        self.assertEqual(self.copy(self.table, "--into-existing")["Tables"][0]["Items"], 10)
        self.assertEqual(self.items(self.target), self.items(self.daemon))

    def test_an_existing_table_keeps_its_own_settings(self):
        self.make_table(10)
        check(self.daemon.json_call("UpdateTimeToLive", TableName=self.table,
                                    TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}))
        self.make_table(0, self.target)
        # Its own items would expire by an attribute that means something else to them.
        self.copy(self.table, "--into-existing")
        described = check(self.target.json_call("DescribeTimeToLive", TableName=self.table))["TimeToLiveDescription"]
        self.assertEqual(described, {"TimeToLiveStatus": "DISABLED"})

    def test_mending_asks_before_it_deletes(self):
        self.make_table(10)
        self.copy(self.table)
        self.put(self.target, [1_000_000])
        self.assertIn("--yes", self.copy(self.table, "--verify", "--mend", exit_code=USAGE_ERROR))
        self.assertEqual(len(self.items(self.target)), 11)
        self.assertEqual(self.copy(self.table, "--yes", "--verify", "--mend")["Tables"][0]["Mended"], 1)
        self.assertEqual(self.items(self.target), self.items(self.daemon))

    def test_an_existing_table_with_another_key_is_always_refused(self):
        self.make_table(10)
        self.target.create_table(self.table)
        self.assertIn("another key: KeySchema", self.copy(self.table, "--into-existing", exit_code=DIFFERENCES))
        self.assertIn("different keys", self.copy(self.table, "--verify", exit_code=DIFFERENCES))

    def test_tables_by_prefix_with_other_names_and_back(self):
        for name in ("a", "b"):
            self.daemon.create_table(f"prod-{name}")
            check(self.daemon.json_call("PutItem", TableName=f"prod-{name}", Item={"id": {"S": name}}))
        renames = ("--rename-prefix", "prod-=dev-", "--rename", "prod-b=other")
        answer = self.copy("--prefix", "prod-", *renames)
        self.assertEqual({(each["Source"], each["Target"]) for each in answer["Tables"]},
                         {("prod-a", "dev-a"), ("prod-b", "other")})
        check(self.target.json_call("PutItem", TableName="other", Item={"id": {"S": "new"}}))
        back = self.copy("prod-b", *renames, "--reverse", "--into-existing")
        self.assertEqual(back["Tables"], [{"Source": "other", "Target": "prod-b", "Items": 2, "Changes": 0}])
        self.assertEqual(len(self.items(self.daemon, "prod-b")), 2)

    def test_wrong_usage_sends_nothing(self):
        self.make_table(1)
        for arguments, text in (
                ((self.table, "--prefix", "x"), "either tables or --prefix"),
                ((self.table, "--mend"), "--mend is for --verify"),
                ((self.table, "--until-lag", "0"), "for --follow"),
                ((self.table, "--follow"), "--enable-stream"),
                ((self.table, "--rename", "x"), "OLD=NEW"),
                ((self.table, "--read-share", "50"), "billed on demand"),
                ((self.table, "--hash", "text", "--reverse"), "cannot be copied back"),
                (("none",), "has no table none")):
            self.assertIn(text, self.copy(*arguments, exit_code=USAGE_ERROR))
        self.assertIn("onto itself", self.copy(self.table, target=self.daemon.http, exit_code=USAGE_ERROR))
        self.assertIn("neither an address", self.copy(self.table, source="nobody", exit_code=USAGE_ERROR))
        self.assertIn("is not http://", self.copy(self.table, source="ftp://a", exit_code=USAGE_ERROR))
        self.assertEqual(self.target.json_call("DescribeTable", TableName=self.table)[0], 400)

    def test_profiles_of_both_kinds_sign(self):
        self.make_table(3)
        (self.directory / ".aws").mkdir()
        (self.directory / ".aws/credentials").write_text(
            "[cloud]\naws_access_key_id = AKCLOUD\naws_secret_access_key = s\naws_session_token = tok\n")
        (self.directory / ".config/armature").mkdir(parents=True)
        (self.directory / ".config/armature/config.toml").write_text(f'[mine]\nendpoint = "{self.target.http}"\n')
        seen = []
        with ProtocolProxy(backend=self.daemon.http, handle=lambda *call: seen.append(call)) as proxy:
            (self.directory / ".aws/config").write_text(
                f"[profile cloud]\nregion = eu-west-3\nendpoint_url = http://{proxy.address}\n")
            self.copy(self.table, source="cloud", target="mine")
        self.assertTrue(seen)
        self.assertEqual(self.items(self.target), self.items(self.daemon))

    def test_killed_copies_continue(self):
        self.make_table()
        random_source = random.Random(7)
        progress = set()
        calls = [0]
        allowed = threading.Semaphore(0)

        def handle(operation, _document):
            if operation == "BatchWriteItem":
                calls[0] += 1
                allowed.acquire()

        with SmallPages(backend=self.daemon.http) as source, ProtocolProxy(handle, self.target.http) as proxy:
            for _ in range(6):
                copying = self.start_copy(self.table, source=source.address, target=proxy.address)
                seen = calls[0]
                for _ in range(random_source.randrange(4, 25)):
                    allowed.release()
                wait_for(lambda: calls[0] > seen and allowed._value == 0, "the writes")
                before = self.saved().get("Items", 0)
                progress.add(before)
                self.assertIsNone(copying.poll())
                copying.kill()
                copying.wait(WAIT_S)
            for _ in range(10 * ITEMS):
                allowed.release()
            answer = self.copy(self.table, source=source.address, target=proxy.address)
        self.assertGreater(len(progress), 1, "no copy has continued")
        self.assertEqual(answer["Tables"][0]["Items"], ITEMS)
        self.assertEqual(self.items(self.target), self.items(self.daemon))
        self.assertFalse(self.state.exists())

    def test_a_state_of_another_copy_or_a_damaged_one_is_refused(self):
        self.make_table(10)
        with ProtocolProxy(lambda *_: refusal("AccessDeniedException")) as broken:
            self.state.write_text(json.dumps({"Version": 1, "From": "http://elsewhere", "To": "http://x", "Hash": "", "Tables": []}))
            self.assertIn("from http://elsewhere", self.copy(self.table, exit_code=INPUT_ERROR))
            self.state.write_text("{}")
            self.assertIn("not the state of a copy", self.copy(self.table, exit_code=INPUT_ERROR))
            self.state.unlink()
            self.assertIn("AccessDeniedException", self.copy(self.table, target=broken.address, exit_code=API_ERROR))
        self.assertEqual(self.state.stat().st_mode & 0o077, 0)

    def test_a_state_is_continued_by_its_own_command_only(self):
        self.make_table(10, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        with ProtocolProxy(lambda operation, _: refusal("AccessDeniedException") if operation == "GetRecords"
                           and self.saved().get("Phase") == "Follow" else None, self.daemon.http) as proxy:
            self.copy(self.table, "--follow", source=proxy.address, exit_code=API_ERROR)
            self.assertIn("began with --follow", self.copy(self.table, source=proxy.address, exit_code=INPUT_ERROR))
            self.daemon.create_table("another")
            self.assertIn(f"of a copy of {self.table}, too", self.copy("another", source=proxy.address, exit_code=INPUT_ERROR))
        self.assertEqual(self.saved()["Phase"], "Follow")

    def test_a_throttled_target_and_half_of_each_batch(self):
        self.make_table(500)
        rolls = random.Random(3)
        lock = threading.Lock()
        halves = [0]

        def handle(operation, document):
            if operation != "BatchWriteItem":
                return None
            with lock:
                roll = rolls.random()
            if roll < 0.15:
                return refusal("ProvisionedThroughputExceededException")
            if roll < 0.2:
                return refusal("InternalServerError", 500)
            return None

        def change(operation, document, answer):
            return answer

        class Halving(ProtocolProxy):
            def answer(self, target, body):
                document = json.loads(body)
                if target.endswith("BatchWriteItem") and len(document["RequestItems"][table]) > 1:
                    puts = document["RequestItems"][table]
                    half = len(puts) // 2
                    done = super().answer(target, json.dumps({"RequestItems": {table: puts[:half]}}).encode())
                    if done.status == 200:
                        halves[0] += 1
                        return Answer({"UnprocessedItems": {table: puts[half:]}})
                    return done
                return super().answer(target, body)

        table = self.table
        with Halving(handle, self.target.http, change) as proxy:
            self.copy(self.table, target=proxy.address)
        self.assertGreater(halves[0], 20)
        self.assertEqual(self.items(self.target), self.items(self.daemon))

    def test_a_target_that_stays_throttled_ends_the_copy_and_it_continues(self):
        self.make_table(100)
        with ProtocolProxy(lambda operation, document: refusal("ThrottlingException") if operation == "BatchWriteItem" else None,
                           self.target.http) as proxy:
            self.assertIn("ThrottlingException", self.copy(self.table, target=proxy.address, timeout=0.5, exit_code=API_ERROR))
        with ProtocolProxy(lambda operation, document: Answer({"UnprocessedItems": document["RequestItems"]})
                           if operation == "BatchWriteItem" else None, self.target.http) as proxy:
            self.state.unlink()
            said = self.copy(self.table, "--into-existing", target=proxy.address, timeout=0.5, exit_code=UNREACHABLE)
        self.assertIn("throttled", said)
        self.state.unlink()
        self.copy(self.table, "--into-existing")
        self.assertEqual(self.items(self.target), self.items(self.daemon))

    def hostile(self, scan, text, exit_code=API_ERROR, timeout=WAIT_S):
        with ProtocolProxy(lambda operation, document: scan(document) if operation == "Scan" else None,
                           self.daemon.http) as proxy:
            self.state.unlink(missing_ok=True)
            said = self.copy(self.table, "--into-existing", "--segments", 2, source=proxy.address, exit_code=exit_code,
                             timeout=timeout)
            self.assertIn(text, said)

    def hostile_target(self, answer):
        with ProtocolProxy(lambda operation, _: answer if operation == "BatchWriteItem" else None, self.target.http) as proxy:
            self.state.unlink(missing_ok=True)
            return self.copy(self.table, "--into-existing", target=proxy.address, exit_code=API_ERROR)

    def test_hostile_sources_end_the_copy_with_an_error(self):
        self.make_table(2)
        key = {"id": {"S": "a"}, "at": {"N": "1"}}
        self.hostile(lambda _: Answer({"Items": [], "LastEvaluatedKey": key}), "do not end")
        turn = iter(range(10**9))
        self.hostile(lambda _: Answer({"Items": [], "LastEvaluatedKey": {"id": {"S": str(next(turn) % 7)}}}), "do not end")
        self.hostile(lambda _: Answer(b"x" * (65 << 20)), "more than")
        self.hostile(lambda _: Answer(b"<html>"), "no JSON of the protocol")
        self.hostile(lambda _: Answer(b"[" * 1_000_000), "no JSON of the protocol")
        self.hostile(lambda _: Answer({"Items": [7]}), "a page of")
        self.hostile(lambda _: Answer({"Items": {}}), "a page of", exit_code=API_ERROR)
        self.hostile(lambda _: Answer({}), "a page of")
        self.assertIn("unprocessed items that are none", self.hostile_target(Answer({"UnprocessedItems": []})))
        self.assertIn("unprocessed items that are none", self.hostile_target(Answer({"UnprocessedItems": {"other": [1]}})))
        self.hostile(lambda _: Answer({"Items": [{"id": {"S": "no sort key"}}]}), "the item")
        self.hostile(lambda _: Answer(b"moved", 302), "302")
        self.hostile(lambda _: Answer({"Items": []}, x_amz_crc32="1"), "checksum", UNREACHABLE, timeout=1)
        self.hostile(lambda _: Answer({"Items": []}, Content_Encoding="gzip"), "damaged")
        never = threading.Event()
        self.addCleanup(never.set)
        self.hostile(lambda _: never.wait(WAIT_S) and None, "no answer from the source", UNREACHABLE, timeout=1)

    def test_compressed_answers(self):
        self.make_table(300)
        self.copy(self.table, "--gzip")
        self.assertEqual(self.items(self.target), self.items(self.daemon))

    def test_differences_are_found_listed_and_mended(self):
        self.make_table(200)
        self.copy(self.table)
        check(self.target.json_call("DeleteItem", TableName=self.table, Key={name: item_of(3)[name] for name in ("id", "at")}))
        self.put(self.target, [4], lambda number: {**item_of(number), "paid": {"NULL": True}})
        self.put(self.target, [1000])
        found = self.copy(self.table, "--verify", exit_code=DIFFERENCES)["Tables"][0]
        self.assertEqual((found["Missing"], found["Different"], found["Extra"]), (1, 1, 1))
        self.assertEqual([(each["Kind"], each["Key"]["id"]["S"]) for each in found["Differences"]],
                         [("missing", "item-00003"), ("different", "item-00004"), ("extra", "item-01000")])
        bounded = self.copy(self.table, "--verify", "--differences", 1, exit_code=DIFFERENCES)["Tables"][0]
        self.assertEqual((len(bounded["Differences"]), bounded["Missing"] + bounded["Different"] + bounded["Extra"]), (1, 3))
        self.assertEqual(self.copy(self.table, "--yes", "--verify", "--mend")["Tables"][0]["Mended"], 3)
        self.assertEqual(self.copy(self.table, "--verify")["Tables"][0]["Missing"], 0)
        self.assertEqual(self.items(self.target), self.items(self.daemon))

    def test_mending_by_a_source_that_answers_nothing_deletes_nothing(self):
        self.make_table(20)
        self.copy(self.table)
        self.put(self.target, [500])
        with ProtocolProxy(lambda operation, _: Answer({}) if operation == "BatchGetItem" else None, self.daemon.http) as proxy:
            said = self.copy(self.table, "--yes", "--verify", "--mend", source=proxy.address, exit_code=API_ERROR)
        self.assertIn("answered no items", said)
        self.assertEqual(len(self.items(self.target)), 21)

    def test_a_stream_that_answers_no_records_does_not_end(self):
        self.make_table(5, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        with ProtocolProxy(
                lambda operation, _: Answer({}) if operation == "GetRecords" and self.saved().get("Phase") == "Follow" else None,
                self.daemon.http) as proxy:
            said = self.copy(self.table, "--follow", "--until-lag", 0, source=proxy.address, exit_code=API_ERROR)
        self.assertIn("no records of the shard", said)

    def test_hashed_values_keep_types_and_equality(self):
        self.make_table(100)
        key_file = self.directory / "key"
        key_file.write_text("0123456789abcdef\n")
        hashing = ("--hash", "id,state", "--hash", "counts", "--hash-key-file", key_file)
        self.copy(self.table, *hashing)
        items = self.items(self.target)
        self.assertEqual(len(items), 100)
        self.assertEqual(len({item["state"]["S"] for item in items.values()}), 2)
        self.assertFalse(any("item-" in item["id"]["S"] or item["state"]["S"] in ("open", "done") for item in items.values()))
        self.assertEqual({len(item["counts"]["NS"]) for item in items.values()}, {3})
        self.assertEqual({item["big"]["N"] for item in items.values()}, {item_of(0)["big"]["N"]})
        self.assertEqual(self.copy(self.table, *hashing, "--verify")["Tables"][0]["Extra"], 0)
        check(self.target.json_call("PutItem", TableName=self.table, Item=item_of(5)))
        found = self.copy(self.table, *hashing, "--yes", "--verify", "--mend")["Tables"][0]
        self.assertEqual((found["Missing"], found["Different"], found["Extra"]), (0, 0, 1))
        self.assertEqual(self.copy(self.table, *hashing, "--verify")["Tables"][0]["Extra"], 0)

    def test_follow_cuts_over_without_a_change_left_over_kills(self):
        self.make_table(500)
        writer = Writer(self.daemon, self.table)
        writer.start()
        self.addCleanup(writer.join)
        self.addCleanup(writer.stop)
        follow = (self.table, "--follow", "--enable-stream")
        changes = 0
        for _ in range(4):
            copying = self.start_copy(*follow)
            more = changes + 40
            wait_for(lambda: copying.poll() is not None or self.saved().get("Changes", 0) > more, "changes")
            self.assertIsNone(copying.poll(), copying.poll() is not None and copying.stderr.read())
            copying.kill()
            copying.wait(WAIT_S)
            changes = self.saved()["Changes"]
        copying = self.start_copy(*follow)
        wait_for(lambda: copying.poll() is not None or self.saved().get("Changes", 0) > changes, "changes")
        writer.stop()
        writer.join()
        copying.send_signal(signal.SIGINT)
        self.assertEqual(copying.wait(WAIT_S), 0, copying.stderr.read())
        self.assertEqual(self.items(self.target), self.items(self.daemon))
        self.assertEqual(self.copy(self.table, "--verify")["Tables"][0]["Different"], 0)

    def test_follow_ends_at_a_lag_and_applies_hashes(self):
        self.make_table(50, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        changed = []

        def handle(operation, document):
            # Between the scan and the changes.
            if operation == "GetRecords" and not changed and self.saved().get("Phase") == "Follow":
                changed.append(operation)
                self.put(self.daemon, [1, 70], lambda number: {**item_of(number), "state": {"S": "changed"}})
                check(self.daemon.json_call("DeleteItem", TableName=self.table,
                                            Key={name: item_of(2)[name] for name in ("id", "at")}))

        key_file = self.directory / "key"
        key_file.write_text("0123456789abcdef\n")
        hashing = ("--hash", "id", "--hash-key-file", key_file)
        with ProtocolProxy(handle, self.daemon.http) as proxy:
            answer = self.copy(self.table, "--follow", "--until-lag", 0, *hashing, source=proxy.address)
        self.assertEqual((answer["Tables"][0]["Items"], answer["Tables"][0]["Changes"]), (50, 3))
        self.assertEqual(self.copy(self.table, *hashing, "--verify")["Tables"][0]["TargetItems"], 50)

    def test_a_trimmed_stream_says_what_is_lost(self):
        self.make_table(5, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        trimmed = []

        def handle(operation, document):
            if operation == "GetShardIterator" and document["ShardIteratorType"] == "AFTER_SEQUENCE_NUMBER":
                trimmed.append(document["SequenceNumber"])
                return refusal("TrimmedDataAccessException")
            return None

        with ProtocolProxy(handle, self.daemon.http) as proxy:
            said = self.copy(self.table, "--follow", "--until-lag", 0, source=proxy.address, exit_code=API_ERROR)
        self.assertIn(f"after the sequence number {trimmed[0]}", said)
        self.assertIn("--verify --mend", said)

    def test_a_stream_that_was_turned_off_is_no_end(self):
        self.make_table(5, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})

        def turn_off():
            if self.saved().get("Phase") == "Follow":
                self.daemon.json_call("UpdateTable", TableName=self.table, StreamSpecification={"StreamEnabled": False})

        with ProtocolProxy(lambda operation, _: operation == "GetRecords" and turn_off() or None, self.daemon.http) as proxy:
            said = self.copy(self.table, "--follow", "--until-lag", 0, source=proxy.address, exit_code=API_ERROR)
            self.assertIn("changes since it was turned off are lost", said)
            # Another stream, of later changes, does not hide them.
            for more in ((), ("--enable-stream",)):
                said = self.copy(self.table, "--follow", "--until-lag", 0, *more, source=proxy.address, exit_code=API_ERROR)
                self.assertIn("was turned off. Lost are changes made after", said)

    def test_a_stream_without_new_items_is_refused(self):
        self.make_table(1, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        self.assertIn("KEYS_ONLY", self.copy(self.table, "--follow", exit_code=USAGE_ERROR))


class SmallPages(ProtocolProxy):
    """Pages of ten items, so that a small table has many save points."""

    def answer(self, target, body):
        if target.endswith(".Scan"):
            body = json.dumps({**json.loads(body), "Limit": 10}).encode()
        return super().answer(target, body)


class Writer(threading.Thread):
    """Puts and deletes items until it is stopped."""

    def __init__(self, daemon, table):
        super().__init__()
        self.daemon_, self.table = daemon, table
        self.stopped = threading.Event()

    def stop(self):
        self.stopped.set()

    def run(self):
        rolls = random.Random(11)
        while not self.stopped.is_set():
            item = item_of(rolls.randrange(700))
            if rolls.random() < 0.3:
                self.daemon_.json_call("DeleteItem", TableName=self.table, Key={name: item[name] for name in ("id", "at")})
            else:
                item["text"] = {"S": str(rolls.random())}
                self.daemon_.json_call("PutItem", TableName=self.table, Item=item)


if __name__ == "__main__":
    run_tests()
