#!/usr/bin/python3
"""Clients of both fronts that ask for large answers and never read them: whatever the operation is, the daemon's memory
stays within its budget, and others are served."""

import argparse
import contextlib
import json
import pathlib
import socket
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import Daemon  # noqa: E402
from raw_grpc_client import RawGrpcClient, field, text_item  # noqa: E402

WAIT_S = 60
CALLS = 60  # on one gRPC connection
AT_ONCE = 10  # more would be throttled, because they wait too long
BUDGET_MB = 64
# Beside the budget: free memory that the allocator keeps, answers being made on each thread, caches of the database.
SLACK_MB = 250
ITEMS = 20
ITEM_BYTES = 390_000
LEVELS = 30
ARGS = None


def statement(number):
    return f"SELECT * FROM Large WHERE id = '{number}'"


def key(number):
    return {"id": {"S": str(number)}}


def nested(number):
    """An item with a text in maps inside of each other."""
    value = {"S": "x" * ITEM_BYTES}
    for level in range(LEVELS - 1, 0, -1):
        value = {"M": {f"n{level}": value}}
    return {"id": {"S": f"nested{number}"}, "n0": value}


def nested_statement(number):
    """Selects each of the maps, so that the text is as often in the answer."""
    columns = (".".join(f"n{level}" for level in range(depth)) for depth in range(1, LEVELS + 1))
    return f"SELECT {', '.join(columns)} FROM Large WHERE id = 'nested{number}'"


STATEMENTS = [{"Statement": statement(number)} for number in range(10)]
NESTED = [{"Statement": nested_statement(number)} for number in range(2)]
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


PAGE_BYTES = 2 * ITEM_BYTES  # at least, of those that end at 1 MB
ANSWER_BYTES = {
    "ExecuteTransaction": len(STATEMENTS) * ITEM_BYTES,
    "BatchExecuteStatement": len(STATEMENTS) * ITEM_BYTES,
    "ExecuteStatement": PAGE_BYTES,
    "Scan": PAGE_BYTES,
    "GetRecords": PAGE_BYTES,
    "TransactGetItems": 10 * ITEM_BYTES,
    "TransactWriteItems": ITEMS * ITEM_BYTES,
    "BatchGetItem": ITEMS * ITEM_BYTES,
    "PutItem": ITEM_BYTES,
    "DeleteItem": ITEM_BYTES,
    "UpdateItem": ITEM_BYTES,
    "GetItem": ITEM_BYTES,
    "ExecuteTransaction of nested columns": len(NESTED) * LEVELS * ITEM_BYTES,
    "BatchExecuteStatement of nested columns": len(NESTED) * LEVELS * ITEM_BYTES,
    "ExecuteStatement of nested columns": LEVELS * ITEM_BYTES,
}


