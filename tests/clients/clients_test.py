#!/usr/bin/python3
"""Clients of the original protocol, as their users install them, against a real daemon.

boto3 and the AWS command line from Debian's packages; the AWS SDK for JavaScript and the GUI dynamodb-admin from npm,
the latter in headless Chromium. `tools/setup --clients` installs them.

Run by CTest; by hand: clients_test.py --armatured PATH --work DIR [unittest arguments]
"""

import argparse
import decimal
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "tools/demo"
sys.path.insert(0, str(HERE.parent / "support"))
from armature_daemon import Daemon, client_environment  # noqa: E402
from client_programs import TIMEOUT_S, node_script, npm_clients  # noqa: E402

AWS = "/usr/bin/aws"  # of the distribution, whatever stands first on the path
CHROMIUM = "/usr/bin/chromium"
OPTIONS = argparse.Namespace()


def sample(name):
    """Definition and items of a sample table."""
    definition = json.loads((SAMPLES / f"{name}.table.json").read_text())
    items = [json.loads(line) for line in (SAMPLES / f"{name}.items.jsonl").read_text().splitlines()]
    return definition, items


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(OPTIONS.armatured).__enter__()
        self.addCleanup(self.daemon.__exit__)
        self.endpoint = f"http://{self.daemon.http}"
        self.environment = client_environment()

    def run_checked(self, command, **options):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
            **{"env": self.environment, **options})
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}\n{self.daemon.log()}")
        return done.stdout


