"""Writers: each owns keys of the two tables and changes them by all kinds of writes, one request after the other."""

import threading
import uuid

from history import DONE, REFUSED, UNKNOWN, WRONG, Step, Violation
from server import Lost, error_name

MAIN, OTHER = "Main", "Other"
PARTITIONS = 3
KEYS = 16  # of each writer in each table
COUNTERS = [(MAIN, ("counter", number)) for number in range(2)]

_ALL = {"ProjectionType": "ALL"}


def _attribute(name, kind):
    return {"AttributeName": name, "AttributeType": kind}


def _keys(hash_name, range_name=None):
    schema = [{"AttributeName": hash_name, "KeyType": "HASH"}]
    return schema + ([{"AttributeName": range_name, "KeyType": "RANGE"}] if range_name else [])


TABLES = {
    MAIN: {
        "AttributeDefinitions": [_attribute("pk", "S"), _attribute("sk", "N"), _attribute("l", "S"), _attribute("g", "S"),
                                 _attribute("n", "N")],
        "KeySchema": _keys("pk", "sk"),
        "LocalSecondaryIndexes": [{"IndexName": "local", "KeySchema": _keys("pk", "l"), "Projection": _ALL}],
        "GlobalSecondaryIndexes": [{"IndexName": "global", "KeySchema": _keys("g", "n"), "Projection": _ALL}],
    },
    OTHER: {
        "AttributeDefinitions": [_attribute("id", "S"), _attribute("g", "S")],
        "KeySchema": _keys("id"),
        "GlobalSecondaryIndexes": [{"IndexName": "global", "KeySchema": _keys("g"), "Projection": _ALL}],
    },
}
# Index -> attributes that an item needs to be in it.
INDEXES = {MAIN: {"local": ("l",), "global": ("g", "n")}, OTHER: {"global": ("g",)}}


def key_document(key):
    table, name = key
    return {"pk": {"S": name[0]}, "sk": {"N": str(name[1])}} if table == MAIN else {"id": {"S": name}}


def key_of(table, item):
    """The key of an item; tables other than MAIN have the key `id`."""
    return table, (item["pk"]["S"], int(item["sk"]["N"])) if table == MAIN else item["id"]["S"]


# Errors that say that nothing was done.
_REFUSALS = {"ConditionalCheckFailedException", "TransactionCanceledException", "TransactionConflictException",
             "ThrottlingException", "ProvisionedThroughputExceededException", "LimitExceededException"}


def outcome_of(status, document):
    if status == 200:
        return DONE
    return REFUSED if error_name(document) in _REFUSALS else UNKNOWN


