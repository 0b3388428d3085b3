"""Terraform's provider for AWS, as far as it talks to DynamoDB: the calls of its resources in their order.

The provider itself is not run: its binaries come from a registry of their own. These classes repeat what version 6 is documented
and known to do, and were not compared with its source: what `apply` sends and waits for, what `refresh` reads, and what `plan`
compares. A configuration is a dict with the names of
the arguments in HCL; blocks are lists of dicts. Pulumi's provider of the same resources is made from this one and sends the
same calls.
"""

import json
import time

WAIT_S = 60
MISSING = ("ResourceNotFoundException", "TableNotFoundException", "PolicyNotFoundException")


class Refused(Exception):
    """An answer that is not 200."""

    def __init__(self, operation, answer):
        super().__init__(f"{operation}: {answer}")
        self.name = answer.get("__type", "").split("#")[-1]


class Api:
    """Calls of one daemon. `calls`: the names of all operations so far, in their order."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.calls = []

    def __call__(self, operation, **members):
        self.calls.append(operation)
        status, answer = self.daemon.json_call(operation, **members)
        if status != 200:
            raise Refused(operation, answer)
        return answer

    def take_calls(self):
        """The operations since the last call of this function, repeated ones once."""
        calls, self.calls = self.calls, []
        return [name for i, name in enumerate(calls) if i == 0 or calls[i - 1] != name]


def wait_for(refresh, target, pending):
    """Calls `refresh` until its state is `target`. Any state that is neither that nor in `pending` is an error, as in the
    provider; so is a state that stays absent."""
    give_up = time.monotonic() + WAIT_S
    while (state := refresh()) != target:
        if state not in pending:
            raise AssertionError(f"unexpected state {state}, wanted {target}")
        if time.monotonic() > give_up:
            raise AssertionError(f"still {state} after {WAIT_S} s")


def block(**members):
    """A block with the members that are there: a list with one dict, as in the provider's state."""
    present = {name: value for name, value in members.items() if value is not None}
    return [present] if present else []


def keys_of(schema):
    names = {"HASH": "hash_key", "RANGE": "range_key"}
    return {names[element["KeyType"]]: element["AttributeName"] for element in schema}


def key_schema(config):
    schema = [{"AttributeName": config["hash_key"], "KeyType": "HASH"}]
    if config.get("range_key"):
        schema.append({"AttributeName": config["range_key"], "KeyType": "RANGE"})
    return schema


def capacity(config):
    return {"ReadCapacityUnits": config["read_capacity"], "WriteCapacityUnits": config["write_capacity"]}


def on_demand(config):
    names = {"max_read_request_units": "MaxReadRequestUnits", "max_write_request_units": "MaxWriteRequestUnits"}
    return {names[name]: value for name, value in config["on_demand_throughput"][0].items()}


def warm(config):
    return {"ReadUnitsPerSecond": config["warm_throughput"][0]["read_units_per_second"],
            "WriteUnitsPerSecond": config["warm_throughput"][0]["write_units_per_second"]}


def projection(config):
    made = {"ProjectionType": config["projection_type"]}
    if config.get("non_key_attributes"):
        made["NonKeyAttributes"] = config["non_key_attributes"]
    return made


def expand_index(config, billing_mode):
    index = {"IndexName": config["name"], "KeySchema": key_schema(config), "Projection": projection(config)}
    if billing_mode == "PROVISIONED":
        index["ProvisionedThroughput"] = capacity(config)
    if "on_demand_throughput" in config:
        index["OnDemandThroughput"] = on_demand(config)
    if "warm_throughput" in config:
        index["WarmThroughput"] = warm(config)
    return index


def flatten_projection(index):
    made = {"projection_type": index["Projection"]["ProjectionType"]}
    if "NonKeyAttributes" in index["Projection"]:
        made["non_key_attributes"] = index["Projection"]["NonKeyAttributes"]
    return made


def flatten_on_demand(described):
    maxima = described.get("OnDemandThroughput", {})
    return block(max_read_request_units=maxima.get("MaxReadRequestUnits"),
                 max_write_request_units=maxima.get("MaxWriteRequestUnits"))


def flatten_warm(described):
    # Both members are dereferenced: their absence would show as zeros that differ from every configuration.
    units = described["WarmThroughput"]
    return block(read_units_per_second=units["ReadUnitsPerSecond"], write_units_per_second=units["WriteUnitsPerSecond"])


