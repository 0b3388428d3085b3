"""Random requests on items, most of them valid."""

from expressions import ATTRIBUTES, Expressions, scalar, value
from tables import INDEX_ATTRIBUTES, TABLES

OPERATORS_OF_ONE = ("EQ", "NE", "LE", "LT", "GE", "GT", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH")


class ItemRequests:
    def __init__(self, rng, odd=0.01):
        self.rng = rng
        self.odd = odd

    def table(self):
        return self.rng.choice((*TABLES, TABLES[-1]))

    def key(self, table):
        return {name: self.rng.choice(values) for name, values in table.key}

    def item(self, table):
        rng = self.rng
        item = self.key(table)
        for name in rng.sample(ATTRIBUTES, rng.randint(0, 4)):
            item[name] = value(rng)
        for name, values in INDEX_ATTRIBUTES.items():
            if rng.random() < 0.5:
                item[name] = rng.choice(values) if rng.random() > 2 * self.odd else value(rng)
        if rng.random() < 0.05:
            item["u"] = {"S": "w" * rng.choice((900, 1024, 4000, 9000))}
        return item

    def with_options(self, request, **choices):
        """Adds each of the members now and then."""
        rng = self.rng
        for name, values in choices.items():
            if rng.random() < 0.4:
                request[name] = rng.choice(values)
        if rng.random() < 0.5:
            request["ReturnConsumedCapacity"] = rng.choice(("TOTAL", "INDEXES", "INDEXES", "NONE"))
        return request

    # Legacy parameters.

    def legacy_condition(self):
        rng = self.rng
        draw = rng.random()
        if draw < 0.2:
            return {"Value": value(rng, 1)}
        if draw < 0.3:
            return {"Exists": rng.random() < 0.3, **({"Value": value(rng, 1)} if rng.random() < 0.3 else {})}
        condition = self.filter_condition()
        if rng.random() < 2 * self.odd:
            condition.update(rng.choice(({"Exists": True}, {"Value": scalar(rng)}, {"AttributeValueList": []})))
        return condition

    def filter_condition(self):
        rng = self.rng
        kind = rng.choice(("S", "N", "B")) if rng.random() < 0.9 else None
        draw = rng.random()
        if draw < 0.65:
            operator, count = rng.choice(OPERATORS_OF_ONE), 1
        elif draw < 0.75:
            operator, count = "BETWEEN", 2
        elif draw < 0.85:
            operator, count = "IN", rng.randint(1, 3)
        else:
            operator, count = rng.choice(("NULL", "NOT_NULL")), 0
        if rng.random() < self.odd:
            count += 1
        condition = {"ComparisonOperator": operator}
        if count:
            condition["AttributeValueList"] = [value(rng, 1, kind) for _ in range(count)]
        return condition

    def legacy_conditions(self, table, make):
        rng = self.rng
        names = rng.sample([*ATTRIBUTES, *table.key_names(), "g"], rng.choice((1, 1, 2)))
        return {name: make() for name in names}

    def add_conditional_operator(self, request, names):
        if self.rng.random() < (0.4 if any(name in request for name in names) else 0.01):
            request["ConditionalOperator"] = self.rng.choice(("AND", "OR"))

    def attribute_updates(self):
        rng = self.rng
        updates = {}
        for name in rng.sample([*ATTRIBUTES, "l", "g"], rng.choice((0, 1, 1, 2))):
            action = rng.choice(("PUT", "ADD", "DELETE", None))
            kinds = {"ADD": ("N", "SS", "NS", "L"), "DELETE": ("SS", "NS")}.get(action, (None,))
            if name in INDEX_ATTRIBUTES and action != "DELETE":
                given = rng.choice(INDEX_ATTRIBUTES[name])
            else:
                given = value(rng, 1, rng.choice(kinds) if rng.random() > 3 * self.odd else None)
            update = {"Value": given} if action != "DELETE" or rng.random() < 0.5 else {}
            if action:
                update["Action"] = action
            updates[name] = update
        return updates

    # Operations on one item.

    def put(self):
        table = self.table()
        request = {"TableName": table.name, "Item": self.item(table)}
        self.add_condition(table, request)
        return "PutItem", self.with_options(
            request, ReturnValues=("ALL_OLD", "NONE"), ReturnItemCollectionMetrics=("SIZE", "NONE"))

    def add_condition(self, table, request, always=False):
        """A condition in one of the two styles. Returns the style."""
        rng = self.rng
        draw = rng.random()
        if always or draw < 0.5:
            expressions = Expressions(rng, table, self.odd)
            request["ConditionExpression"] = expressions.condition()
            if rng.random() < 0.5:
                request["ReturnValuesOnConditionCheckFailure"] = rng.choice(("ALL_OLD", "NONE"))
            return expressions.add_to(request)
        if draw < 0.65:
            request["Expected"] = self.legacy_conditions(table, self.legacy_condition)
            self.add_conditional_operator(request, ("Expected",))
        return request

    def get(self):
        rng = self.rng
        table = self.table()
        request = {"TableName": table.name, "Key": self.key(table)}
        self.add_projection(table, request)
        return "GetItem", self.with_options(request, ConsistentRead=(True, False))

    def add_projection(self, table, request):
        rng = self.rng
        draw = rng.random()
        if draw < 0.4:
            expressions = Expressions(rng, table, self.odd)
            request["ProjectionExpression"] = expressions.projection()
            expressions.add_to(request)
        elif draw < 0.55:
            request["AttributesToGet"] = rng.sample([*ATTRIBUTES, *table.key_names(), "m.a", "g"], rng.randint(1, 3))

    def delete(self):
        table = self.table()
        request = {"TableName": table.name, "Key": self.key(table)}
        self.add_condition(table, request)
        return "DeleteItem", self.with_options(
            request, ReturnValues=("ALL_OLD", "NONE"), ReturnItemCollectionMetrics=("SIZE", "NONE"))

    def update(self):
        rng = self.rng
        table = self.table()
        request = {"TableName": table.name, "Key": self.key(table)}
        draw = rng.random()
        if draw < 0.8:
            expressions = Expressions(rng, table, self.odd)
            request["UpdateExpression"] = expressions.update()
            if rng.random() < 0.3:
                request["ConditionExpression"] = expressions.condition()
                if rng.random() < 0.5:
                    request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
            expressions.add_to(request)
        elif draw < 0.97:
            request["AttributeUpdates"] = self.attribute_updates()
            if rng.random() < 0.3:
                request["Expected"] = self.legacy_conditions(table, self.legacy_condition)
            self.add_conditional_operator(request, ("Expected",))
        return "UpdateItem", self.with_options(
            request, ReturnValues=("ALL_OLD", "NONE", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW", "UPDATED_NEW"),
            ReturnItemCollectionMetrics=("SIZE", "NONE"))

    # Operations on many items.

    def index(self, table):
        """Name of an index or None, its partition and its sort attributes."""
        rng = self.rng
        if table.indexes and rng.random() < 0.7:
            name = rng.choice(list(table.indexes))
            return name, *table.indexes[name][:2]
        names = table.key_names()
        return None, names[:1], names[1:]

    def add_read_options(self, table, request, expressions, filter_name):
        """Filter, projection and selection, in the style of `expressions` or, if it is None, in the legacy style."""
        rng = self.rng
        if expressions:
            if rng.random() < 0.4:
                request["FilterExpression"] = expressions.condition()
            if rng.random() < 0.3:
                request["ProjectionExpression"] = expressions.projection()
        else:
            if rng.random() < 0.4:
                request[filter_name] = self.legacy_conditions(table, self.filter_condition)
            if rng.random() < 0.3:
                request["AttributesToGet"] = rng.sample([*ATTRIBUTES, "h", "g"], rng.randint(1, 3))
            self.add_conditional_operator(request, (filter_name,))
        projected = "ProjectionExpression" in request or "AttributesToGet" in request
        choices = ("SPECIFIC_ATTRIBUTES",) if projected and rng.random() > 4 * self.odd else (
            "ALL_ATTRIBUTES", "COUNT", "ALL_PROJECTED_ATTRIBUTES")
        if rng.random() < 0.3:
            request["Select"] = rng.choice(choices)
        if rng.random() < 0.3:
            request["Limit"] = rng.choice((1, 2, 3, 100))
        if rng.random() < 0.2:
            request["ConsistentRead"] = rng.random() < 0.5

    def query(self):
        rng = self.rng
        table = self.table()
        name, partition, sort = self.index(table)
        request = {"TableName": table.name, **({"IndexName": name} if name else {})}
        pool = {**dict(table.key), **INDEX_ATTRIBUTES}
        expressions = Expressions(rng, table, self.odd) if rng.random() < 0.8 else None
        if expressions:
            request["KeyConditionExpression"] = expressions.key_condition(partition, sort, pool)
        else:
            conditions = {name: {"ComparisonOperator": "EQ", "AttributeValueList": [rng.choice(pool[name])]} for name in partition}
            if sort and rng.random() < 0.5:
                operator = rng.choice(("EQ", "LE", "LT", "GE", "GT", "BETWEEN", *(("BEGINS_WITH",) if sort[0] == "r" else ())))
                values = sorted(rng.sample(pool[sort[0]], 2 if operator == "BETWEEN" else 1), key=str)
                conditions[sort[0]] = {"ComparisonOperator": operator, "AttributeValueList": values}
            request["KeyConditions"] = conditions
        self.add_read_options(table, request, expressions, "QueryFilter")
        if expressions:
            expressions.add_to(request)
        self.add_start_key(table, name, request)
        return "Query", self.with_options(request, ScanIndexForward=(True, False))

    def add_start_key(self, table, index, request):
        rng = self.rng
        if rng.random() > 0.07:
            return
        key = self.key(table)
        if index and rng.random() < 0.9:
            for name in (*table.indexes[index][0], *table.indexes[index][1]):
                if name in INDEX_ATTRIBUTES:
                    key[name] = rng.choice(INDEX_ATTRIBUTES[name])
        request["ExclusiveStartKey"] = key

    def scan(self):
        rng = self.rng
        table = self.table()
        name = self.index(table)[0]
        request = {"TableName": table.name, **({"IndexName": name} if name else {})}
        expressions = Expressions(rng, table, self.odd) if rng.random() < 0.8 else None
        self.add_read_options(table, request, expressions, "ScanFilter")
        if expressions:
            expressions.add_to(request)
        if rng.random() < 3 * self.odd:
            request["Segment"] = rng.randint(0, 3)
        if rng.random() < 3 * self.odd:
            request["TotalSegments"] = rng.randint(1, 3)
        return "Scan", self.with_options(request)

    def batch_get(self):
        rng = self.rng
        tables = {}
        for table in rng.sample(TABLES, rng.choice((1, 1, 2))):
            keys = [self.key(table) for _ in range(rng.randint(1, 3))]
            if rng.random() < 0.85:
                keys = [key for number, key in enumerate(keys) if key not in keys[:number]]
            tables[table.name] = {"Keys": keys}
            self.add_projection(table, tables[table.name])
            if rng.random() < 0.3:
                tables[table.name]["ConsistentRead"] = True
        return "BatchGetItem", self.with_options({"RequestItems": tables})

    def batch_write(self):
        rng = self.rng
        tables = {}
        for table in rng.sample(TABLES, rng.choice((1, 1, 2))):
            seen, writes = [], []
            for _ in range(rng.randint(1, 4)):
                item = self.item(table)
                key = {name: item[name] for name in table.key_names()}
                if key in seen and rng.random() < 0.95:
                    continue
                seen.append(key)
                writes.append({"PutRequest": {"Item": item}} if rng.random() < 0.7 else {"DeleteRequest": {"Key": key}})
            tables[table.name] = writes
        return "BatchWriteItem", self.with_options({"RequestItems": tables}, ReturnItemCollectionMetrics=("SIZE", "NONE"))

    def transact_write(self):
        rng = self.rng
        seen, actions = [], []
        for _ in range(rng.randint(1, 4)):
            table = self.table()
            item = self.item(table)
            key = {name: item[name] for name in table.key_names()}
            if (table.name, key) in seen and rng.random() < 0.95:
                continue
            seen.append((table.name, key))
            kind = rng.choice(("Put", "Update", "Delete", "ConditionCheck"))
            action = {"TableName": table.name}
            if kind == "Put":
                action["Item"] = item
            else:
                action["Key"] = key
            if kind == "Update":
                expressions = Expressions(rng, table, self.odd)
                action["UpdateExpression"] = expressions.update()
                if rng.random() < 0.3:
                    action["ConditionExpression"] = expressions.condition(1)
                expressions.add_to(action)
            elif kind == "ConditionCheck" or rng.random() < 0.4:
                self.add_condition(table, action, always=True)
            actions.append({kind: action})
        return "TransactWriteItems", self.with_options(
            {"TransactItems": actions}, ReturnItemCollectionMetrics=("SIZE", "NONE"))

    def transact_get(self):
        rng = self.rng
        gets = []
        for _ in range(rng.randint(1, 3)):
            table = self.table()
            get = {"TableName": table.name, "Key": self.key(table)}
            if rng.random() < 0.4:
                expressions = Expressions(rng, table, self.odd)
                get["ProjectionExpression"] = expressions.projection()
                expressions.add_to(get)
            if {"Get": get} not in gets:
                gets.append({"Get": get})
        return "TransactGetItems", self.with_options({"TransactItems": gets})

    def any(self):
        return self.rng.choice((
            self.put, self.put, self.get, self.update, self.update, self.update, self.delete, self.query, self.query, self.query,
            self.scan, self.scan, self.batch_get, self.batch_write, self.transact_write, self.transact_get))()


