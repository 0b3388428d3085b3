"""Clients that work on the same rows over all daemons, and a check that each row's history is linearizable.

Several clients share a row, so that their operations overlap: some go to the daemon that answered last, and one stays with each
daemon. After a number of operations they go on with a new row, which keeps the search for an order short. Nothing is
repeated: an answer that does not come is an operation of unknown outcome.
"""

import collections
import http.client
import itertools
import pathlib
import random
import sys
import threading
import time

from json_client import REPEATED, Client, NotSent, Refused

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from linearizability import ABSENT, UNSEEN, Answer, Kind, Operation, Outcome, check  # pylint: disable=wrong-import-position

TABLE = "shared"
GROUPS = 2  # rows at a time
ROAMING = 2  # clients of a row, beside those that stay with a daemon
ROW_OPERATIONS = 150
# Each doubles the orders of the others, at worst.
ROW_UNKNOWN = 6
UNDECIDED_PART_MAX = 0.05  # of all rows
# Parts of the operations; those that stay with a daemon mostly read, since a write to one that is cut off takes long.
ROAMING_KINDS = {Kind.READ: 35, Kind.PUT: 15, Kind.SWAP: 25, Kind.ADD: 20, Kind.DELETE: 5}
STAYING_KINDS = {Kind.READ: 85, Kind.PUT: 4, Kind.SWAP: 6, Kind.ADD: 4, Kind.DELETE: 1}


class Row:
    def __init__(self, name):
        self.name, self.history, self.unknown = name, [], 0

    @property
    def is_full(self):
        return len(self.history) >= ROW_OPERATIONS or self.unknown >= ROW_UNKNOWN


def number_of(item):
    return int(item["v"]["N"]) if item else ABSENT


def request_of(kind, name, value, expected, wants_before):
    """The operation of the API and its body."""
    key, number = {"k": {"S": name}}, {"N": str(value)}
    body = {"TableName": TABLE}
    if kind is Kind.READ:
        return "GetItem", body | {"Key": key, "ConsistentRead": True}
    if kind is Kind.ADD:
        change = {"UpdateExpression": "ADD v :d", "ExpressionAttributeValues": {":d": number}, "ReturnValues": "UPDATED_NEW"}
        return "UpdateItem", body | {"Key": key} | change
    if wants_before:
        body["ReturnValues"] = "ALL_OLD"
    if kind is Kind.DELETE:
        return "DeleteItem", body | {"Key": key}
    body["Item"] = key | {"v": number}
    if kind is Kind.SWAP:
        if expected is ABSENT:
            body["ConditionExpression"] = "attribute_not_exists(k)"
        else:
            body |= {"ConditionExpression": "v = :e", "ExpressionAttributeValues": {":e": {"N": str(expected)}}}
        if wants_before:
            body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return "PutItem", body


def observation(kind, wants_before, answer):
    """The observations of an operation that was done."""
    if kind is Kind.READ:
        return {"before": number_of(answer.get("Item"))}
    if kind is Kind.ADD:
        return {"after": number_of(answer["Attributes"])}
    return {"before": number_of(answer.get("Attributes"))} if wants_before else {}


def state_after(operation, known):
    """The state that its client knows after an answered operation, `known` before it."""
    if operation.is_read:
        return known if operation.before is UNSEEN else operation.before
    if operation.kind is Kind.ADD:
        return operation.after
    return ABSENT if operation.kind is Kind.DELETE else operation.value


def places_of(group, turns):
    """The group, the daemon that the client stays with or None, and the client's name."""
    for number, turn in enumerate(turns):
        yield group, turn, f"client {number}"


