"""Random requests on tables, their time to live and their tags."""

NAMES = ("Made1", "Made2")
PROJECTIONS = ("ALL", "KEYS_ONLY", "INCLUDE")
# Stands for the ARN of a table, which differs between servers: the runner replaces it.
ARN = "<arn:{}>"


class TableRequests:
    """Requests on the tables `NAMES`, which a sequence creates, changes and deletes."""

    def __init__(self, rng, odd=0.05):
        self.rng = rng
        self.odd = odd

    def is_odd(self):
        return self.rng.random() < self.odd

    def schema(self, partition, sort):
        schema = [{"AttributeName": name, "KeyType": "HASH"} for name in partition]
        schema += [{"AttributeName": name, "KeyType": "RANGE"} for name in sort]
        if self.is_odd():
            self.rng.shuffle(schema)
        if self.is_odd():
            schema.append(self.rng.choice(schema))
        return schema

    def projection(self):
        rng = self.rng
        projection = {"ProjectionType": rng.choice(PROJECTIONS)}
        if (projection["ProjectionType"] == "INCLUDE") != self.is_odd():
            projection["NonKeyAttributes"] = rng.sample(("b", "a", "d", "c"), rng.randint(1, 2))
            if self.is_odd():
                projection["NonKeyAttributes"].append(projection["NonKeyAttributes"][0])
        if self.is_odd():
            del projection["ProjectionType"]
        return projection

    def throughput(self):
        return {"ReadCapacityUnits": self.rng.choice((1, 2, 5)), "WriteCapacityUnits": self.rng.choice((1, 2, 5))}

    def index(self, name, provisioned, used, local=False):
        rng = self.rng
        partition = ["p"] if local and not self.is_odd() else rng.sample(("p", "x", "y"), rng.choice((1, 1, 1, 2, 3)))
        sort = rng.sample(("s", "z", "w"), 1 if local else rng.choice((0, 1, 1, 2)))
        used.update((*partition, *sort))
        index = {"IndexName": name, "KeySchema": self.schema(partition, sort), "Projection": self.projection()}
        if not local and provisioned != self.is_odd():
            index["ProvisionedThroughput"] = self.throughput()
        return index

    def create(self):
        rng = self.rng
        provisioned = rng.random() < 0.4
        used = {"p"}
        sort = ["s"] if rng.random() < 0.6 else []
        used.update(sort)
        request = {"TableName": rng.choice(NAMES), "KeySchema": self.schema(["p"], sort)}
        if provisioned != self.is_odd():
            request["ProvisionedThroughput"] = self.throughput()
        if not provisioned or rng.random() < 0.5:
            request["BillingMode"] = "PROVISIONED" if provisioned else "PAY_PER_REQUEST"
        if (sort and rng.random() < 0.4) or self.is_odd():
            request["LocalSecondaryIndexes"] = [self.index(f"Loc{number}", provisioned, used, local=True) for number in range(rng.randint(1, 2))]
        if rng.random() < 0.5:
            request["GlobalSecondaryIndexes"] = [self.index(f"Glo{number}", provisioned, used) for number in range(rng.randint(1, 2))]
        if self.is_odd():
            used.add("unused")
        if self.is_odd():
            used.discard(rng.choice(sorted(used)))
        request["AttributeDefinitions"] = [{"AttributeName": name, "AttributeType": rng.choice("SNB")} for name in sorted(used)]
        if rng.random() < 0.2:
            request["StreamSpecification"] = {"StreamEnabled": not self.is_odd(), "StreamViewType": "NEW_IMAGE"}
        if rng.random() < 0.2:
            request["Tags"] = [{"Key": "k", "Value": "v"}]
        if rng.random() < 0.1:
            request["DeletionProtectionEnabled"] = False
        if rng.random() < 0.1:
            request["TableClass"] = rng.choice(("STANDARD", "STANDARD_INFREQUENT_ACCESS"))
        return "CreateTable", request

    def update(self):
        rng = self.rng
        request = {"TableName": rng.choice(NAMES)}
        draw = rng.random()
        if draw < 0.2:
            request["ProvisionedThroughput"] = self.throughput()
        elif draw < 0.35:
            request["BillingMode"] = rng.choice(("PROVISIONED", "PAY_PER_REQUEST"))
            if request["BillingMode"] == "PROVISIONED" and not self.is_odd():
                request["ProvisionedThroughput"] = self.throughput()
        elif draw < 0.5:
            enabled = rng.random() < 0.6
            request["StreamSpecification"] = {"StreamEnabled": enabled, **({"StreamViewType": "KEYS_ONLY"} if enabled != self.is_odd() else {})}
        elif draw < 0.75:
            used = set()
            index = self.index(rng.choice(("Glo0", "Glo9", "Loc0")), rng.random() < 0.4, used)
            request["GlobalSecondaryIndexUpdates"] = [{"Create": index}]
            if not self.is_odd():
                request["AttributeDefinitions"] = [{"AttributeName": name, "AttributeType": rng.choice("SSN")} for name in sorted(used)]
        elif draw < 0.9:
            request["GlobalSecondaryIndexUpdates"] = [{"Delete": {"IndexName": rng.choice(("Glo0", "Glo1", "Glo9", "Loc0"))}}]
        elif draw < 0.95:
            request["GlobalSecondaryIndexUpdates"] = [{"Update": {"IndexName": "Glo0", "ProvisionedThroughput": self.throughput()}}]
        return "UpdateTable", request

    def settings(self):
        rng = self.rng
        name = rng.choice((*NAMES, "Plain", "Missing"))
        arn = ARN.format(rng.choice(("Plain", "Plain", "Ranged")))
        tags = [{"Key": rng.choice(("a", "b", "aws:x", "ä", "", "k" * 129)), "Value": rng.choice(("v", "", "v" * 257))} for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.8:
            tags = [{"Key": rng.choice("abc"), "Value": rng.choice(("v", "", "w"))}]
        return rng.choice((
            ("DescribeTable", {"TableName": name}),
            ("DescribeTable", {"TableName": name}),
            ("ListTables", {"Limit": rng.choice((1, 2, 100, 101, 0))} if rng.random() < 0.6 else {"ExclusiveStartTableName": rng.choice(("A", "Made1", "P!"))}),
            ("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": {
                "Enabled": rng.random() < 0.6, "AttributeName": rng.choice(("ttl", "ttl", "other", ""))}}),
            ("DescribeTimeToLive", {"TableName": name}),
            ("TagResource", {"ResourceArn": arn, "Tags": tags}),
            ("UntagResource", {"ResourceArn": arn, "TagKeys": [rng.choice("abc")]}),
            ("ListTagsOfResource", {"ResourceArn": arn}),
        ))

    def any(self):
        rng = self.rng
        draw = rng.random()
        if draw < 0.4:
            return self.create()
        if draw < 0.65:
            return self.update()
        if draw < 0.75:
            return "DeleteTable", {"TableName": rng.choice((*NAMES, "Missing"))}
        return self.settings()