def flatten_index(index):
    flat = {**keys_of(index["KeySchema"]), **flatten_projection(index)}
    if throughput := index.get("ProvisionedThroughput"):
        # The provider takes the name only from an index with throughput: one on demand must report zeros.
        flat |= {"name": index["IndexName"], "read_capacity": throughput["ReadCapacityUnits"],
                 "write_capacity": throughput["WriteCapacityUnits"]}
    flat["on_demand_throughput"] = flatten_on_demand(index)
    flat["warm_throughput"] = flatten_warm(index)
    return flat


def flatten_table(table):
    """The state of aws_dynamodb_table, as far as DescribeTable has it."""
    stream = table.get("StreamSpecification", {})
    sse = table.get("SSEDescription")
    return {
        "arn": table["TableArn"],
        "name": table["TableName"],
        "billing_mode": table.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED"),
        "deletion_protection_enabled": table["DeletionProtectionEnabled"],
        "read_capacity": table["ProvisionedThroughput"]["ReadCapacityUnits"],
        "write_capacity": table["ProvisionedThroughput"]["WriteCapacityUnits"],
        "attribute": [{"name": one["AttributeName"], "type": one["AttributeType"]}
                      for one in table["AttributeDefinitions"]],
        **{"range_key": "", **keys_of(table["KeySchema"])},
        "local_secondary_index": [
            {"name": index["IndexName"], "range_key": keys_of(index["KeySchema"])["range_key"], **flatten_projection(index)}
            for index in table.get("LocalSecondaryIndexes", [])],
        "global_secondary_index": [flatten_index(index) for index in table.get("GlobalSecondaryIndexes", [])],
        "on_demand_throughput": flatten_on_demand(table),
        "warm_throughput": flatten_warm(table),
        "stream_enabled": stream.get("StreamEnabled", False),
        "stream_view_type": stream.get("StreamViewType", ""),
        "stream_arn": table.get("LatestStreamArn", ""),
        "stream_label": table.get("LatestStreamLabel", ""),
        "server_side_encryption": [{"enabled": True, "kms_key_arn": sse["KMSMasterKeyArn"]}] if sse else [],
        "table_class": table.get("TableClassSummary", {}).get("TableClass", "STANDARD"),
    }


# Arguments that the provider computes if the configuration lacks them.
COMPUTED = ("arn", "read_capacity", "write_capacity", "stream_arn", "stream_label", "stream_view_type", "warm_throughput",
            "server_side_encryption", "kms_key_arn", "recovery_period_in_days", "attribute_name")
DEFAULTS = {
    "billing_mode": "PROVISIONED", "deletion_protection_enabled": False, "range_key": "", "local_secondary_index": [],
    "global_secondary_index": [], "on_demand_throughput": [], "stream_enabled": False, "table_class": "STANDARD",
    "ttl": [{"enabled": False}], "point_in_time_recovery": [{"enabled": False}], "tags": {}, "non_key_attributes": [],
}


def differences(config, state, path=""):
    """The arguments in which a plan would show a change. Blocks are sets, as their schema says."""
    found = []
    for name in sorted(config.keys() | state.keys()):
        if name not in config and name in COMPUTED:
            continue
        wanted, present = config.get(name, DEFAULTS.get(name)), state.get(name, DEFAULTS.get(name))
        here = f"{path}{name}"
        if isinstance(wanted, list) and isinstance(present, list) and len(wanted) == len(present):
            if wanted and not isinstance(wanted[0], dict):
                found += [] if sorted(wanted) == sorted(present) else [f"{here}: {wanted} != {present}"]
                continue
            by_name = [sorted(blocks, key=lambda one: one.get("name", "")) for blocks in (wanted, present)]
            for one, other in zip(*by_name):
                found += differences(one, other, f"{here}.")
        elif wanted != present:
            found.append(f"{here}: {wanted} != {present}")
    return found


