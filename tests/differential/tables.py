"""The tables that random requests name, and the items in them."""

HASH_VALUES = ({"S": "x"}, {"S": "y"}, {"S": "z"})
SORT_NUMBERS = ({"N": "1"}, {"N": "2"}, {"N": "10"})
SORT_STRINGS = ({"S": "a"}, {"S": "ab"}, {"S": "b"})


class Table:
    """A table: its CreateTable request, and the attributes that make up its key and its indexes' keys.

    key: (attribute, values) of partition and, if there is one, sort key.
    indexes: name -> ([partition attributes], [sort attributes], is global, projection).
    """

    def __init__(self, name, definitions, key, indexes=None):
        self.name = name
        self.definitions = definitions
        self.key = key
        self.indexes = indexes or {}

    def create_request(self):
        request = {
            "TableName": self.name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in self.definitions.items()],
            "KeySchema": key_schema([self.key[0][0]], [name for name, _ in self.key[1:]]),
        }
        for name, (partition, sort, is_global, projection) in self.indexes.items():
            index = {"IndexName": name, "KeySchema": key_schema(partition, sort), "Projection": {"ProjectionType": projection}}
            if projection == "INCLUDE":
                index["Projection"]["NonKeyAttributes"] = ["n", "c"]
            request.setdefault("GlobalSecondaryIndexes" if is_global else "LocalSecondaryIndexes", []).append(index)
        return request

    def key_names(self):
        return [name for name, _ in self.key]


def key_schema(partition, sort):
    return [*({"AttributeName": name, "KeyType": "HASH"} for name in partition),
            *({"AttributeName": name, "KeyType": "RANGE"} for name in sort)]


PLAIN = Table("Plain", {"h": "S"}, [("h", HASH_VALUES)])
RANGED = Table("Ranged", {"h": "S", "r": "N"}, [("h", HASH_VALUES), ("r", SORT_NUMBERS)])
INDEXED = Table(
    "Indexed", {"h": "S", "r": "S", "l": "N", "g": "S", "k": "N"}, [("h", HASH_VALUES), ("r", SORT_STRINGS)],
    {
        "Local": (["h"], ["l"], False, "KEYS_ONLY"),
        "LocalAll": (["h"], ["g"], False, "ALL"),
        "Global": (["g"], ["k"], True, "ALL"),
        "Few": (["g"], [], True, "KEYS_ONLY"),
        "Some": (["l"], ["r"], True, "INCLUDE"),
        "Several": (["g", "l"], ["k", "r"], True, "ALL"),
    })
TABLES = (PLAIN, RANGED, INDEXED)
# Attributes of items that may be keys of an index, with values of the right type.
INDEX_ATTRIBUTES = {
    "l": ({"N": "1"}, {"N": "2"}, {"N": "3"}),
    "g": ({"S": "p"}, {"S": "q"}),
    "k": ({"N": "0"}, {"N": "-1"}, {"N": "7.5"}),
}


def setup_items(table):
    """Items that each table holds before a sequence of requests."""
    items = []
    for number, value in enumerate(table.key[0][1][:2]):
        for second, sort in enumerate(table.key[1][1] if len(table.key) > 1 else (None,)):
            item = {"h": value, "n": {"N": str(number + second)}, "c": {"S": "text" * (second + 1)}}
            if sort:
                item["r"] = sort
            if (number + second) % 2:
                item["m"] = {"M": {"a": {"N": "1"}, "b": {"L": [{"S": "u"}, {"N": "2"}]}}}
                item["e"] = {"SS": ["a", "b"]}
                item["f"] = {"NS": ["1", "2"]}
            else:
                item["d"] = {"L": [{"N": "1"}, {"S": "two"}, {"M": {"a": {"BOOL": True}}}]}
                item["b"] = {"B": "AAEC"}
                item["u"] = {"S": "padding " * 300}
            if table is INDEXED:
                item["g"] = INDEX_ATTRIBUTES["g"][number]
                item["l"] = INDEX_ATTRIBUTES["l"][second]
                if second != 1:
                    item["k"] = INDEX_ATTRIBUTES["k"][second]
            items.append(item)
    return items
