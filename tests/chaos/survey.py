"""Reads a daemon's whole state, and compares it with the promises."""

import json
import subprocess
import time

from history import WRONG, Violation, check
from server import CALL_S
from workload import COUNTERS, INDEXES, MAIN, OTHER, TABLES, key_of

SETTLE_S = 30


class State:
    """The items of the two tables. recovered: (table, key) -> item; counters: (table, key) -> number."""

    def __init__(self, items):
        self.items = items  # table -> list of items
        self.recovered = {}
        self.counters = {}
        for table, found in items.items():
            for item in found:
                key = key_of(table, item)
                if key in COUNTERS:
                    self.counters[key] = int(item["c"]["N"])
                else:
                    self.recovered[key] = item


def must(answer):
    status, document = answer
    if status != 200:
        raise RuntimeError(f"unexpected answer: {status} {document}")
    return document


def scan(connection, table, **members):
    items = []
    start = {}
    while True:
        page = must(connection.call("Scan", {"TableName": table, **start, **members}))
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def create_tables(connection):
    for name, definition in TABLES.items():
        must(connection.call("CreateTable", {"TableName": name, "BillingMode": "PAY_PER_REQUEST", **definition}))
    for name in TABLES:
        wait_active(connection, name)


def wait_active(connection, table):
    """Waits until the table and its indexes are ACTIVE. Returns the description, or None if there is no such table."""
    give_up = time.monotonic() + SETTLE_S
    while time.monotonic() < give_up:
        status, document = connection.call("DescribeTable", {"TableName": table})
        if status == 400:
            return None
        found = must((status, document))["Table"]
        if found["TableStatus"] == "DELETING":
            continue
        states = [found["TableStatus"], *(index["IndexStatus"] for index in found.get("GlobalSecondaryIndexes", ()))]
        if all(state == "ACTIVE" for state in states):
            return found
    raise RuntimeError(f"table {table} is still {states} after {SETTLE_S} s")


def read_state(connection):
    """All items. A table that does not exist has none."""
    return State({table: scan(connection, table, ConsistentRead=True) if wait_active(connection, table) else []
                  for table in (MAIN, OTHER)})


def read_items(connection):
    """The same of tables that exist, also while they are changed."""
    return State({table: scan(connection, table, ConsistentRead=True) for table in (MAIN, OTHER)})


def sort_items(items):
    return sorted(json.dumps(item, sort_keys=True) for item in items)


def compare_index(connection, table, index, needs, items):
    """A violation if the index does not have the items that it should have, once it has caught up."""
    wanted = sort_items(item for item in items if all(name in item for name in needs))
    give_up = time.monotonic() + SETTLE_S
    while True:
        found = sort_items(scan(connection, table, IndexName=index))
        if found == wanted:
            return []
        if time.monotonic() > give_up:
            missing, extra = sorted(set(wanted) - set(found))[:3], sorted(set(found) - set(wanted))[:3]
            return [Violation(WRONG, f"index {index} of {table}: lacks {missing}, has {extra} too many")]


def compare_indexes(connection, state):
    found = []
    for table, items in state.items.items():
        if not items and wait_active(connection, table) is None:
            continue
        for index, needs in INDEXES[table].items():
            found += compare_index(connection, table, index, needs, items)
    return found


def verify(armature, server):
    """The daemon's own comparison of tables and indexes."""
    done = subprocess.run([armature, "--endpoint", server.grpc, "verify"], capture_output=True, text=True,
                          timeout=10 * CALL_S, check=False)
    if done.returncode == 0:
        return []
    return [Violation(WRONG, f"armature verify ended with {done.returncode}: {done.stdout[-1000:]}{done.stderr[-1000:]}")]


def judge(connection, history, **times):
    """Reads the tables and checks everything. Returns state and violations."""
    state = read_state(connection)
    found = check(history, state.recovered, state.counters, **times)
    return state, found + compare_indexes(connection, state)