class Table:
    """The resource aws_dynamodb_table."""

    def __init__(self, api, config):
        self.api = api
        self.config = config
        self.name = config["name"]

    # Waiters.

    def describe(self):
        return self.api("DescribeTable", TableName=self.name)["Table"]

    def describe_index(self, name):
        indexes = self.describe().get("GlobalSecondaryIndexes", [])
        return next((index for index in indexes if index["IndexName"] == name), None)

    def wait_active(self):
        wait_for(lambda: self.describe()["TableStatus"], "ACTIVE", ("CREATING", "UPDATING"))

    def wait_index_active(self, name):
        wait_for(lambda: (self.describe_index(name) or {}).get("IndexStatus"), "ACTIVE", ("CREATING", "UPDATING"))

    def wait_index_gone(self, name):
        wait_for(lambda: (self.describe_index(name) or {}).get("IndexStatus"), None, ("ACTIVE", "DELETING", "UPDATING"))

    def wait_warm(self):
        wait_for(lambda: self.describe()["WarmThroughput"]["Status"], "ACTIVE", ("CREATING", "UPDATING"))

    def wait_index_warm(self, name):
        wait_for(lambda: self.describe_index(name)["WarmThroughput"]["Status"], "ACTIVE", ("CREATING", "UPDATING"))

    def wait_encryption(self, wanted):
        wait_for(lambda: self.describe().get("SSEDescription", {}).get("Status", "DISABLED"), wanted,
                 ("DISABLING", "ENABLING", "UPDATING", "DISABLED"))

    # Create, read, update, delete.

    def create(self):
        config = self.config
        mode = config.get("billing_mode", "PROVISIONED")
        request = {
            "TableName": self.name, "BillingMode": mode, "KeySchema": key_schema(config),
            "AttributeDefinitions": self.attributes(config),
            "Tags": [{"Key": key, "Value": value} for key, value in config.get("tags", {}).items()],
        }
        if mode == "PROVISIONED":
            request["ProvisionedThroughput"] = capacity(config)
        if "local_secondary_index" in config:
            request["LocalSecondaryIndexes"] = [
                {"IndexName": index["name"], "KeySchema": key_schema({**index, "hash_key": config["hash_key"]}),
                 "Projection": projection(index)} for index in config["local_secondary_index"]]
        if "global_secondary_index" in config:
            request["GlobalSecondaryIndexes"] = [expand_index(index, mode) for index in config["global_secondary_index"]]
        if config.get("stream_enabled"):
            request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": config["stream_view_type"]}
        if "server_side_encryption" in config:
            request["SSESpecification"] = self.encryption(config)
        if "table_class" in config:
            request["TableClass"] = config["table_class"]
        if config.get("deletion_protection_enabled"):
            request["DeletionProtectionEnabled"] = True
        if "on_demand_throughput" in config:
            request["OnDemandThroughput"] = on_demand(config)
        if "warm_throughput" in config:
            request["WarmThroughput"] = warm(config)
        self.api("CreateTable", **request)
        self.wait_active()
        for index in config.get("global_secondary_index", []):
            self.wait_index_active(index["name"])
        if config.get("ttl", [{}])[0].get("enabled"):
            self.update_ttl(config["ttl"][0])
        if config.get("point_in_time_recovery", [{}])[0].get("enabled"):
            self.update_recovery(config["point_in_time_recovery"][0])
        return self.read()

    def read(self):
        """The state; None if the table is gone. Also what an import begins with."""
        try:
            table = self.describe()
        except Refused as error:
            if error.name in MISSING:
                return None
            raise
        state = flatten_table(table)
        backups = self.api("DescribeContinuousBackups", TableName=self.name)["ContinuousBackupsDescription"]
        recovery = backups["PointInTimeRecoveryDescription"]
        state["point_in_time_recovery"] = block(enabled=recovery["PointInTimeRecoveryStatus"] == "ENABLED",
                                                recovery_period_in_days=recovery.get("RecoveryPeriodInDays"))
        expiry = self.api("DescribeTimeToLive", TableName=self.name)["TimeToLiveDescription"]
        state["ttl"] = block(enabled=expiry["TimeToLiveStatus"] == "ENABLED", attribute_name=expiry.get("AttributeName"))
        state["tags"] = self.tags(table["TableArn"])
        return state

    def plan(self):
        """The changes that a plan would show."""
        return differences(self.config, self.read())

    def apply(self, **changes):
        """Changes the configuration, and then the table as an apply does. A change to None drops the argument."""
        old = self.config
        self.config = {name: value for name, value in {**old, **changes}.items() if value is not None}
        self.update_tags(old.get("tags", {}), self.config.get("tags", {}))
        self.delete_indexes(old)
        if self.changes(old, "table_class"):
            self.api("UpdateTable", TableName=self.name, TableClass=self.config["table_class"])
            self.wait_active()
        self.update_settings(old)
        self.create_indexes(old)
        if self.changes(old, "server_side_encryption"):
            request = self.encryption(self.config)
            self.api("UpdateTable", TableName=self.name, SSESpecification=request)
            self.wait_encryption("ENABLED" if request["Enabled"] else "DISABLED")
        if self.changes(old, "ttl"):
            # A block that is not enabled need not name the attribute, which the call does.
            self.update_ttl({**old.get("ttl", [{}])[0], **self.config["ttl"][0]})
        if self.changes(old, "point_in_time_recovery"):
            self.update_recovery(self.config["point_in_time_recovery"][0])
        if self.changes(old, "warm_throughput"):
            self.api("UpdateTable", TableName=self.name, WarmThroughput=warm(self.config))
            self.wait_warm()
        return self.read()

    def delete(self):
        """Deletes the table, and waits until it is gone."""
        self.api("DeleteTable", TableName=self.name)

        def status():
            try:
                return self.describe()["TableStatus"]
            except Refused as error:
                if error.name != "ResourceNotFoundException":
                    raise
                return None

        wait_for(status, None, ("ACTIVE", "DELETING"))

    # Parts of an apply.

    def changes(self, old, name):
        return old.get(name) != self.config.get(name)

    @staticmethod
    def attributes(config):
        return [{"AttributeName": one["name"], "AttributeType": one["type"]} for one in config["attribute"]]

    @staticmethod
    def encryption(config):
        """An SSESpecification. A configuration without the block, or one that is not enabled, switches it off."""
        sse = config.get("server_side_encryption", [{"enabled": False}])[0]
        if not sse["enabled"]:
            return {"Enabled": False}
        request = {"Enabled": True, "SSEType": "KMS"}
        if "kms_key_arn" in sse:
            request["KMSMasterKeyId"] = sse["kms_key_arn"]
        return request

    def indexes(self, config):
        return {index["name"]: index for index in config.get("global_secondary_index", [])}

    def must_replace(self, old_index, index):
        """True for a change of an index that needs a new one."""
        kept = ("read_capacity", "write_capacity", "on_demand_throughput", "warm_throughput")
        return {k: v for k, v in old_index.items() if k not in kept} != {k: v for k, v in index.items() if k not in kept}

    def delete_indexes(self, old):
        """The first phase: indexes one by one, without definitions of attributes."""
        wanted = self.indexes(self.config)
        for name, index in self.indexes(old).items():
            if name not in wanted or self.must_replace(index, wanted[name]):
                self.api("UpdateTable", TableName=self.name,
                         GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": name}}])
                self.wait_index_gone(name)

    def update_settings(self, old):
        """The second phase: all settings of the table in one call, with the throughput of its indexes."""
        config, mode = self.config, self.config.get("billing_mode", "PROVISIONED")
        request = {}
        if any(self.changes(old, name) for name in ("billing_mode", "read_capacity", "write_capacity")):
            request["BillingMode"] = mode
            if mode == "PROVISIONED":
                request["ProvisionedThroughput"] = capacity(config)
        if self.changes(old, "deletion_protection_enabled"):
            request["DeletionProtectionEnabled"] = config.get("deletion_protection_enabled", False)
        if self.changes(old, "on_demand_throughput"):
            # Without the block the maxima are taken off.
            unlimited = {"on_demand_throughput": [{"max_read_request_units": -1, "max_write_request_units": -1}]}
            request["OnDemandThroughput"] = on_demand(config if "on_demand_throughput" in config else unlimited)
        if self.changes(old, "stream_enabled"):
            request["StreamSpecification"] = {"StreamEnabled": config.get("stream_enabled", False)}
            if config.get("stream_enabled"):
                request["StreamSpecification"]["StreamViewType"] = config["stream_view_type"]
        elif self.changes(old, "stream_view_type") and config.get("stream_enabled"):
            self.cycle_stream()
        updates = self.index_updates(old, mode)
        if updates:
            request["GlobalSecondaryIndexUpdates"] = [{"Update": update} for update in updates]
        if not request:
            return
        self.api("UpdateTable", TableName=self.name, **request)
        self.wait_active()
        for update in updates:
            self.wait_index_active(update["IndexName"])
            if "WarmThroughput" in update:
                self.wait_index_warm(update["IndexName"])

    def index_updates(self, old, mode):
        """The changes of throughput of the indexes that stay."""
        updates, before = [], self.indexes(old)
        for name, index in self.indexes(self.config).items():
            if name not in before or self.must_replace(before[name], index):
                continue
            update = {}
            is_new_mode = old.get("billing_mode", "PROVISIONED") != mode
            if mode == "PROVISIONED" and (is_new_mode or capacity(before[name]) != capacity(index)):
                update["ProvisionedThroughput"] = capacity(index)
            for argument, member, expand in (("on_demand_throughput", "OnDemandThroughput", on_demand),
                                             ("warm_throughput", "WarmThroughput", warm)):
                if argument in index and before[name].get(argument) != index[argument]:
                    update[member] = expand(index)
            if update:
                updates.append({"IndexName": name, **update})
        return updates

    def cycle_stream(self):
        """A stream with another view is a new one."""
        self.api("UpdateTable", TableName=self.name, StreamSpecification={"StreamEnabled": False})
        self.wait_active()
        self.api("UpdateTable", TableName=self.name, StreamSpecification={
            "StreamEnabled": True, "StreamViewType": self.config["stream_view_type"]})
        self.wait_active()

    def create_indexes(self, old):
        """The third phase: new indexes one by one, each with all definitions of attributes."""
        before = self.indexes(old)
        for name, index in self.indexes(self.config).items():
            if name in before and not self.must_replace(before[name], index):
                continue
            create = expand_index(index, self.config.get("billing_mode", "PROVISIONED"))
            self.api("UpdateTable", TableName=self.name, AttributeDefinitions=self.attributes(self.config),
                     GlobalSecondaryIndexUpdates=[{"Create": create}])
            self.wait_index_active(name)

    def update_ttl(self, ttl):
        self.api("UpdateTimeToLive", TableName=self.name, TimeToLiveSpecification={
            "AttributeName": ttl["attribute_name"], "Enabled": ttl["enabled"]})
        wanted, passing = ("ENABLED", "ENABLING") if ttl["enabled"] else ("DISABLED", "DISABLING")
        wait_for(lambda: self.api("DescribeTimeToLive", TableName=self.name)["TimeToLiveDescription"]["TimeToLiveStatus"],
                 wanted, (passing,))

    def update_recovery(self, recovery):
        request = {"PointInTimeRecoveryEnabled": recovery["enabled"]}
        if recovery["enabled"] and "recovery_period_in_days" in recovery:
            request["RecoveryPeriodInDays"] = recovery["recovery_period_in_days"]
        self.api("UpdateContinuousBackups", TableName=self.name, PointInTimeRecoverySpecification=request)

        def status():
            description = self.api("DescribeContinuousBackups", TableName=self.name)["ContinuousBackupsDescription"]
            return description["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"]

        wait_for(status, *(("ENABLED", ("DISABLED",)) if recovery["enabled"] else ("DISABLED", ("ENABLED",))))

    def tags(self, arn):
        """All pages."""
        tags, page = {}, {}
        while True:
            page = self.api("ListTagsOfResource", ResourceArn=arn, **page)
            tags |= {tag["Key"]: tag["Value"] for tag in page.get("Tags", [])}
            if "NextToken" not in page:
                return tags
            page = {"NextToken": page["NextToken"]}

    def update_tags(self, old, new):
        """Removes, then sets, then waits until two lists in a row show the new tags."""
        if old == new:
            return
        arn = self.describe()["TableArn"]
        if removed := sorted(old.keys() - new.keys()):
            self.api("UntagResource", ResourceArn=arn, TagKeys=removed)
        if updated := {key: value for key, value in new.items() if old.get(key) != value}:
            self.api("TagResource", ResourceArn=arn,
                     Tags=[{"Key": key, "Value": value} for key, value in updated.items()])
        for _ in range(2):
            if self.tags(arn) != new:
                raise AssertionError("tags are not those that were set")


class TableItem:
    """The resource aws_dynamodb_table_item. `item`: typed JSON."""

    def __init__(self, api, table_name, hash_key, item, range_key=None):
        self.api = api
        self.table_name = table_name
        self.key_names = [hash_key, *([range_key] if range_key else [])]
        self.item = item

    def key(self, item):
        return {name: item[name] for name in self.key_names}

    def create(self):
        self.api("PutItem", TableName=self.table_name, Item=self.item, ConditionExpression="attribute_not_exists(#hk)",
                 ExpressionAttributeNames={"#hk": self.key_names[0]})
        return self.read()

    def read(self):
        """The item with the attributes of the configuration; None without it."""
        names = {f"#a{i}": name for i, name in enumerate(sorted(self.item))}
        return self.api("GetItem", TableName=self.table_name, ConsistentRead=True, Key=self.key(self.item),
                        ProjectionExpression=", ".join(names), ExpressionAttributeNames=names).get("Item")

    def apply(self, item):
        """Changes the item by the legacy parameters. A new key makes a new item, then removes the old one."""
        old, self.item = self.item, item
        updates = {name: {"Action": "PUT", "Value": value} for name, value in item.items() if name not in self.key_names}
        updates |= {name: {"Action": "DELETE"} for name in old.keys() - item.keys()}
        self.api("UpdateItem", TableName=self.table_name, Key=self.key(item), AttributeUpdates=updates)
        if self.key(old) != self.key(item):
            self.api("DeleteItem", TableName=self.table_name, Key=self.key(old))
        return self.read()

    def delete(self):
        self.api("DeleteItem", TableName=self.table_name, Key=self.key(self.item))


class ResourcePolicy:
    """The resource aws_dynamodb_resource_policy."""

    def __init__(self, api, resource_arn, policy):
        self.api = api
        self.resource_arn = resource_arn
        self.policy = policy

    def put(self):
        """Creates or changes the policy; the id of its revision."""
        return self.api("PutResourcePolicy", ResourceArn=self.resource_arn, Policy=json.dumps(self.policy),
                        ConfirmRemoveSelfResourceAccess=False)["RevisionId"]

    def read(self):
        """The policy and the id of its revision; None without one."""
        try:
            answer = self.api("GetResourcePolicy", ResourceArn=self.resource_arn)
        except Refused as error:
            if error.name in MISSING:
                return None
            raise
        return json.loads(answer["Policy"]), answer["RevisionId"]

    def delete(self):
        """A policy, or a table, that is gone already is no error."""
        try:
            self.api("DeleteResourcePolicy", ResourceArn=self.resource_arn)
        except Refused as error:
            if error.name not in MISSING:
                raise


class GlobalIndex:
    """The resource aws_dynamodb_global_secondary_index: an index apart from its table, with keys of several attributes."""

    def __init__(self, api, config):
        self.api = api
        self.config = config
        self.table = Table(api, {"name": config["table_name"]})

    def create(self):
        table = self.table.describe()
        if self.table.describe_index(self.config["index_name"]) is not None:
            raise AssertionError("the index exists")
        definitions = {one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]}
        definitions |= {key["attribute_name"]: key["attribute_type"] for key in self.config["key_schema"]}
        index = {"IndexName": self.config["index_name"], "Projection": projection(self.config["projection"][0]),
                 "KeySchema": [{"AttributeName": key["attribute_name"], "KeyType": key["key_type"]}
                               for key in self.config["key_schema"]]}
        if "provisioned_throughput" in self.config:
            units = self.config["provisioned_throughput"][0]
            index["ProvisionedThroughput"] = {"ReadCapacityUnits": units["read_capacity_units"],
                                              "WriteCapacityUnits": units["write_capacity_units"]}
        self.api("UpdateTable", TableName=self.table.name, GlobalSecondaryIndexUpdates=[{"Create": index}],
                 AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, kind in definitions.items()])
        self.table.wait_active()
        self.table.wait_index_active(self.config["index_name"])
        return self.read()

    def read(self):
        """The state; None without the index."""
        table = self.table.describe()
        types = {one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]}
        index = self.table.describe_index(self.config["index_name"])
        if index is None:
            return None
        units = index["ProvisionedThroughput"]
        return {
            "arn": index["IndexArn"], "index_name": index["IndexName"], "table_name": table["TableName"],
            "key_schema": [{"attribute_name": key["AttributeName"], "attribute_type": types[key["AttributeName"]],
                            "key_type": key["KeyType"]} for key in index["KeySchema"]],
            "projection": [flatten_projection(index)],
            "provisioned_throughput": [{"read_capacity_units": units["ReadCapacityUnits"],
                                        "write_capacity_units": units["WriteCapacityUnits"]}],
            "on_demand_throughput": flatten_on_demand(index), "warm_throughput": flatten_warm(index),
        }

    def delete(self):
        self.api("UpdateTable", TableName=self.table.name,
                 GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": self.config["index_name"]}}])
        self.table.wait_index_gone(self.config["index_name"])