class CommandLine(ClientTest):
    def setUp(self):
        super().setUp()
        if not os.access(AWS, os.X_OK):
            self.skipTest(f"no {AWS}")

    def aws(self, *arguments):
        out = self.run_checked([AWS, "--endpoint-url", self.endpoint, "--output", "json", "dynamodb", *arguments])
        return json.loads(out) if out.strip() else None

    def create_orders(self):
        definition, items = sample("orders-table")
        created = self.aws("create-table", "--cli-input-json", json.dumps(definition))
        self.assertEqual(created["TableDescription"]["TableName"], "orders-table")
        self.run_checked([AWS, "--endpoint-url", self.endpoint, "dynamodb", "wait", "table-exists",
                          "--table-name", "orders-table"])
        for item in items:
            self.aws("put-item", "--table-name", "orders-table", "--item", json.dumps(item))
        # Waits until the index has applied all orders.
        count = ("query", "--table-name", "orders-table", "--index-name", "OrdersByStatusDateAmount", "--select", "COUNT",
                 "--key-condition-expression", "customer_id = :c",
                 "--expression-attribute-values", '{":c": {"S": "1A2B3C"}}')
        wanted = sum(item["customer_id"]["S"] == "1A2B3C" for item in items)
        while self.aws(*count)["Count"] < wanted:
            pass

    def test_the_documented_queries_verbatim(self):
        self.create_orders()
        script = 'aws() { "$AWS" --endpoint-url "$ENDPOINT" --output json "$@"; }\n. "$1"'
        out = self.run_checked(
            ["bash", "-euc", script, "bash", str(HERE / "orders_queries.sh")],
            env={**self.environment, "AWS": AWS, "ENDPOINT": self.endpoint})
        answers = []
        decoder = json.JSONDecoder()
        while out.strip():
            answer, end = decoder.raw_decode(out.lstrip())
            answers.append(answer)
            out = out.lstrip()[end:]
        ids = [[item["order_id"]["S"] for item in answer["Items"]] for answer in answers]
        self.assertEqual(ids, [["KSUID1", "KSUID3", "KSUID2"], ["KSUID3", "KSUID2"], ["KSUID3", "KSUID2"],
                               ["KSUID3", "KSUID2"]])
        self.assertEqual(answers[0]["Items"][0], {
            "org_id": {"S": "OMEGA"}, "order_date": {"S": "2025-11-04"}, "status": {"S": "ACTIVE"}, "acc_type": {"S": "A"},
            "customer_id": {"S": "1A2B3C"}, "amount": {"N": "200"}, "order_id": {"S": "KSUID1"}})
        self.assertEqual((answers[0]["Count"], answers[0]["ScannedCount"], answers[0]["ConsumedCapacity"]), (3, 3, None))

    def test_tables_and_items(self):
        self.create_orders()
        self.assertEqual(self.aws("list-tables")["TableNames"], ["orders-table"])
        described = self.aws("describe-table", "--table-name", "orders-table")["Table"]
        self.assertEqual(described["TableStatus"], "ACTIVE")
        self.assertEqual(len(described["GlobalSecondaryIndexes"][0]["KeySchema"]), 4)
        arn = described["TableArn"]
        self.aws("tag-resource", "--resource-arn", arn, "--tags", "Key=team,Value=orders")
        self.assertEqual(self.aws("list-tags-of-resource", "--resource-arn", arn)["Tags"],
                         [{"Key": "team", "Value": "orders"}])
        self.aws("update-time-to-live", "--table-name", "orders-table",
                 "--time-to-live-specification", "Enabled=true,AttributeName=expires")
        ttl = self.aws("describe-time-to-live", "--table-name", "orders-table")["TimeToLiveDescription"]
        self.assertEqual(ttl, {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"})
        self.aws("update-table", "--table-name", "orders-table",
                 "--stream-specification", "StreamEnabled=true,StreamViewType=NEW_IMAGE")
        described = self.aws("describe-table", "--table-name", "orders-table")["Table"]
        self.assertEqual(described["StreamSpecification"], {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        updated = self.aws(
            "update-item", "--table-name", "orders-table", "--key", '{"order_id": {"S": "KSUID1"}}',
            "--update-expression", "SET amount = amount + :one", "--expression-attribute-values", '{":one": {"N": "1"}}',
            "--return-values", "UPDATED_NEW")
        self.assertEqual(updated["Attributes"], {"amount": {"N": "201"}})
        self.aws("execute-statement", "--statement", "UPDATE \"orders-table\" SET amount = 7 WHERE order_id = 'KSUID1'")
        found = self.aws("execute-statement", "--statement", "SELECT amount FROM \"orders-table\" WHERE order_id = ?",
                         "--parameters", '[{"S": "KSUID1"}]')
        self.assertEqual(found["Items"], [{"amount": {"N": "7"}}])
        self.aws("delete-table", "--table-name", "orders-table")
        self.run_checked([AWS, "--endpoint-url", self.endpoint, "dynamodb", "wait", "table-not-exists",
                          "--table-name", "orders-table"])


class Boto3(ClientTest):
    def setUp(self):
        super().setUp()
        try:
            import boto3
        except ImportError as missing:
            self.skipTest(str(missing))
        session = boto3.session.Session(
            aws_access_key_id="anyone", aws_secret_access_key="anything", region_name="local")
        self.client = session.client("dynamodb", endpoint_url=self.endpoint)
        self.resource = session.resource("dynamodb", endpoint_url=self.endpoint)
        self.addCleanup(self.client.close)
        self.addCleanup(self.resource.meta.client.close)

    def create(self, name, **more):
        table = self.resource.create_table(
            TableName=name, BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}], **more)
        table.wait_until_exists()
        return table

    def test_every_type_comes_back_as_it_went_in(self):
        table = self.create("types")
        item = {
            "pk": "schlüssel \U0001f511 \0 \" \\ \n", "sk": decimal.Decimal("-1.5E-130"),
            "n": decimal.Decimal("12345678901234567890123456789012345678"), "b": b"\x00\xff" * 50, "t": True, "f": False,
            "none": None, "ss": {"a", "b"}, "ns": {1, decimal.Decimal("2.5")}, "bs": {b"x", b""},
            "list": ["a", 1, [None, {"deep": ["x"]}]], "map": {" ": "a blank", "k": {}}, "es": "", "el": [],
        }
        table.put_item(Item=item)
        got = table.get_item(Key={"pk": item["pk"], "sk": item["sk"]}, ConsistentRead=True)["Item"]
        self.assertEqual(got, item)

    def test_conditions_updates_and_pages(self):
        from boto3.dynamodb.conditions import Attr, Key
        table = self.create("pages")
        for i in range(25):
            table.put_item(Item={"pk": "p", "sk": i, "even": i % 2 == 0, "text": "x" * 1000})
        with self.assertRaises(self.client.exceptions.ConditionalCheckFailedException) as failed:
            table.put_item(Item={"pk": "p", "sk": 1}, ConditionExpression=Attr("pk").not_exists())
        self.assertEqual(failed.exception.response["Error"]["Message"], "The conditional request failed")
        pages = list(self.client.get_paginator("query").paginate(
            TableName="pages", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p"}},
            PaginationConfig={"PageSize": 10}))
        self.assertEqual([page["Count"] for page in pages], [10, 10, 5])
        found = table.query(KeyConditionExpression=Key("pk").eq("p") & Key("sk").between(3, 8),
                            FilterExpression=Attr("even").eq(True), ProjectionExpression="sk", ScanIndexForward=False)
        self.assertEqual([int(item["sk"]) for item in found["Items"]], [8, 6, 4])
        self.assertEqual((found["Count"], found["ScannedCount"]), (3, 6))
        changed = table.update_item(Key={"pk": "p", "sk": 3}, UpdateExpression="ADD visits :one SET #l = :l",
                                    ExpressionAttributeNames={"#l": "list"},
                                    ExpressionAttributeValues={":one": 1, ":l": [1, "two"]}, ReturnValues="ALL_NEW")
        self.assertEqual(changed["Attributes"]["visits"], 1)
        self.assertEqual(changed["Attributes"]["list"], [1, "two"])
        self.assertEqual(table.scan(Select="COUNT")["Count"], 25)

    def test_statements(self):
        self.create("Music")
        one = "INSERT INTO Music VALUE {'pk': ?, 'sk': ?, 'title': 'Happy Day', 'plays': 1}"
        for number in range(5):
            self.client.execute_statement(Statement=one, Parameters=[{"S": "Acme"}, {"N": str(number)}])
        with self.assertRaises(self.client.exceptions.DuplicateItemException):
            self.client.execute_statement(Statement=one, Parameters=[{"S": "Acme"}, {"N": "0"}])
        pages, more = [], {}
        while True:
            page = self.client.execute_statement(
                Statement="SELECT sk FROM Music WHERE pk = 'Acme' ORDER BY sk DESC", Limit=2, **more)
            pages.append([item["sk"]["N"] for item in page["Items"]])
            if "NextToken" not in page:
                break
            more = {"NextToken": page["NextToken"]}
        self.assertEqual([number for page in pages for number in page], ["4", "3", "2", "1", "0"])
        changed = self.client.execute_statement(
            Statement="UPDATE Music SET plays = plays + 41 WHERE pk = 'Acme' AND sk = 0 RETURNING ALL NEW *")
        self.assertEqual(changed["Items"][0]["plays"], {"N": "42"})
        answers = self.client.batch_execute_statement(Statements=[
            {"Statement": "SELECT plays FROM Music WHERE pk = 'Acme' AND sk = 0"},
            {"Statement": "SELECT plays FROM Music WHERE pk = 'Nobody' AND sk = 0"}])["Responses"]
        self.assertEqual([answer.get("Item") for answer in answers], [{"plays": {"N": "42"}}, None])
        with self.assertRaises(self.client.exceptions.TransactionCanceledException) as cancelled:
            self.client.execute_transaction(TransactStatements=[
                {"Statement": "DELETE FROM Music WHERE pk = 'Acme' AND sk = 1"}, {"Statement": one, "Parameters": [
                    {"S": "Acme"}, {"N": "2"}]}])
        self.assertEqual([reason["Code"] for reason in cancelled.exception.response["CancellationReasons"]],
                         ["None", "DuplicateItem"])
        self.client.execute_transaction(TransactStatements=[{"Statement": "DELETE FROM Music WHERE pk = 'Acme' AND sk = 1"}])
        self.assertEqual(self.client.execute_statement(Statement="SELECT * FROM Music WHERE pk = 'Acme' AND sk = 1")["Items"], [])

    def test_errors_are_exceptions_of_their_own(self):
        exceptions = self.client.exceptions
        with self.assertRaises(exceptions.ResourceNotFoundException):
            self.client.describe_table(TableName="nowhere")
        self.create("taken")
        with self.assertRaises(exceptions.ResourceInUseException):
            self.create("taken")
        with self.assertRaisesRegex(exceptions.ClientError, "does not match the schema"):
            self.client.get_item(TableName="taken", Key={"pk": {"S": "a"}})
        with self.assertRaisesRegex(exceptions.ClientError, "UnknownOperationException"):
            self.client.list_global_tables()

    def test_control_plane(self):
        table = self.create("settings", Tags=[{"Key": "a", "Value": "1"}])
        arn = table.table_arn
        self.client.tag_resource(ResourceArn=arn, Tags=[{"Key": "b", "Value": "2"}])
        self.client.untag_resource(ResourceArn=arn, TagKeys=["a"])
        self.assertEqual(self.client.list_tags_of_resource(ResourceArn=arn)["Tags"], [{"Key": "b", "Value": "2"}])
        self.assertEqual(self.client.describe_time_to_live(TableName="settings")["TimeToLiveDescription"],
                         {"TimeToLiveStatus": "DISABLED"})
        self.client.update_table(TableName="settings", BillingMode="PROVISIONED",
                                 ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 6})
        table.reload()
        self.assertEqual(table.provisioned_throughput["ReadCapacityUnits"], 5)
        limits = self.client.describe_limits()
        self.assertEqual(limits["TableMaxReadCapacityUnits"], 40000)
        endpoint = self.client.describe_endpoints()["Endpoints"][0]
        self.assertEqual(endpoint["Address"], self.daemon.http)
        backups = self.client.describe_continuous_backups(TableName="settings")["ContinuousBackupsDescription"]
        self.assertEqual(backups["ContinuousBackupsStatus"], "ENABLED")
        self.client.delete_table(TableName="settings")
        self.client.get_waiter("table_not_exists").wait(TableName="settings", WaiterConfig={"Delay": 1})


class Boto3Streams(ClientTest):
    """A stream whose shards roll over while it is read."""

    def setUp(self):
        try:
            import boto3
        except ImportError as missing:
            self.skipTest(str(missing))
        # A segment of a sixteenth of this ends soon.
        self.daemon = self.enterContext(Daemon(OPTIONS.armatured, "--stream_mb_max=16"))
        session = boto3.session.Session(
            aws_access_key_id="anyone", aws_secret_access_key="anything", region_name="local")
        self.items, self.streams = (session.client(service, endpoint_url=f"http://{self.daemon.http}")
                                    for service in ("dynamodb", "dynamodbstreams"))
        self.addCleanup(self.items.close)
        self.addCleanup(self.streams.close)

    def read(self, arn, shard_id, seen):
        """Reads a shard to its present end. Returns true if that is the end of the shard."""
        iterator = self.streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard_id, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        while True:
            page = self.streams.get_records(ShardIterator=iterator, Limit=100)
            for record in page["Records"]:
                image = record["dynamodb"]["NewImage"]
                seen.setdefault(image["pk"]["S"], []).append(int(image["n"]["N"]))
            if "NextShardIterator" not in page:
                return True
            if not page["Records"]:
                return False
            iterator = page["NextShardIterator"]

    def test_a_shard_is_read_to_its_end_and_then_its_child(self):
        self.items.create_table(
            TableName="changes", BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        self.items.get_waiter("table_exists").wait(TableName="changes", WaiterConfig={"Delay": 1})
        arn = self.streams.list_streams(TableName="changes")["Streams"][0]["StreamArn"]
        count = 0

        def write():
            nonlocal count
            count += 1
            self.items.put_item(TableName="changes", Item={
                "pk": {"S": f"p{count % 7}"}, "n": {"N": str(count)}, "v": {"S": "x" * 20_000}})

        def shards():
            return self.streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]

        first = {shard["ShardId"] for shard in shards()}
        deadline = time.monotonic() + TIMEOUT_S
        while not any(shard.get("ParentShardId") in first for shard in shards()):
            self.assertLess(time.monotonic(), deadline)
            for _ in range(10):
                write()
        write()
        seen, ended = {}, set()
        for shard in shards():  # parents before children
            parent = shard.get("ParentShardId")
            self.assertTrue(parent is None or parent in ended, shard)
            if self.read(arn, shard["ShardId"], seen):
                ended.add(shard["ShardId"])
        self.assertLessEqual(first, ended)
        self.assertEqual(sorted(number for numbers in seen.values() for number in numbers), list(range(1, count + 1)))
        for numbers in seen.values():
            self.assertEqual(numbers, sorted(numbers))


CREDENTIALS = {
    "access_keys": [
        {"id": "AKWRITER", "secret": "a-secret-of-the-writer", "policy": "everything"},
        {"id": "AKREADER", "secret": "a-secret-of-the-reader", "policy": "readers"},
    ],
    "policies": {
        "everything": {"allow": [{"operations": ["*"], "tables": ["*"]}]},
        "readers": {"allow": [{"operations": ["GetItem", "Query"], "tables": ["orders"]}]},
    },
}


class Boto3Signed(unittest.TestCase):
    """Signatures made by a client, against a daemon with credentials."""

    def setUp(self):
        try:
            import boto3
        except ImportError as missing:
            self.skipTest(str(missing))
        self.boto3 = boto3
        folder = tempfile.TemporaryDirectory(prefix="armature_keys_")
        self.addCleanup(folder.cleanup)
        keys = pathlib.Path(folder.name) / "credentials.json"
        keys.touch(mode=0o600)
        keys.write_text(json.dumps(CREDENTIALS))
        # With keys, gRPC needs TLS or a Unix socket, whose access the file system controls.
        self.daemon = Daemon(OPTIONS.armatured, f"--credentials_file={keys}",
                             f"--grpc_listen=unix:{folder.name}/grpc.sock").__enter__()
        self.addCleanup(self.daemon.__exit__)

    def client(self, key, secret):
        client = self.boto3.client("dynamodb", endpoint_url=f"http://{self.daemon.http}", region_name="local",
                                   aws_access_key_id=key, aws_secret_access_key=secret)
        self.addCleanup(client.close)
        return client

    def assert_refused(self, exception, call, **arguments):
        with self.assertRaises(Exception) as refused:
            call(**arguments)
        self.assertEqual(refused.exception.response["Error"]["Code"], exception)

    def test_who_may_do_what(self):
        writer = self.client("AKWRITER", "a-secret-of-the-writer")
        for name in ("orders", "secrets"):
            writer.create_table(
                TableName=name, BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}])
            writer.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
            writer.put_item(TableName=name, Item={"id": {"S": "ä / ?&+ b"}})
        reader = self.client("AKREADER", "a-secret-of-the-reader")
        key = {"id": {"S": "ä / ?&+ b"}}
        self.assertEqual(reader.get_item(TableName="orders", Key=key)["Item"], key)
        self.assert_refused("AccessDeniedException", reader.get_item, TableName="secrets", Key=key)
        self.assert_refused("AccessDeniedException", reader.put_item, TableName="orders", Item=key)
        self.assert_refused("AccessDeniedException", reader.scan, TableName="orders")
        self.assert_refused("AccessDeniedException", reader.delete_table, TableName="orders")
        self.assert_refused("AccessDeniedException", reader.list_tables)
        arn = writer.describe_table(TableName="secrets")["Table"]["TableArn"]
        self.assert_refused("AccessDeniedException", reader.get_item, TableName=arn, Key=key)
        self.assert_refused("InvalidSignatureException", self.client("AKWRITER", "another-secret-0123").list_tables)
        self.assert_refused("UnrecognizedClientException", self.client("AKNOBODY", "a-secret-of-nobody").list_tables)
        self.assertNotIn("another-secret", self.daemon.log())


