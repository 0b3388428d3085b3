"""Sequences of requests against two servers, which are kept in the same state."""

import itertools
import json
import sys
import time

from answers import Answer, differences, normal, ordered, signature
from item_requests import ItemRequests
from known import entry_for
from mutations import Mutations
from reduction import smaller
from statements import Statements
from table_requests import TableRequests
from tables import TABLES, setup_items

REQUESTS = 50
KINDS = ("items",) * 7 + ("statements",) * 2 + ("tables",)
# How likely a fault is put in, at each place of a request where one can be.
ODD = 0.01
# Peers that check little: their errors say nothing about ours, so they get valid requests on items only.
VALID_ONLY = {"moto"}
PAGES_MAX = 30
# Attempts to make the request that shows a new difference smaller.
REDUCTIONS_MAX = 120
REDUCTION_S = 5
READS = {"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"}
# Errors of requests with several faults may differ by the order of the checks.
CHECKED = {"ValidationException", "SerializationException", "ResourceNotFoundException"}
CURSORS = {"Query": ("LastEvaluatedKey", "ExclusiveStartKey"), "Scan": ("LastEvaluatedKey", "ExclusiveStartKey"),
           "ExecuteStatement": ("NextToken", "NextToken")}


class New:
    """A difference that the list does not explain: how often it was seen, and the first request that showed it."""

    def __init__(self, number, operation, request, ours, theirs, before):
        self.number = number
        self.operation = operation
        self.request = request
        self.ours = ours
        self.theirs = theirs
        self.before = before
        self.count = 1


