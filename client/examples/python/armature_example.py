#!/usr/bin/python3
"""A small client in Python: creates a table with an index on several attributes, uses it, and deletes it.

Prints one line of JSON for each step; exits with 1 if an answer is not the expected one.

Needs the Debian packages python3-grpcio, python3-protobuf, protobuf-compiler and protobuf-compiler-grpc (the compiler
in Debian's python3-grpc-tools is too old: it does not know `optional`). Run from anywhere:

    /usr/bin/python3 client/examples/python/armature_example.py localhost:7700

The stubs are generated at the start, into a temporary directory, from the proto/ directory of this tree.
"""

import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import grpc
from google.protobuf import json_format

PROTO_ROOT = pathlib.Path(__file__).resolve().parents[3] / "proto"
API_FILES = ["errors", "items", "service", "statements", "streams", "tables", "transfers", "types"]
DEADLINE_S = 10
TABLE = f"example_python_{os.getpid()}"


def generate_stubs(directory):
    files = [f"armature/api/v1/{name}.proto" for name in API_FILES]
    plugin = shutil.which("grpc_python_plugin")
    if plugin is None:
        sys.exit("grpc_python_plugin is not installed")
    command = ["protoc", f"-I{PROTO_ROOT}", f"--plugin=protoc-gen-grpc={plugin}"]
    subprocess.run(command + [f"--python_out={directory}", f"--grpc_out={directory}"] + files, check=True)
    sys.path.insert(0, directory)
    return {name: importlib.import_module(f"armature.api.v1.{name}_pb2") for name in API_FILES} | {
        "grpc": importlib.import_module("armature.api.v1.service_pb2_grpc")
    }


def exception_name(api, error):
    """The name of the documented exception, from the trailer of a failed call."""
    for name, value in error.trailing_metadata() or ():
        if name == "grpc-status-details-bin":
            for packed in api["errors"].RpcStatus.FromString(value).details:
                detail = api["errors"].ErrorDetail()
                if packed.Unpack(detail):
                    return detail.exception
    return ""


def step(name, ok, **facts):
    print(json.dumps({"step": name, "ok": bool(ok), **facts}), flush=True)
    if not ok:
        raise SystemExit(1)


def wait_until(condition):
    """The first true value of `condition`, or None after the deadline."""
    end = time.monotonic() + DEADLINE_S
    pause = 0.01
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(pause)
        pause = min(pause * 2, 0.5)
    return None