class BlankPage(http.server.BaseHTTPRequestHandler):
    """The site of a web page without content."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *_):
        pass


class Node(ClientTest):
    """Clients from npm."""

    @classmethod
    def setUpClass(cls):
        cls.folder = npm_clients(OPTIONS.work)

    def node(self, script, **more):
        return self.run_checked(node_script(self.folder, script),
                                env={**self.environment, "ENDPOINT": self.endpoint, **more})

    def test_javascript_sdk(self):
        self.assertIn("javascript sdk: all passed", self.node("javascript_sdk.mjs"))

    def test_javascript_streams(self):
        # A segment of a sixteenth of this ends soon.
        with Daemon(OPTIONS.armatured, "--stream_mb_max=16") as daemon:
            out = self.node("javascript_streams.mjs", ENDPOINT=f"http://{daemon.http}")
        self.assertIn("javascript streams: all passed", out)

    def test_gui_in_a_browser(self):
        if not os.access(CHROMIUM, os.X_OK):
            self.skipTest(f"no {CHROMIUM}")
        pictures = pathlib.Path(OPTIONS.work) / "screenshots"
        pictures.mkdir(parents=True, exist_ok=True)
        admin = self.folder / "node_modules/.bin/dynamodb-admin"
        gui = subprocess.Popen(
            ["node", str(admin), "--host", "127.0.0.1", "--port", "0", "--dynamo-endpoint", self.endpoint],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment)
        try:
            address = None
            while address is None:
                line = gui.stdout.readline()
                self.assertTrue(line, "dynamodb-admin ended before it served")
                found = re.search(r"listening on (http://\S+)", line)
                address = found and found[1]
            self.node("gui.mjs", GUI=address, PICTURES=str(pictures), CHROMIUM=CHROMIUM)
        finally:
            gui.kill()
            gui.wait()
            gui.stdout.close()
        for name in ("tables", "items", "created"):
            self.assertGreater((pictures / f"{name}.png").stat().st_size, 5000)

    def test_a_web_page_in_a_browser(self):
        if not os.access(CHROMIUM, os.X_OK):
            self.skipTest(f"no {CHROMIUM}")
        page = http.server.ThreadingHTTPServer(("127.0.0.1", 0), BlankPage)
        self.addCleanup(page.server_close)
        threading.Thread(target=page.serve_forever, daemon=True).start()
        self.addCleanup(page.shutdown)
        address = f"http://127.0.0.1:{page.server_port}"
        with Daemon(OPTIONS.armatured, f"--cors_origins={address}") as permitting:
            out = self.node("web_page.mjs", CHROMIUM=CHROMIUM, PAGE=address, PERMITTING=f"http://{permitting.http}")
        self.assertIn("web page: all passed", out)


class Java(ClientTest):
    """The AWS SDK for Java v2, from Maven Central."""

    def test_java_streams(self):
        if shutil.which("mvn") is None or shutil.which("javac") is None:
            self.skipTest("no mvn and javac")
        folder = pathlib.Path(OPTIONS.work) / "java_streams"
        shutil.copytree(HERE / "java_streams", folder, dirs_exist_ok=True)
        with Daemon(OPTIONS.armatured, "--stream_mb_max=16") as daemon:
            done = subprocess.run(
                ["mvn", "--batch-mode", "--quiet", "--file", str(folder / "pom.xml"), "compile", "exec:java"], check=False,
                capture_output=True, text=True, timeout=TIMEOUT_S, env={**self.environment, "ENDPOINT": f"http://{daemon.http}"})
        out = done.stdout + done.stderr
        if done.returncode != 0 and re.search("Could not (transfer|resolve|find)", out):
            self.skipTest(f"Maven cannot get the client here:\n{out[-2000:]}")
        self.assertEqual(done.returncode, 0, out)
        self.assertIn("java streams: all passed", out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--work", required=True, help="folder for packages from npm and for screenshots; kept")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
