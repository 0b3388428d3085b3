#!/usr/bin/python3
"""Clients of both fronts that ask for large answers and never read them: whatever the operation is, the daemon's memory
stays within its budget, and others are served."""

import argparse
import contextlib
import http.client
import json
import pathlib
import socket
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import Daemon  # noqa: E402
from raw_grpc_client import RawGrpcClient, field, text_item  # noqa: E402

WAIT_S = 60
CONNECTIONS = 200
BUDGET_MB = 64
# Beside the budget: free memory that the allocator keeps, answers being made on each thread, caches of the database.
SLACK_MB = 200
ITEMS = 20
ITEM_BYTES = 390_000
ARGS = None


def statement(number):
    return f"SELECT * FROM Large WHERE id = '{number}'"


def key(number):
    return {"id": {"S": str(number)}}


STATEMENTS = [{"Statement": statement(number)} for number in range(10)]
CHECK = {"ConditionExpression": "attribute_not_exists(id)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
REQUESTS = {
    "ExecuteTransaction": {"TransactStatements": STATEMENTS},
    "BatchExecuteStatement": {"Statements": STATEMENTS},
    "ExecuteStatement": {"Statement": "SELECT * FROM Large"},
    "Scan": {"TableName": "Large"},
    "TransactGetItems": {"TransactItems": [{"Get": {"TableName": "Large", "Key": key(number)}} for number in range(10)]},
    "TransactWriteItems": {"TransactItems": [{"ConditionCheck": {"TableName": "Large", "Key": key(number), **CHECK}}
                                             for number in range(ITEMS)]},
    "BatchGetItem": {"RequestItems": {"Large": {"Keys": [key(number) for number in range(ITEMS)]}}},
    "PutItem": {"TableName": "Large", "Item": key(0), **CHECK},
    "DeleteItem": {"TableName": "Large", "Key": key(1), **CHECK},
    "UpdateItem": {"TableName": "Large", "Key": key(2), "UpdateExpression": "SET n = :n", "ReturnValues": "ALL_NEW",
                   "ExpressionAttributeValues": {":n": {"N": "1"}}},
    "GetItem": {"TableName": "Large", "Key": key(3)},
}


def post(operation, members, *headers, service="DynamoDB_20120810"):
    body = json.dumps(members).encode()
    head = [f"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: {service}.{operation}",
            "Content-Type: application/x-amz-json-1.0", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


class LargeDaemon(Daemon):
    """A daemon with the table Large and a stream of its large items."""

    def __init__(self, *flags):
        super().__init__(ARGS.armatured, f"--request_memory_mb={BUDGET_MB}", "--metrics_listen=127.0.0.1:0", *flags)

    def __enter__(self):
        super().__enter__()
        self.create_table("Large", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        self.kept = http.client.HTTPConnection(self.http, timeout=WAIT_S)
        for number in range(ITEMS):
            status = self.ask("PutItem", TableName="Large", Item={**key(number), "text": {"S": "x" * ITEM_BYTES}})
            if status != 200:
                raise RuntimeError("no item")
        return self

    def __exit__(self, *error):
        self.kept.close()
        super().__exit__(*error)

    def ask(self, operation, **members):
        """Calls an operation over a connection made at the start. Returns the status."""
        self.kept.request("POST", "/", json.dumps(members), {"X-Amz-Target": f"DynamoDB_20120810.{operation}",
                                                            "Content-Type": "application/x-amz-json-1.0"})
        answer = self.kept.getresponse()
        answer.read()
        return answer.status

    def records_request(self):
        arn = self.json_call("DescribeTable", TableName="Large")[1]["Table"]["LatestStreamArn"]
        for shard in self.stream_call("DescribeStream", StreamArn=arn)[1]["StreamDescription"]["Shards"]:
            _, answer = self.stream_call("GetShardIterator", StreamArn=arn, ShardId=shard["ShardId"],
                                         ShardIteratorType="TRIM_HORIZON")
            request = {"ShardIterator": answer["ShardIterator"]}
            if self.stream_call("GetRecords", **request)[1]["Records"]:
                return request
        raise RuntimeError("no records")

    def peak_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) >> 10

    def answered(self, operation):
        """Number of the requests of an operation that have been answered."""
        _, text = self.get_text("/metrics")
        return sum(int(line.split()[-1]) for line in text.splitlines()
                   if line.startswith("armature_requests_total") and f'operation="{operation}"' in line)

    def await_answers(self, operation, count):
        """Waits until that many requests have been answered, or no more are: some are refused before they are counted."""
        answered, unchanged = -1, 0
        while answered < count and unchanged < 100:
            before, answered = answered, self.answered(operation)
            unchanged = unchanged + 1 if answered == before else 0
            a, b = socket.socketpair()
            with a, b, contextlib.suppress(TimeoutError):
                a.settimeout(0.01)
                a.recv(1)


class HttpAnswers(unittest.TestCase):
    def check(self, daemon, request, what):
        operation = what.split()[0]
        before = daemon.answered(operation)
        host, port = daemon.http.rsplit(":", 1)
        with contextlib.ExitStack() as stack:
            for _ in range(CONNECTIONS):
                client = stack.enter_context(socket.socket())
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect((host, int(port)))
                client.sendall(request)
            # Small requests of others go on.
            for _ in range(20):
                self.assertEqual(daemon.ask("ListTables"), 200)
            daemon.await_answers(operation, before + CONNECTIONS)
            self.assertLess(daemon.peak_mb() - self.before_mb, BUDGET_MB + SLACK_MB, what)

    def test_they_stay_within_the_memory(self):
        with LargeDaemon() as daemon:
            requests = {name: post(name, members) for name, members in REQUESTS.items()}
            requests["BatchGetItem with gzip"] = post("BatchGetItem", REQUESTS["BatchGetItem"], "Accept-Encoding: gzip")
            requests["GetRecords"] = post("GetRecords", daemon.records_request(), service="DynamoDBStreams_20120810")
            self.before_mb = daemon.peak_mb()
            for what, request in requests.items():
                self.check(daemon, request, what)
            # Clients that read are served again when the others are gone.
            for _ in range(WAIT_S * 10):
                if daemon.ask("ExecuteTransaction", **REQUESTS["ExecuteTransaction"]) == 200:
                    break
            else:
                self.fail("a client that reads is refused")


class GrpcAnswers(unittest.TestCase):
    def test_they_stay_within_the_memory(self):
        statements = b"".join(field(1, field(1, each["Statement"].encode())) for each in STATEMENTS)
        keys = b"".join(field(2, text_item(id=str(number))) for number in range(ITEMS))
        requests = {
            "/armature.api.v1.StatementService/ExecuteTransaction": statements,
            "/armature.api.v1.StatementService/BatchExecuteStatement": statements,
            "/armature.api.v1.StatementService/ExecuteStatement": field(1, b"SELECT * FROM Large"),
            "/armature.api.v1.ItemService/BatchGetItem": field(1, field(1, b"Large") + field(2, keys)),
        }
        with LargeDaemon() as daemon:
            before_mb = daemon.peak_mb()
            for method, request in requests.items():
                operation = method.rsplit("/", 1)[1]
                before = daemon.answered(operation)
                with contextlib.ExitStack() as stack:
                    for _ in range(3):
                        client = stack.enter_context(contextlib.closing(RawGrpcClient(daemon.grpc, receive_bytes=4096)))
                        client.socket.sendall(b"".join(client.call_frames(method, request)[0] for _ in range(60)))
                    for _ in range(20):
                        self.assertEqual(daemon.ask("ListTables"), 200)
                    daemon.await_answers(operation, before + 180)
                    self.assertLess(daemon.peak_mb() - before_mb, BUDGET_MB + SLACK_MB, method)


def main():
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
