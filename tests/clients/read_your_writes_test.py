#!/usr/bin/python3
"""The code of docs/develop/clients/read_your_writes.md, as it stands there: reads of a global index contain the client's writes.

Where the daemon has fault points, the index is held back: a client without that code misses its write, and one with it waits.

Run by CTest; by hand: read_your_writes_test.py --armatured PATH --work DIR [unittest arguments]
"""

import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/develop/clients/read_your_writes.md"
sys.path.insert(0, str(HERE.parent / "support"))
from armature_daemon import Daemon, client_environment, has_fault_points  # noqa: E402
from client_programs import TIMEOUT_S, node_script, npm_clients  # noqa: E402

OPTIONS = argparse.Namespace()
SENT = "x-armature-at-least-sequence"
INDEX = {"more_attributes": [{"AttributeName": "owner", "AttributeType": "S"}],
         "GlobalSecondaryIndexes": [{"IndexName": "ByOwner", "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
                                     "Projection": {"ProjectionType": "KEYS_ONLY"}}]}
KEYS = {"access_keys": [{"id": "anyone", "secret": "a-secret-of-anyone", "policy": "everything"}],
        "policies": {"everything": {"allow": [{"operations": ["*"], "tables": ["*"]}]}}}


def documented(language):
    """The code of a language on the page."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise AssertionError(f"{PAGE} has {len(found)} blocks of {language}")
    return found[0]


class HeldIndexes:
    """A file whose lock holds the indexes of the daemon back; a context manager. Without fault points, nothing is held."""

    def __init__(self, directory):
        self.works = has_fault_points(OPTIONS.armatured)
        self.path = pathlib.Path(directory) / "held"
        self.file = open(self.path, "w", encoding="utf-8")

    @contextlib.contextmanager
    def environment(self):
        """While a daemon starts."""
        os.environ["ARMATURE_FAULT_POINT"] = f"applier.before_write@{self.path}"
        try:
            yield
        finally:
            del os.environ["ARMATURE_FAULT_POINT"]

    def __enter__(self):
        fcntl.flock(self.file, fcntl.LOCK_EX)
        return self

    def release(self):
        fcntl.flock(self.file, fcntl.LOCK_UN)

    def __exit__(self, *_):
        self.release()


class ReadYourWrites(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="armature_recipes_"))
        self.held = HeldIndexes(self.folder)
        self.addCleanup(self.held.file.close)

    def start(self, *flags):
        with self.held.environment():
            daemon = self.enterContext(Daemon(OPTIONS.armatured, "--index_reads=eventual", "--index_updates=logged", *flags))
        return daemon, f"http://{daemon.http}"


class Boto3(ReadYourWrites):
    def setUp(self):
        super().setUp()
        try:
            import boto3
        except ImportError as missing:
            self.skipTest(str(missing))
        self.boto3 = boto3
        recipe = {}
        exec(compile(documented("python"), str(PAGE), "exec"), recipe)  # pylint: disable=exec-used
        self.recipe = recipe["read_your_writes"]

    def client(self, endpoint, secret="anything"):
        client = self.boto3.client("dynamodb", endpoint_url=endpoint, region_name="local", aws_access_key_id="anyone",
                                   aws_secret_access_key=secret)
        self.addCleanup(client.close)
        return client

    @staticmethod
    def put(client, name, owner):
        client.put_item(TableName="things", Item={"id": {"S": name}, "owner": {"S": owner}})

    @staticmethod
    def owned(client, owner):
        found = client.query(TableName="things", IndexName="ByOwner", KeyConditionExpression="#o = :o",
                             ExpressionAttributeNames={"#o": "owner"}, ExpressionAttributeValues={":o": {"S": owner}})
        return [item["id"]["S"] for item in found["Items"]]

    def requests(self, client):
        """Sequences and signed headers of the client's reads, in order, as they go out."""
        sent = []

        def keep(request, **_):
            value = request.headers.get(SENT)
            signed = re.search(rb"SignedHeaders=([^,]*)", request.headers["Authorization"])
            sent.append((value and value.decode(), signed[1].decode().split(";")))

        for operation in ("Query", "Scan", "ExecuteStatement"):
            client.meta.events.register(f"before-send.dynamodb.{operation}", keep)
        return sent

    def test_a_write_is_in_the_index_when_the_next_query_answers(self):
        daemon, endpoint = self.start()
        daemon.create_table("things", **INDEX)
        plain, recipe = self.client(endpoint), self.client(endpoint)
        self.recipe(recipe)
        sent = self.requests(recipe)
        if self.held.works:
            with self.held:
                self.put(plain, "missed", "plain")
                self.assertEqual(self.owned(plain, "plain"), [])
                self.put(recipe, "seen", "recipe")
                found = []
                reader = threading.Thread(target=lambda: found.append(self.owned(recipe, "recipe")))
                reader.start()
                self.held.release()
                reader.join(TIMEOUT_S)
                self.assertEqual(found, [["seen"]])
                self.assertGreater(int(sent.pop()[0]), 1)
        for i in range(200):
            self.put(recipe, f"i{i}", f"o{i}")
            self.assertEqual(self.owned(recipe, f"o{i}"), [f"i{i}"])
        sequences = [int(sequence) for sequence, _ in sent]
        self.assertEqual(sequences, list(range(sequences[0], sequences[0] + 200)))

    def test_all_writes_and_reads(self):
        daemon, endpoint = self.start()
        daemon.create_table("things", **INDEX)
        resource = self.boto3.resource("dynamodb", endpoint_url=endpoint, region_name="local", aws_access_key_id="anyone",
                                       aws_secret_access_key="anything")
        client = resource.meta.client
        self.addCleanup(client.close)
        self.recipe(client)
        sent = self.requests(client)
        table = resource.Table("things")
        statement = "SELECT id FROM things.ByOwner WHERE owner = 'a'"
        with table.batch_writer() as batch:
            batch.put_item(Item={"id": "1", "owner": "a"})
        self.assertEqual(table.scan(IndexName="ByOwner")["Count"], 1)
        client.transact_write_items(TransactItems=[{"Put": {"TableName": "things", "Item": {"id": "2", "owner": "a"}}}])
        self.assertEqual(len(client.execute_statement(Statement=statement)["Items"]), 2)
        table.update_item(Key={"id": "3"}, UpdateExpression="SET #o = :a", ExpressionAttributeNames={"#o": "owner"},
                          ExpressionAttributeValues={":a": "a"})
        self.assertEqual(table.scan(IndexName="ByOwner")["Count"], 3)
        table.delete_item(Key={"id": "1"})
        self.assertEqual(table.scan(IndexName="ByOwner")["Count"], 2)
        with self.assertRaises(client.exceptions.ConditionalCheckFailedException):
            table.put_item(Item={"id": "2"}, ConditionExpression="attribute_not_exists(id)")
        client.execute_statement(Statement="INSERT INTO things VALUE {'id': '4', 'owner': 'a'}")
        self.assertEqual(table.scan(IndexName="ByOwner")["Count"], 3)
        client.batch_execute_statement(Statements=[
            {"Statement": "INSERT INTO things VALUE {'id': '4', 'owner': 'a'}"},  # there is one
            {"Statement": "INSERT INTO things VALUE {'id': '5', 'owner': 'a'}"}])
        self.assertEqual(table.scan(IndexName="ByOwner")["Count"], 4)
        client.execute_transaction(TransactStatements=[{"Statement": "DELETE FROM things WHERE id = '5'"}])
        self.assertEqual(table.scan(IndexName="ByOwner")["Count"], 3)
        # A database begins its sequences at a number of its own. The refused write and the delete before it tell the same.
        first = int(sent[0][0])
        self.assertEqual([int(sequence) - first for sequence, _ in sent], [0, 1, 2, 3, 3, 4, 5, 6])

    def test_signatures(self):
        keys = pathlib.Path(self.folder) / "credentials.json"
        keys.touch(mode=0o600)
        keys.write_text(json.dumps(KEYS))
        # With keys, gRPC needs TLS or a Unix socket, whose access the file system controls.
        _, endpoint = self.start(f"--credentials_file={keys}", f"--grpc_listen=unix:{self.folder}/grpc.sock")
        recipe = self.client(endpoint, "a-secret-of-anyone")
        self.recipe(recipe)
        sent = self.requests(recipe)
        attributes = [{"AttributeName": "id", "AttributeType": "S"}, *INDEX["more_attributes"]]
        recipe.create_table(TableName="things", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=attributes,
                            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                            GlobalSecondaryIndexes=INDEX["GlobalSecondaryIndexes"])
        recipe.get_waiter("table_exists").wait(TableName="things", WaiterConfig={"Delay": 1})
        self.put(recipe, "signed", "o")
        self.assertEqual(self.owned(recipe, "o"), ["signed"])
        self.assertGreater(int(sent[0][0]), 0)
        self.assertIn(SENT, sent[0][1])
        unsigned = self.client(endpoint, "a-secret-of-anyone")
        position = sent[0][0].encode()
        unsigned.meta.events.register("before-send.dynamodb.Query",
                                      lambda request, **_: request.headers.update({SENT: position}))
        sent = self.requests(unsigned)
        self.assertEqual(self.owned(unsigned, "o"), ["signed"])
        self.assertEqual((sent[0][0], SENT in sent[0][1]), (position.decode(), False))


class JavaScript(ReadYourWrites):
    def test_a_write_is_in_the_index_when_the_next_query_answers(self):
        folder = npm_clients(OPTIONS.work)
        (folder / "read_your_writes_recipe.mjs").write_text(documented("js"))
        daemon, endpoint = self.start()
        daemon.create_table("things", **INDEX)
        environment = client_environment(ENDPOINT=endpoint, HELD=str(int(self.held.works)))
        with self.held, subprocess.Popen(node_script(folder, "read_your_writes.mjs"), stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True, env=environment) as script:
            deadline = threading.Timer(TIMEOUT_S, script.kill)
            deadline.start()
            out = ""
            for line in script.stdout:
                out += line
                if line == "waiting\n":
                    self.held.release()
            deadline.cancel()
        self.assertEqual(script.returncode, 0, f"{out}{daemon.log()}")
        self.assertIn("read your writes: all passed", out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--work", required=True, help="folder for packages from npm; kept")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
