"""Clients that create and delete tables, build indexes, and make backups, and the promises that they were given."""

import threading
import time

from history import FOREIGN, LOST, WRONG, Violation
from server import Lost, error_name
from survey import compare_index, must, scan, wait_active
from workload import MAIN

ADDED = {"IndexName": "added", "Projection": {"ProjectionType": "ALL"},
         "KeySchema": [{"AttributeName": "l", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}]}
ADDED_NEEDS = ("l", "n")
POLL_S = 0.01


class Event:
    """A request that changes tables: `kind` says how. Answered is None while its outcome is unknown."""

    def __init__(self, kind, name):
        self.kind = kind
        self.name = name
        self.submitted = time.monotonic_ns()
        self.answered = None
        self.rows = []  # of a created table: time of the answer of each put, in order

    def is_answered(self, at):
        return self.answered is not None and self.answered <= at


class Promises:
    """Acknowledged changes of tables, indexes and backups. Lists are appended by one thread each."""

    def __init__(self):
        self.tables = {}  # name -> events
        self.index = []
        self.backups = []

    def resolve_index(self, connection):
        """Decides the request about the index that was not answered: a new life shows if it was executed."""
        if self.index and self.index[-1].answered is None:
            if has_index(wait_active(connection, MAIN)) == (self.index[-1].kind == "create"):
                self.index[-1].answered = time.monotonic_ns()
            else:
                self.index.pop()

    def forget(self):
        """After a check with `settle`: nothing is left of the cycled tables."""
        self.tables = {}
        self.index = self.index[-1:]
        self.backups = []


def has_index(description):
    return any(index["IndexName"] == "added" for index in description.get("GlobalSecondaryIndexes", ()))


class Administrator(threading.Thread):
    """Repeats `act` until `stop` is set or the connection breaks."""

    def __init__(self, promises, rng, connection, stop, names):
        super().__init__(daemon=True)
        self.promises = promises
        self.rng = rng
        self.connection = connection
        self.stop = stop
        self.names = names  # iterator of numbers that no other thread gets
        self.violations = []

    def run(self):
        try:
            while not self.stop.is_set():
                self.act()
        except Lost:
            pass
        finally:
            self.connection.close()

    def request(self, event, operation, members):
        """Returns the document if the request was carried out. Anything but that leaves the event unknown."""
        status, document = self.connection.call(operation, members)
        if status == 200:
            event.answered = time.monotonic_ns()
            return document
        if status == 400 and error_name(document) not in ("ResourceInUseException", "LimitExceededException",
                                                          "ThrottlingException", "BackupInUseException"):
            self.violations.append(Violation(WRONG, f"{operation} {members} was answered {status} {document}"))
        self.stop.wait(POLL_S)
        return None

    def wait_until(self, is_there):
        while not self.stop.is_set() and not is_there():
            self.stop.wait(POLL_S)

    def status_of(self, table):
        status, document = self.connection.call("DescribeTable", {"TableName": table})
        if status != 200:
            return None
        states = {document["Table"]["TableStatus"]}
        states |= {index["IndexStatus"] for index in document["Table"].get("GlobalSecondaryIndexes", ())}
        return "ACTIVE" if states == {"ACTIVE"} else "changing"


class TableMaker(Administrator):
    """Creates a table, writes some rows, deletes it; every name is used once."""

    def act(self):
        name = f"cycled{next(self.names)}"
        created = Event("create", name)
        self.promises.tables[name] = [created]
        index = {"IndexName": "global", "Projection": {"ProjectionType": "ALL"},
                 "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}
        self.request(created, "CreateTable", {
            "TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": each, "AttributeType": "S"} for each in ("id", "g")],
            "GlobalSecondaryIndexes": [index]})
        self.wait_until(lambda: self.status_of(name) in ("ACTIVE", None))
        for number in range(self.rng.randrange(10)):
            row = {"id": {"S": str(number)}, "g": {"S": "g"}}
            if self.stop.is_set() or self.connection.call("PutItem", {"TableName": name, "Item": row})[0] != 200:
                break
            created.rows.append(time.monotonic_ns())
        if self.stop.is_set() or created.answered is None or self.rng.random() < 0.2:
            return
        deleted = Event("delete", name)
        self.promises.tables[name].append(deleted)
        self.request(deleted, "DeleteTable", {"TableName": name})
        if self.rng.random() < 0.5:
            self.wait_until(lambda: self.status_of(name) is None)


class IndexMaker(Administrator):
    """Adds an index to the table of the writers, and removes it."""

    def act(self):
        self.wait_until(lambda: self.status_of(MAIN) == "ACTIVE")
        if self.stop.is_set():
            return
        last = self.promises.index[-1] if self.promises.index else None
        creates = last is None or last.kind == "delete"
        if last is not None and last.answered is None:
            self.stop.wait(POLL_S)
            return  # the outcome is unknown until the next check
        event = Event("create" if creates else "delete", "added")
        self.promises.index.append(event)
        update = {"Create": ADDED} if creates else {"Delete": {"IndexName": "added"}}
        kinds = [{"AttributeName": "l", "AttributeType": "S"}, {"AttributeName": "n", "AttributeType": "N"}]
        if self.request(event, "UpdateTable", {"TableName": MAIN, "AttributeDefinitions": kinds,
                                               "GlobalSecondaryIndexUpdates": [update]}) is None:
            self.stop.wait(POLL_S)