class Session:
    def __init__(self, ours, theirs, entries, options):
        self.sides = (ours, theirs)
        self.entries = entries
        self.options = options
        self.new = {}
        self.requests = self.refused = self.known = self.reordered = 0
        self.orders = {}
        self.state = {}

    # State.

    def set_up(self):
        for side in self.sides:
            for table in TABLES:
                status, answer = side.call("CreateTable", table.create_request())
                if status != 200:
                    raise RuntimeError(f"{side.name}: {answer}")
            for table in TABLES:
                side.active(table.name)

    def items(self, side, table):
        return side.call("Scan", {"TableName": table.name, "ConsistentRead": True})[1].get("Items", [])

    def restore(self, table, items):
        """Gives a table the same items on both sides. Returns False if one of them refuses."""
        for side in self.sides:
            for item in self.items(side, table):
                side.call("DeleteItem", {"TableName": table.name, "Key": {name: item[name] for name in table.key_names()}})
            for item in items:
                if side.call("PutItem", {"TableName": table.name, "Item": item})[0] != 200:
                    return False
        return True

    def reset(self, tables=TABLES):
        for table in tables:
            if not self.restore(table, setup_items(table)):
                raise RuntimeError(f"the items of {table.name} are refused")
            self.state[table.name] = self.items(self.sides[0], table)

    # One request.

    def ask(self, side, operation, request):
        """The answer, with all pages of a read: their order and sizes may differ, the items may not."""
        status, document = side.call(operation, request)
        if status != 200 or operation not in CURSORS or not isinstance(document, dict):
            return Answer(operation, request, status, document)
        cursor, start = CURSORS[operation]
        paged = cursor in document
        limited = "Limit" in request and (operation != "Query" or "IndexName" in request)
        pages = 0
        following = document.get(cursor)
        while following is not None and pages < PAGES_MAX:
            pages += 1
            status, page = side.call(operation, {**request, start: following})
            if status != 200:
                return Answer(operation, request, status, page)
            for name in ("Items", "Count", "ScannedCount"):
                if name in page:
                    document[name] += page[name]
            following = page.get(cursor)
        if paged or limited:
            document.pop("ConsumedCapacity", None)
        if "IndexName" in request or operation != "Query":
            document.pop(cursor, None)
            document.pop("LastEvaluatedKey", None)
        return Answer(operation, request, 200, self.in_order(request, document) if operation == "Query" else document)

    def in_order(self, request, document):
        """Items that are equal in an index's key have no order: sorts them, and keeps the order of the keys."""
        table = next((table for table in TABLES if table.name == request.get("TableName")), None)
        if table and request.get("IndexName") in table.indexes and isinstance(document.get("Items"), list):
            sort = table.indexes[request["IndexName"]][1]
            document["Order"] = [[item.get(name) for name in sort] for item in document["Items"]]
            document["Items"] = ordered(normal(document["Items"]))
        return document

    def settle(self, operation, request):
        if operation in ("CreateTable", "UpdateTable", "DeleteTable"):
            for side in self.sides:
                side.active(str(request.get("TableName")))

    def touched(self, operation, request):
        text = json.dumps(request)
        return [] if operation in READS else [table for table in TABLES if table.name in text]

    def both(self, operation, request):
        """All differences of a request, as pairs of texts. Also those between the items afterwards."""
        answers = [self.ask(side, operation, request) for side in self.sides]
        self.settle(operation, request)
        found = list(differences(*answers))
        diverged = (answers[0].error is None) != (answers[1].error is None)
        for table in self.touched(operation, request):
            left, right = (ordered(normal(self.items(side, table))) for side in self.sides)
            if left == right:
                self.state[table.name] = left
                continue
            if not diverged:
                wrong = [[item for item in mine if item not in others] for mine, others in ((left, right), (right, left))]
                found.append(tuple(f"ok items of {table.name} = {json.dumps(items)}" for items in wrong))
            if not self.restore(table, left):
                self.reset([table])
            self.state[table.name] = self.items(self.sides[0], table)
        return answers, found

    def judge(self, operation, request, pair):
        """True if the list explains the difference."""
        ours, theirs = pair
        return entry_for(self.entries, json.dumps(request, sort_keys=True), peer=self.sides[1].name, operation=operation,
                         ours=ours, theirs=theirs) is not None

    def request(self, number, operation, request, before=()):
        """Sends a request to both. Returns False if they differ in success: then their tables may differ."""
        snapshot = {name: list(items) for name, items in self.state.items()}
        if self.options.verbose:
            print(f"{operation} {json.dumps(request)}")
        answers, found = self.both(operation, request)
        self.requests += 1
        self.refused += answers[0].error is not None
        for pair in found:
            if self.judge(operation, request, pair):
                self.known += 1
                continue
            key = (operation, *map(signature, pair))
            if key in self.new:
                self.new[key].count += 1
                continue
            if key not in self.orders:
                self.orders[key] = self.is_order(operation, request, pair)
            if self.orders[key]:
                self.reordered += 1
                if self.options.orders:
                    print(f"ORDER {operation} {json.dumps(request)}\n  ours:   {pair[0]}\n  theirs: {pair[1]}")
                continue
            smaller = self.reduced(operation, request, key, snapshot) if not before else (request, pair)
            self.new[key] = New(number, operation, smaller[0], *smaller[1], before)
            self.print_new(self.new[key])
        return (answers[0].error is None) == (answers[1].error is None)

    def is_order(self, operation, request, pair):
        """True if the request has at least two faults and ours reports another one first: without some member of the
        request, both report the fault that theirs reports."""
        kinds = [text.partition(":")[0] for text in pair]
        if not all(kind in CHECKED for kind in kinds):
            return False
        wanted = signature(pair[1])
        for less in itertools.islice(smaller(request), REDUCTIONS_MAX):
            answers = self.both(operation, less)[0]
            if all(answer.error and signature(answer.error) == wanted for answer in answers):
                return True
        return False

    def reduced(self, operation, request, key, snapshot):
        """The request without the members that the difference does not need, and the pair of texts that it then gives."""
        kept, pair = request, None
        current = {name: list(items) for name, items in self.state.items()}
        candidates = iter([request])
        deadline = time.monotonic() + REDUCTION_S
        for _ in range(REDUCTIONS_MAX):
            less = next(candidates, None)
            if less is None or time.monotonic() > deadline:
                break
            for table in self.touched(operation, request):
                self.restore(table, snapshot[table.name])
            same = [found for found in self.both(operation, less)[1] if (operation, *map(signature, found)) == key]
            if same:
                kept, pair = less, same[0]
                candidates = smaller(kept)
            elif less is request:
                break  # it depends on more than the items
        for table in self.touched(operation, request):
            if not self.restore(table, current[table.name]):
                self.reset([table])
        return kept, pair or (key[1] + " (not repeated)", key[2])

    # Sequences.

    def sequence(self, number, rng):
        kind = rng.choice(KINDS)
        mutations = Mutations(rng)
        faulty = rng.choice((0.0, 0.3, 0.7))
        if self.sides[1].name in VALID_ONLY:
            kind, faulty = "items", 0
        if kind == "tables":
            self.tables_sequence(number, TableRequests(rng), mutations, faulty)
            return
        self.reset()
        source = ItemRequests(rng, ODD if faulty else 0) if kind == "items" else Statements(rng, ODD)
        for _ in range(REQUESTS):
            operation, request = source.any()
            if rng.random() < faulty:
                request = mutations.mutate(request)
            self.request(number, operation, request)

    def tables_sequence(self, number, source, mutations, faulty):
        before = []
        for _ in range(REQUESTS):
            operation, request = source.any()
            if source.rng.random() < faulty:
                request = mutations.mutate(request)
            if not self.request(number, operation, request, [*before, "(end)"]):
                break
            if operation in ("CreateTable", "UpdateTable", "DeleteTable", "UpdateTimeToLive", "TagResource", "UntagResource"):
                before.append(f"{operation} {json.dumps(request)}")
        for side in self.sides:
            for table in side.call("ListTables", {})[1].get("TableNames", ()):
                if table not in {known.name for known in TABLES}:
                    side.call("DeleteTable", {"TableName": table})
                    side.active(table)
            for table in TABLES:
                arn = side.arns[table.name]
                tags = side.call("ListTagsOfResource", {"ResourceArn": arn})[1].get("Tags") or ()
                if tags:
                    side.call("UntagResource", {"ResourceArn": arn, "TagKeys": [tag["Key"] for tag in tags]})

    # Report.

    def print_new(self, new):
        print(f"NEW {self.sides[1].name}, sequence {new.number}: {new.operation} {json.dumps(new.request)}\n"
              f"  ours:   {new.ours}\n  theirs: {new.theirs}")
        for line in new.before[-6:-1]:
            print(f"  after:  {line}")
        sys.stdout.flush()

    def report(self):
        for new in sorted(self.new.values(), key=lambda new: -new.count):
            print(f"{new.count:6d}  {new.operation}: {new.ours[:150]} | {new.theirs[:150]}")