class Example:
    def __init__(self, api, channel):
        self.api = api
        self.types = api["types"]
        self.item_service = api["grpc"].ItemServiceStub(channel)
        self.table_service = api["grpc"].TableServiceStub(channel)

    def value(self, plain):
        if isinstance(plain, bool):  # Before int: a bool is one.
            return self.types.AttributeValue(bool=plain)
        if isinstance(plain, int):
            return self.types.AttributeValue(n=str(plain))
        return self.types.AttributeValue(s=plain)

    def item(self, **attributes):
        return self.types.Item(attributes={name: self.value(plain) for name, plain in attributes.items()})

    def create_table(self):
        tables, types = self.api["tables"], self.types
        text, number = types.SCALAR_ATTRIBUTE_TYPE_S, types.SCALAR_ATTRIBUTE_TYPE_N
        hash_key, range_key = types.KEY_TYPE_HASH, types.KEY_TYPE_RANGE
        definitions = {"user": text, "country": text, "city": text, "visits": number}
        index_key = [("country", hash_key), ("city", hash_key), ("visits", range_key)]
        self.table_service.CreateTable(
            tables.CreateTableRequest(
                table_name=TABLE,
                billing_mode=tables.BILLING_MODE_PAY_PER_REQUEST,
                attribute_definitions=[
                    types.AttributeDefinition(attribute_name=n, attribute_type=t) for n, t in definitions.items()
                ],
                key_schema=[types.KeySchemaElement(attribute_name="user", key_type=hash_key)],
                global_secondary_indexes=[
                    tables.GlobalSecondaryIndex(
                        index_name="by_place",
                        key_schema=[types.KeySchemaElement(attribute_name=n, key_type=k) for n, k in index_key],
                        projection=types.Projection(projection_type=types.PROJECTION_TYPE_ALL),
                    )
                ],
            ),
            timeout=DEADLINE_S,
        )

    def table_status(self):
        """The name of the status, or "GONE"."""
        tables = self.api["tables"]
        try:
            answer = self.table_service.DescribeTable(
                tables.DescribeTableRequest(table_name=TABLE), timeout=DEADLINE_S
            )
        except grpc.RpcError as error:
            if exception_name(self.api, error) == "ResourceNotFoundException":
                return "GONE"
            raise
        return tables.TableStatus.Name(answer.table.table_status)

    def put(self, **attributes):
        request = self.api["items"].PutItemRequest(table_name=TABLE, item=self.item(**attributes))
        return self.item_service.PutItem(request, timeout=DEADLINE_S)

    def put_once(self, **attributes):
        """The name of the exception of a put whose condition fails."""
        request = self.api["items"].PutItemRequest(
            table_name=TABLE,
            item=self.item(**attributes),
            condition_expression="attribute_not_exists(#user)",
            expression_attribute_names={"#user": "user"},
        )
        try:
            self.item_service.PutItem(request, timeout=DEADLINE_S)
        except grpc.RpcError as error:
            return exception_name(self.api, error)
        return ""

    def get(self, user):
        request = self.api["items"].GetItemRequest(table_name=TABLE, key=self.item(user=user), consistent_read=True)
        return self.item_service.GetItem(request, timeout=DEADLINE_S)

    def query_users(self):
        request = self.api["items"].QueryRequest(
            table_name=TABLE,
            index_name="by_place",
            key_condition_expression="country = :country AND city = :city AND visits >= :least",
            expression_attribute_values={
                ":country": self.value("de"),
                ":city": self.value("Bonn"),
                ":least": self.value(2),
            },
        )
        users = []
        while True:
            page = self.item_service.Query(request, timeout=DEADLINE_S)
            users += [item.attributes["user"].s for item in page.items]
            if not page.HasField("last_evaluated_key"):
                return users
            request.exclusive_start_key.CopyFrom(page.last_evaluated_key)

    def delete_table(self):
        request = self.api["tables"].DeleteTableRequest(table_name=TABLE)
        self.table_service.DeleteTable(request, timeout=DEADLINE_S)

    def run(self):
        self.create_table()
        try:
            step("create_table", wait_until(lambda: self.table_status() == "TABLE_STATUS_ACTIVE"), table=TABLE)
            for number, user in enumerate(["ann", "bob", "cid"], start=1):
                answer = self.put(user=user, country="de", city="Bonn", visits=number, member=True)
                step("put_item", True, user=user, change_sequence=answer.change_sequence)
            name = self.put_once(user="ann")
            step("put_item_once", name == "ConditionalCheckFailedException", exception=name)
            item = self.get("ann").item
            step("get_item", item == self.item(user="ann", country="de", city="Bonn", visits=1, member=True),
                 item=json_format.MessageToDict(item))
            expected = ["bob", "cid"]
            wait_until(lambda: self.query_users() == expected)
            users = self.query_users()
            step("query", users == expected, users=users)
        finally:
            self.delete_table()
        step("delete_table", wait_until(lambda: self.table_status() == "GONE"), table=TABLE)


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} HOST:PORT")
    with tempfile.TemporaryDirectory() as directory:
        api = generate_stubs(directory)
        with grpc.insecure_channel(sys.argv[1]) as channel:
            try:
                Example(api, channel).run()
            except grpc.RpcError as error:
                step("call", False, code=str(error.code()), exception=exception_name(api, error),
                     message=error.details())


if __name__ == "__main__":
    main()