class BackupMaker(Administrator):
    """Makes backups, and restores some of them as a table."""

    def act(self):
        number = next(self.names)
        event = Event("backup", f"backup{number}")
        document = self.request(event, "CreateBackup", {"TableName": MAIN, "BackupName": event.name})
        event.answered = None
        if document is None:
            return
        arn = document["BackupDetails"]["BackupArn"]

        self.wait_until(lambda: self.state_of(arn) != "CREATING")
        if self.stop.is_set() or self.state_of(arn) != "AVAILABLE":
            return
        event.answered = time.monotonic_ns()
        self.promises.backups.append(event)
        if self.rng.random() < 0.5:
            self.restore(arn, f"restored{number}")
        self.stop.wait(self.rng.random() * 0.2)

    def state_of(self, arn):
        """State of a backup; None if it failed."""
        status, answer = self.connection.call("DescribeBackup", {"BackupArn": arn})
        return answer["BackupDescription"]["BackupDetails"]["BackupStatus"] if status == 200 else None

    def restore(self, arn, name):
        restored = Event("restore", name)
        self.promises.tables[name] = [restored]
        if self.request(restored, "RestoreTableFromBackup", {"TargetTableName": name, "BackupArn": arn}) is None:
            return
        restored.answered = None  # promised once it is ACTIVE
        # A restore that fails, perhaps because the backup cannot be read, deletes its table.
        self.wait_until(lambda: self.status_of(name) in ("ACTIVE", None))
        if self.stop.is_set() or self.status_of(name) != "ACTIVE":
            return
        restored.answered = time.monotonic_ns()
        if self.rng.random() < 0.5:
            deleted = Event("delete", name)
            self.promises.tables[name].append(deleted)
            self.request(deleted, "DeleteTable", {"TableName": name})


def check_promises(connection, promises, items, at, has_rows=True):
    """Violations of the promises about tables and the added index.

    items: of the table of the writers. has_rows: rows that were acknowledged in tables of the administrators are there.
    """
    found = []
    for name, events in promises.tables.items():
        found += check_table(connection, name, events, at, has_rows)
    return found + check_index(connection, promises.index, items, at)


def check_table(connection, name, events, at, has_rows):
    begun = [event for event in events if event.submitted <= at]
    if not begun:
        status, _ = connection.call("DescribeTable", {"TableName": name})
        return [Violation(FOREIGN, f"table {name} exists before its creation")] if status == 200 else []
    description = wait_active_or_gone(connection, name)
    made, last = begun[0], begun[-1]
    if last.kind == "delete":
        if last.is_answered(at) and description is not None:
            return [Violation(LOST, f"table {name} is there after its deletion")]
        return []
    if description is None:
        return [Violation(LOST, f"table {name} is gone; its {made.kind} was acknowledged")] if made.is_answered(at) else []
    if made.kind == "restore" or not made.rows or not has_rows:
        return []
    rows = {int(item["id"]["S"]) for item in scan(connection, name, ConsistentRead=True)}
    wanted = set(range(sum(1 for answered in made.rows if answered <= at)))
    return [Violation(LOST, f"table {name} lacks rows {sorted(wanted - rows)}")] if wanted - rows else []


def wait_active_or_gone(connection, name):
    while True:
        status, document = connection.call("DescribeTable", {"TableName": name})
        if status == 400:
            return None
        if must((status, document))["Table"]["TableStatus"] != "DELETING":
            return wait_active(connection, name)


def check_index(connection, events, items, at):
    begun = [event for event in events if event.submitted <= at]
    description = wait_active(connection, MAIN)
    if description is None:
        return []  # reported with the items of the writers
    is_there = has_index(description)
    last = begun[-1] if begun else None
    if last is not None and last.is_answered(at) and is_there != (last.kind == "create"):
        return [Violation(LOST, f"the index is {'there' if is_there else 'gone'} after its acknowledged {last.kind}")]
    if last is None and is_there:
        return [Violation(FOREIGN, "the index is there before its creation")]
    return compare_index(connection, MAIN, "added", ADDED_NEEDS, items) if is_there else []


def settle_promises(connection, promises):
    """Deletes what the administrators left, and notes if the index is there."""
    for name in promises.tables:
        if wait_active_or_gone(connection, name) is not None:
            must(connection.call("DeleteTable", {"TableName": name}))
    description = wait_active(connection, MAIN)
    event = Event("create" if has_index(description) else "delete", "added")
    event.answered = time.monotonic_ns()
    promises.forget()
    promises.index = [event]
