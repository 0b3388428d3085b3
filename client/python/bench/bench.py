#!/usr/bin/env python3
"""Processor time of the client for each operation, by this package and by the raw stubs, in one run.

    bench.py [--armatured PATH] [--armature PATH] [--seconds S]

The rounds of the competitors alternate. "raw" makes the messages once and reads nothing from the answers; "by hand" converts items as a
program without this package does. With --armature, also the items a second of the bulk writer and of `armature load`.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import armature
import armature.testing
import grpc
from armature.api.v1 import items_pb2, types_pb2

ROUNDS = 5
ITEM = {"id": "user-000000", "visits": 42, "city": "Bonn", "country": "de", "member": True, "note": "x" * 100}


def to_value(value):
    """The conversion that a program without this package has."""
    if isinstance(value, bool):
        return types_pb2.AttributeValue(bool=value)
    if isinstance(value, int):
        return types_pb2.AttributeValue(n=str(value))
    return types_pb2.AttributeValue(s=value)


def to_message(item):
    return types_pb2.Item(attributes={name: to_value(value) for name, value in item.items()})


def from_value(value):
    kind = value.WhichOneof("value")
    if kind == "n":
        return int(value.n)
    return getattr(value, kind)


def from_message(item):
    return {name: from_value(value) for name, value in item.attributes.items()}


class Raw:
    """The calls by raw stubs."""

    def __init__(self, target):
        self.channel = grpc.insecure_channel(target)

        def stub(name, request, response):
            return self.channel.unary_unary(
                f"/armature.api.v1.ItemService/{name}",
                request_serializer=request.SerializeToString,
                response_deserializer=response.FromString,
            )

        self.get = stub("GetItem", items_pb2.GetItemRequest, items_pb2.GetItemResponse)
        self.put = stub("PutItem", items_pb2.PutItemRequest, items_pb2.PutItemResponse)
        self.query = stub("Query", items_pb2.QueryRequest, items_pb2.QueryResponse)


def query_message():
    return items_pb2.QueryRequest(
        table_name="pages",
        key_condition_expression="id = :id",
        limit=100,
        expression_attribute_values={":id": to_value("page")},
    )


def competitors(raw, client):
    """Operation -> name -> function of one call."""
    users, pages = client.table("users"), client.table("pages")
    get = items_pb2.GetItemRequest(table_name="users", key=to_message({"id": ITEM["id"]}))
    put = items_pb2.PutItemRequest(table_name="users", item=to_message(ITEM))
    query = query_message()

    def get_by_hand():
        request = items_pb2.GetItemRequest(table_name="users", key=to_message({"id": ITEM["id"]}))
        return from_message(raw.get(request, timeout=10).item)

    def put_by_hand():
        raw.put(items_pb2.PutItemRequest(table_name="users", item=to_message(ITEM)), timeout=10)

    def query_by_hand():
        return [from_message(item) for item in raw.query(query_message(), timeout=10).items]

    def query_package():
        return pages.query("id = $id", params={"id": "page"}, page_size=100).first_page()

    return {
        "get": {
            "raw": lambda: raw.get(get, timeout=10),
            "by hand": get_by_hand,
            "package": lambda: users.get({"id": ITEM["id"]}),
        },
        "put": {"raw": lambda: raw.put(put, timeout=10), "by hand": put_by_hand, "package": lambda: users.put(ITEM)},
        "page of 100": {
            "raw": lambda: raw.query(query, timeout=10),
            "by hand": query_by_hand,
            "package": query_package,
        },
    }


def microseconds(function, seconds):
    """Processor time of this process for one call."""
    calls = 0
    end = time.perf_counter() + seconds
    start = time.process_time()
    while time.perf_counter() < end:
        function()
        calls += 1
    return (time.process_time() - start) / calls * 1e6


def measure(operations, seconds):
    for operation, functions in operations.items():
        best = dict.fromkeys(functions, float("inf"))
        for _ in range(ROUNDS):
            for name, function in functions.items():
                best[name] = min(best[name], microseconds(function, seconds / ROUNDS))
        line = {f"{name} us": round(value, 1) for name, value in best.items()}
        line["package/raw"] = round(best["package"] / best["raw"], 2)
        line["package/by hand"] = round(best["package"] / best["by hand"], 2)
        print(json.dumps({"operation": operation, **line}), flush=True)


def bulk_items(count):
    return ({**ITEM, "id": f"user-{number}"} for number in range(count))


def measure_bulk(daemon, client, armature_tool, count):
    rates = {}
    client.create_table("ours", partition={"id": str})
    for concurrency in (2, 4, 8):
        start = time.perf_counter()
        client.table("ours").put_all(bulk_items(count), concurrency=concurrency)
        rates[f"put_all of {concurrency}"] = count / (time.perf_counter() - start)
    if armature_tool:
        client.create_table("theirs", partition={"id": str})
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "items.jsonl")
            with file.open("w") as lines:
                for item in bulk_items(count):
                    lines.write(
                        json.dumps(
                            {
                                "Item": {
                                    name: (
                                        {"BOOL": value}
                                        if value is True
                                        else {"N": str(value)} if isinstance(value, int) else {"S": value}
                                    )
                                    for name, value in item.items()
                                }
                            }
                        )
                        + "\n"
                    )
            start = time.perf_counter()
            subprocess.run(
                [armature_tool, "load", f"--endpoint={daemon.target}", "--table-name=theirs", str(file)],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            rates["armature load"] = count / (time.perf_counter() - start)
    print(json.dumps({"items a second": {name: round(rate) for name, rate in rates.items()}}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured")
    parser.add_argument("--armature")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--items", type=int, default=50000)
    arguments = parser.parse_args()
    with armature.testing.start(arguments.armatured) as daemon, daemon.connect() as client:
        client.create_table("users", partition={"id": str})
        client.create_table("pages", partition={"id": str}, sort={"n": int})
        client.table("users").put(ITEM)
        client.table("pages").put_all({**ITEM, "id": "page", "n": number} for number in range(100))
        measure(competitors(Raw(daemon.target), client), arguments.seconds)
        measure_bulk(daemon, client, arguments.armature, arguments.items)


if __name__ == "__main__":
    sys.exit(main())
