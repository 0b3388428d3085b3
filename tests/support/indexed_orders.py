"""A table with an index of each kind, and its items, for tests in Python of what a whole database has."""

TABLE = {
    "TableName": "Orders",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "customer", "AttributeType": "S"},
        {"AttributeName": "number", "AttributeType": "N"},
        {"AttributeName": "state", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "customer", "KeyType": "HASH"},
        {"AttributeName": "number", "KeyType": "RANGE"},
    ],
    "LocalSecondaryIndexes": [{
        "IndexName": "by_state_here",
        "KeySchema": [
            {"AttributeName": "customer", "KeyType": "HASH"},
            {"AttributeName": "state", "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }],
    "GlobalSecondaryIndexes": [{
        "IndexName": "by_state",
        "KeySchema": [
            {"AttributeName": "state", "KeyType": "HASH"},
            {"AttributeName": "customer", "KeyType": "HASH"},
            {"AttributeName": "number", "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "ALL"},
    }],
}


def order(number, state="open", repeats=40):
    """An item whose size grows with `repeats`."""
    return {"customer": {"S": f"c{number % 7}"}, "number": {"N": str(number)}, "state": {"S": state},
            "text": {"S": f"{number}-" * repeats}}


def key_of(item):
    return item["customer"]["S"], int(item["number"]["N"])