class Writer(threading.Thread):
    """Writes until `stop` is set or the connection breaks.

    violations: list that gets answers that contradict the history. refusals: counts answers that refuse writes for a failed
    or full disk.
    """

    def __init__(self, history, number, rng, connection, stop):
        super().__init__(daemon=True)
        self.history = history
        self.mine = history.writer(f"writer {number}")
        self.number = number
        self.rng = rng
        self.connection = connection
        self.stop = stop
        self.violations = []
        self.disk_refusals = 0
        self.keys = [(MAIN, (f"p{i % PARTITIONS}", number * 1000 + i)) for i in range(KEYS)]
        self.keys += [(OTHER, f"w{number}-{i}") for i in range(KEYS)]
        self.actions = ((self.put, 6), (self.update, 5), (self.delete, 3), (self.put_if, 4), (self.batch, 2),
                        (self.transact, 3), (self.count, 1), (self.get, 2))

    def run(self):
        actions, weights = zip(*self.actions)
        try:
            while not self.stop.is_set():
                self.rng.choices(actions, weights)[0]()
        except Lost:
            pass
        finally:
            self.connection.close()

    def item(self, key):
        """A new item that nobody has written before."""
        rng, stamp = self.rng, self.history.stamp()
        item = {**key_document(key), "n": {"N": str(stamp)}, "by": {"S": self.mine.name}}
        if rng.random() < 0.8:
            item["g"] = {"S": f"g{rng.randrange(5)}"}
        if rng.random() < 0.8:
            item["l"] = {"S": f"l{rng.randrange(5)}"}
        size = 20_000 if rng.random() < 0.01 else rng.randrange(500)
        item["text"] = {"S": chr(97 + stamp % 26) * size}
        return item

    def call(self, operation, members, step):
        """Sends the request of a step. Returns its outcome and the document."""
        status, document = self.connection.call(operation, members)
        outcome = outcome_of(status, document)
        step.answer(outcome)
        if outcome == UNKNOWN:
            if "disk" in document.get("message", document.get("Message", "")):
                self.disk_refusals += 1
            elif status < 500:
                self.violations.append(Violation(WRONG, f"{operation} was answered {status} {document}"))
            self.stop.wait(0.005)  # does not flood a daemon that refuses
        return outcome, document

    def certain(self, key):
        """(True, the item of the key), or (False, None) if it is uncertain."""
        found = self.mine.candidates(key)
        return (True, found[0]) if len(found) == 1 else (False, None)

    def put(self):
        key = self.rng.choice(self.keys)
        item = self.item(key)
        self.call("PutItem", {"TableName": key[0], "Item": item}, self.mine.add(Step({key: item})))

    def delete(self):
        key = self.rng.choice(self.keys)
        self.call("DeleteItem", {"TableName": key[0], "Key": key_document(key)}, self.mine.add(Step({key: None})))

    def updated(self, key, old):
        """An update of a certain item: the request's members and the new item."""
        stamp, group = self.history.stamp(), f"g{self.rng.randrange(5)}"
        item = {**(old or key_document(key)), "n": {"N": str(stamp)}, "g": {"S": group}, "up": {"BOOL": True}}
        item.pop("l", None)
        return {"TableName": key[0], "Key": key_document(key), "UpdateExpression": "SET n = :n, g = :g, up = :u REMOVE l",
                "ExpressionAttributeValues": {":n": item["n"], ":g": item["g"], ":u": item["up"]}}, item

    def update(self):
        key = self.rng.choice(self.keys)
        is_certain, old = self.certain(key)
        if not is_certain:
            return
        members, item = self.updated(key, old)
        self.call("UpdateItem", members, self.mine.add(Step({key: item})))

    def put_if(self):
        """A put on a condition that the history decides."""
        key = self.rng.choice(self.keys)
        is_certain, old = self.certain(key)
        if not is_certain:
            return
        holds = self.rng.random() < 0.7
        members = {"TableName": key[0], "Item": self.item(key)}
        if old is None:
            name = "pk" if key[0] == MAIN else "id"
            members["ConditionExpression"] = f"attribute_not_exists({name})" if holds else f"attribute_exists({name})"
        else:
            members["ConditionExpression"] = "n = :old" if holds else "n < :old"
            members["ExpressionAttributeValues"] = {":old": old["n"]}
        outcome, document = self.call("PutItem", members, self.mine.add(Step({key: members["Item"]})))
        failed = error_name(document) == "ConditionalCheckFailedException"
        if (outcome == DONE and not holds) or (failed and holds):
            self.violations.append(Violation(WRONG, f"{self.mine.name}: condition on {key} was decided wrongly: {document}"))

    def batch(self):
        keys = self.rng.sample(self.keys, self.rng.randrange(2, 7))
        writes = {key: self.item(key) if self.rng.random() < 0.8 else None for key in keys}
        requests = {}
        for key, item in writes.items():
            request = {"PutRequest": {"Item": item}} if item else {"DeleteRequest": {"Key": key_document(key)}}
            requests.setdefault(key[0], []).append(request)
        step = self.mine.add(Step(writes, atomic=False))
        outcome, document = self.call("BatchWriteItem", {"RequestItems": requests}, step)
        for table, left in document.get("UnprocessedItems", {}).items() if outcome == DONE else ():
            for request in left:
                given = request["PutRequest"]["Item"] if "PutRequest" in request else request["DeleteRequest"]["Key"]
                step.writes.pop(key_of(table, given))

    def transact(self):
        keys = self.rng.sample(self.keys, self.rng.randrange(2, 5))
        writes, actions = {}, []
        for key in keys:
            is_certain, old = self.certain(key)
            kind = self.rng.randrange(3)
            if kind == 0 and is_certain:
                members, writes[key] = self.updated(key, old)
                actions.append({"Update": members})
            elif kind == 1:
                writes[key] = None
                actions.append({"Delete": {"TableName": key[0], "Key": key_document(key)}})
            else:
                writes[key] = self.item(key)
                actions.append({"Put": {"TableName": key[0], "Item": writes[key]}})
        self.send_transaction(writes, actions, ())

    def count(self):
        """Increments a counter that all writers share, together with a put."""
        key, counter = self.rng.choice(self.keys), self.rng.choice(COUNTERS)
        item = self.item(key)
        increment = {"TableName": counter[0], "Key": key_document(counter), "UpdateExpression": "ADD c :one",
                     "ExpressionAttributeValues": {":one": {"N": "1"}}}
        actions = [{"Put": {"TableName": key[0], "Item": item}}, {"Update": increment}]
        self.send_transaction({key: item}, actions, (counter,))

    def send_transaction(self, writes, actions, counters):
        members = {"TransactItems": actions}
        if self.rng.random() < 0.5:
            members["ClientRequestToken"] = str(uuid.UUID(int=self.rng.getrandbits(128)))
        self.call("TransactWriteItems", members, self.mine.add(Step(writes, counters=counters)))

    def get(self):
        key = self.rng.choice(self.keys)
        status, document = self.connection.call(
            "GetItem", {"TableName": key[0], "Key": key_document(key), "ConsistentRead": True})
        if status == 200 and document.get("Item") not in self.mine.candidates(key):
            self.violations.append(Violation(WRONG, f"{self.mine.name}: {key} was read as {document.get('Item')}, expected "
                                                    f"one of {self.mine.candidates(key)}"))