class SharedRows:
    """Threads call the functions of `work` until `stop` is set. Then `check` judges all rows."""

    def __init__(self, cluster, stop):
        self.cluster, self.stop, self.numbers, self.mutex = cluster, stop, itertools.count(1), threading.Lock()
        self.rows, self.current = [], []
        self.outcomes = collections.Counter()
        self.answered_by = [0] * len(cluster.daemons)  # to the clients that stay with it
        self.answers, self.steps = collections.Counter(), 0
        for group in range(GROUPS):
            self.current.append(None)
            self.begin_row(group)

    def begin_row(self, group):
        self.current[group] = Row(f"row{len(self.rows)}")
        self.rows.append(self.current[group])

    def work(self):
        """The function and its argument for each client."""
        turns = [None] * ROAMING + list(range(len(self.cluster.daemons)))
        return [(self.run_client, place) for group in range(GROUPS) for place in places_of(group, turns)]

    def run_client(self, place):
        group, turn, name = place
        client, known, known_row = Client(self.cluster, turn), ABSENT, None
        while not self.stop.is_set():
            row = self.current[group]
            operation = self.perform(client, name, row, known if row is known_row else ABSENT)
            if operation is None:
                client.move()
                self.stop.wait(0.02)
            else:
                known, known_row = state_after(operation, known), row
                if turn is not None:
                    self.answered_by[turn] += 1
                elif random.random() < 0.1:  # any daemon may be asked next, also one that was paused
                    client.move()
            with self.mutex:
                if row.is_full and row is self.current[group]:
                    self.begin_row(group)

    def perform(self, client, name, row, known):
        """One operation, written into the row's history. Returns it, or None if there is no answer."""
        kinds = STAYING_KINDS if client.stays else ROAMING_KINDS
        (kind,) = random.choices(list(kinds), list(kinds.values()))
        # So far apart that no sum is the value of another put.
        value = 1 if kind is Kind.ADD else 10 * ROW_OPERATIONS * next(self.numbers)
        wants_before = random.random() < 0.5
        operation, body = request_of(kind, row.name, value, known, wants_before)
        begun, outcome, seen = time.monotonic_ns(), Outcome.DONE, {}
        try:
            seen = observation(kind, wants_before, client.attempt(operation, body))
        except Refused as refused:
            if refused.name == "ConditionalCheckFailedException":
                outcome, seen = Outcome.REFUSED, {"before": number_of(refused.answer.get("Item"))} if wants_before else {}
            elif refused.name not in REPEATED:
                raise
            else:
                outcome = None if refused.certainly_not_done else Outcome.UNKNOWN
        except NotSent:
            outcome = None
        except (OSError, http.client.HTTPException, ValueError):
            outcome = Outcome.UNKNOWN
        ended = time.monotonic_ns()
        if outcome is None or (outcome is Outcome.UNKNOWN and kind is Kind.READ):
            with self.mutex:
                self.outcomes["without effect"] += 1
            return None
        done = Operation(kind, begun, ended, value, known, outcome, client=f"{name} at {client.turn}", **seen)
        with self.mutex:
            row.history.append(done)
            row.unknown += done.is_unknown
            self.outcomes[outcome.value] += 1
        return None if done.is_unknown else done

    def read_at_end(self, client, deadline):
        """Reads each row once more: none may have lost a write in a takeover after its last operation."""
        for row in self.rows:
            _, body = request_of(Kind.READ, row.name, 0, ABSENT, False)
            begun = time.monotonic_ns()
            answer = client.call("GetItem", body, deadline)
            row.history.append(
                Operation(Kind.READ, begun, time.monotonic_ns(), before=number_of(answer.get("Item")), client="at the end")
            )

    def check(self):
        """Faults of the histories: rows that are not linearizable. Undecided ones are counted, and a fault if they are many."""
        faults = []
        for row in self.rows:
            verdict = check(row.history)
            self.answers[verdict.answer] += 1
            self.steps += verdict.steps
            if verdict.answer is Answer.VIOLATED:
                faults.append(f"{row.name} is not linearizable (milliseconds before the last answer):\n{verdict.show()}")
        if self.answers[Answer.UNDECIDED] > len(self.rows) * UNDECIDED_PART_MAX or not self.outcomes[Outcome.DONE.value]:
            faults.append(f"too little was decided: {self.summary()}")
        return faults

    def summary(self):
        outcomes = self.outcomes
        counted = {"done": Outcome.DONE.value, "conditions that did not hold": Outcome.REFUSED.value, "unknown": Outcome.UNKNOWN.value}
        total = sum(outcomes[name] for name in counted.values())
        parts = ", ".join(f"{outcomes[name]} {text}" for text, name in counted.items())
        return (
            f"shared rows: {total} operations ({parts}) on {len(self.rows)} rows, {outcomes['without effect']} without effect; "
            f"linearizable {self.answers[Answer.LINEARIZABLE]}, violations {self.answers[Answer.VIOLATED]}, "
            f"undecided {self.answers[Answer.UNDECIDED]}"
        )