def answers_for(answer_bytes):
    """Number of answers of this size that take twice the memory that the daemon may use, and 200 at least."""
    return max(200, -(-2 * (BUDGET_MB + SLACK_MB << 20) // answer_bytes))


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
        for number in range(ITEMS):
            status = self.ask("PutItem", TableName="Large", Item={**key(number), "text": {"S": "x" * ITEM_BYTES}})
            if status != 200:
                raise RuntimeError("no item")
        for number in range(len(NESTED)):
            if self.ask("PutItem", TableName="Large", Item=nested(number)) != 200:
                raise RuntimeError("no nested item")
        self.idle_mb = self.peak_mb()
        return self

    def records_request(self):
        arn = self.json_call("DescribeTable", TableName="Large")[1]["Table"]["LatestStreamArn"]
        for shard in self.stream_call("DescribeStream", StreamArn=arn)[1]["StreamDescription"]["Shards"]:
            _, answer = self.stream_call("GetShardIterator", StreamArn=arn, ShardId=shard["ShardId"],
                                         ShardIteratorType="TRIM_HORIZON")
            request = {"ShardIterator": answer["ShardIterator"]}
            if self.stream_call("GetRecords", **request)[1]["Records"]:
                return request
        raise RuntimeError("no records")

    def answered(self, operation, *labels):
        """Number of the requests of an operation that have been answered. The operations on streams have one count."""
        operation = "other" if operation == "GetRecords" else operation
        return self.metric("armature_requests_total", f'operation="{operation}"', *labels)


class UnreadAnswers(unittest.TestCase):
    @contextlib.contextmanager
    def bounded(self, daemon, what, operation, answers, broken_off=lambda: 0):
        """While the caller sends requests for so many answers: others are served, all requests are answered, and the
        memory stays within its limits. `broken_off` tells how many requests have ended with their connections. Yields a
        function that waits until so many requests have ended."""
        daemon.forget_peak()
        before = daemon.answered(operation)
        before_ok = daemon.answered(operation, 'result="ok"')

        def wait(sent):
            end = time.monotonic() + WAIT_S
            while (ended := daemon.answered(operation) - before + broken_off()) < sent:
                self.assertLess(time.monotonic(), end, f"{what}: {sent - ended} of {sent} requests have no answer")

        yield wait
        for _ in range(20):
            self.assertEqual(daemon.ask("ListTables"), 200)
        wait(answers)
        full = daemon.answered(operation, 'result="ok"') - before_ok
        print(f"{what}: {answers} answers ({full:.0f} ok) take {daemon.peak_mb() - daemon.idle_mb} MB", flush=True)
        self.assertLess(daemon.peak_mb() - daemon.idle_mb, BUDGET_MB + SLACK_MB, what)


class HttpAnswers(UnreadAnswers):
    def check(self, daemon, request, what):
        operation = what.split()[0]
        count = answers_for(ANSWER_BYTES.get(what, ANSWER_BYTES[operation]))
        host, port = daemon.http.rsplit(":", 1)
        # The clients leave after the checks.
        with contextlib.ExitStack() as stack, self.bounded(daemon, what, operation, count) as wait:
            for number in range(count):
                if number % AT_ONCE == 0:
                    wait(number)
                client = stack.enter_context(socket.socket())
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect((host, int(port)))
                client.sendall(request)

    def test_they_stay_within_the_memory(self):
        with LargeDaemon() as daemon:
            requests = {name: post(name, members) for name, members in REQUESTS.items()}
            requests["BatchGetItem with gzip"] = post("BatchGetItem", REQUESTS["BatchGetItem"], "Accept-Encoding: gzip")
            requests["ExecuteStatement of nested columns"] = post("ExecuteStatement", NESTED[0])
            requests["BatchExecuteStatement of nested columns"] = post("BatchExecuteStatement", {"Statements": NESTED})
            requests["ExecuteTransaction of nested columns"] = post("ExecuteTransaction", {"TransactStatements": NESTED})
            requests["GetRecords"] = post("GetRecords", daemon.records_request(), service="DynamoDBStreams_20120810")
            for what, request in requests.items():
                with self.subTest(what):
                    self.check(daemon, request, what)
            # Clients that read are served again when the others are gone.
            end = time.monotonic() + WAIT_S
            while daemon.ask("ExecuteTransaction", **REQUESTS["ExecuteTransaction"]) != 200:
                self.assertLess(time.monotonic(), end, "a client that reads is refused")


class GrpcAnswers(UnreadAnswers):
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
            for method, request in requests.items():
                operation = method.rsplit("/", 1)[1]
                connections = -(-answers_for(ANSWER_BYTES[operation]) // CALLS)
                # The clients leave after the checks.
                with self.subTest(method), contextlib.ExitStack() as stack:
                    clients = []

                    def lost(clients=clients):
                        return CALLS * (len(clients) - daemon.metric("armature_grpc_connections "))

                    with self.bounded(daemon, method, operation, connections * CALLS, lost) as wait:
                        for number in range(connections * CALLS):
                            if number % CALLS == 0:
                                clients.append(stack.enter_context(
                                    contextlib.closing(RawGrpcClient(daemon.grpc, receive_bytes=4096))))
                            if number % AT_ONCE == 0:
                                wait(number)
                            with contextlib.suppress(ConnectionError):  # broken off, because nothing is read
                                clients[-1].socket.sendall(clients[-1].call_frames(method, request)[0])


def main():
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
