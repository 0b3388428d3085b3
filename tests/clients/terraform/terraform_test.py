#!/usr/bin/python3
"""Infrastructure as code against a real daemon: the life of each resource of Terraform that has to do with tables.

After each apply, a second plan must find no difference: DescribeTable and its neighbours show at once what was set. Run by
CTest; by hand: terraform_test.py --armatured PATH [unittest arguments]
"""

import argparse
import copy
import pathlib
import re
import sys
import unittest

import provider

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from armature_daemon import Daemon  # noqa: E402

OPTIONS = argparse.Namespace()

BY_STATE = {"name": "ByState", "hash_key": "state", "range_key": "at", "projection_type": "INCLUDE",
            "non_key_attributes": ["total", "note"]}
ON_DEMAND = {
    "name": "orders", "billing_mode": "PAY_PER_REQUEST", "hash_key": "customer", "range_key": "order",
    "attribute": [{"name": "customer", "type": "S"}, {"name": "order", "type": "S"}, {"name": "state", "type": "S"},
                  {"name": "at", "type": "N"}],
    "global_secondary_index": [BY_STATE],
    "tags": {"team": "sales", "stage": "test"},
}
CAPACITY = {"read_capacity": 5, "write_capacity": 3}
PROVISIONED = {
    **ON_DEMAND, **CAPACITY, "billing_mode": "PROVISIONED",
    "global_secondary_index": [{**BY_STATE, "read_capacity": 2, "write_capacity": 1}],
    "local_secondary_index": [{"name": "ByTime", "range_key": "at", "projection_type": "KEYS_ONLY"}],
}


class ResourceTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(OPTIONS.armatured).__enter__()
        self.addCleanup(self.daemon.__exit__)
        self.api = provider.Api(self.daemon)

    def created(self, config):
        """The table of the configuration, which a second plan leaves alone."""
        table = provider.Table(self.api, copy.deepcopy(config))
        table.create()
        self.assert_settled(table)
        return table

    def assert_settled(self, table):
        self.assertEqual(table.plan(), [])

    def apply(self, table, **changes):
        state = table.apply(**changes)
        self.assert_settled(table)
        return state


class CreationTest(ResourceTest):
    def test_a_second_plan_after_the_creation_finds_no_difference(self):
        for config in (ON_DEMAND, PROVISIONED):
            with self.subTest(config["billing_mode"]):
                table = self.created(config)
                self.api.take_calls()
                table.read()
                self.assertEqual(self.api.take_calls(), [
                    "DescribeTable", "DescribeContinuousBackups", "DescribeTimeToLive", "ListTagsOfResource"])
                table.delete()

    def test_a_table_with_every_argument_is_settled(self):
        self.created({
            **ON_DEMAND, "stream_enabled": True, "stream_view_type": "NEW_AND_OLD_IMAGES", "table_class":
            "STANDARD_INFREQUENT_ACCESS", "deletion_protection_enabled": True, "ttl": [
                {"enabled": True, "attribute_name": "expires"}],
            "point_in_time_recovery": [{"enabled": True, "recovery_period_in_days": 7}],
            "server_side_encryption": [{"enabled": True}],
            "on_demand_throughput": [{"max_read_request_units": 50, "max_write_request_units": 40}],
            "warm_throughput": [{"read_units_per_second": 12500, "write_units_per_second": 4500}],
            "global_secondary_index": [{
                **BY_STATE, "on_demand_throughput": [{"max_read_request_units": 20}],
                "warm_throughput": [{"read_units_per_second": 13000, "write_units_per_second": 4100}]}],
        })

    def test_a_table_on_demand_reports_zeros_and_warm_throughput(self):
        described = self.created(ON_DEMAND).describe()
        for one in (described, described["GlobalSecondaryIndexes"][0]):
            units = one["ProvisionedThroughput"]
            self.assertEqual((units["ReadCapacityUnits"], units["WriteCapacityUnits"]), (0, 0))
            self.assertEqual(one["WarmThroughput"],
                             {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"})

    def test_twelve_tags_take_two_pages(self):
        self.created({**ON_DEMAND, "tags": {f"key{i}": "value" for i in range(12)}})

    def test_an_existing_table_can_be_imported(self):
        state = self.created(PROVISIONED).read()
        imported = provider.Table(self.api, PROVISIONED)
        self.assertEqual(imported.read(), state)
        self.assertEqual(imported.plan(), [])


class ChangeTest(ResourceTest):
    def test_an_index_comes_and_goes_with_its_attributes(self):
        table = self.created(ON_DEMAND)
        attributes = [*ON_DEMAND["attribute"], {"name": "total", "type": "N"}]
        by_total = {"name": "ByTotal", "hash_key": "total", "projection_type": "ALL"}
        self.api.take_calls()
        self.apply(table, attribute=attributes, global_secondary_index=[BY_STATE, by_total])
        self.assertEqual(self.api.take_calls()[:2], ["UpdateTable", "DescribeTable"])
        # The call names no attributes: that of the index goes by itself.
        self.apply(table, attribute=ON_DEMAND["attribute"], global_secondary_index=[BY_STATE])

    def test_an_index_with_another_key_is_replaced(self):
        table = self.created(PROVISIONED)
        index = {**PROVISIONED["global_secondary_index"][0], "range_key": "customer", "projection_type": "ALL"}
        del index["non_key_attributes"]
        self.apply(table, global_secondary_index=[index])

    def test_the_billing_mode_changes_to_and_fro(self):
        table = self.created(PROVISIONED)
        self.apply(table, billing_mode="PAY_PER_REQUEST", read_capacity=None, write_capacity=None,
                   global_secondary_index=[BY_STATE])
        self.apply(table, billing_mode="PROVISIONED", **CAPACITY,
                   global_secondary_index=PROVISIONED["global_secondary_index"])

    def test_throughput_of_table_and_index_change_together(self):
        table = self.created(PROVISIONED)
        index = {**PROVISIONED["global_secondary_index"][0], "read_capacity": 4}
        self.apply(table, read_capacity=8, global_secondary_index=[index])

    def test_maxima_on_demand_come_and_go(self):
        table = self.created(ON_DEMAND)
        self.apply(table, on_demand_throughput=[{"max_read_request_units": 9}])
        self.apply(table, on_demand_throughput=None)

    def test_warm_throughput_of_table_and_index_grow(self):
        units = [{"read_units_per_second": 14000, "write_units_per_second": 5000}]
        table = self.created(ON_DEMAND)
        self.apply(table, warm_throughput=units)
        self.apply(table, global_secondary_index=[{**BY_STATE, "warm_throughput": units}])

    def test_the_arn_of_a_stream_stays_until_there_is_a_new_stream(self):
        table = self.created(ON_DEMAND)
        arn = self.apply(table, stream_enabled=True, stream_view_type="KEYS_ONLY")["stream_arn"]
        self.assertRegex(arn, "/stream/")
        self.assertEqual(self.apply(table, deletion_protection_enabled=True)["stream_arn"], arn)
        second = self.apply(table, stream_view_type="NEW_IMAGE")["stream_arn"]
        self.assertNotEqual(second, arn)
        self.assertEqual(self.apply(table, stream_enabled=False, stream_view_type=None)["stream_arn"], second)

    def test_expiry_and_recovery_are_there_at_once(self):
        table = self.created(ON_DEMAND)
        self.apply(table, ttl=[{"enabled": True, "attribute_name": "expires"}])
        self.apply(table, ttl=[{"enabled": False}])
        self.apply(table, point_in_time_recovery=[{"enabled": True}])
        self.apply(table, point_in_time_recovery=[{"enabled": True, "recovery_period_in_days": 3}])
        self.apply(table, point_in_time_recovery=[{"enabled": False}])

    def test_tags_change_at_once(self):
        table = self.created(ON_DEMAND)
        self.apply(table, tags={"team": "stock", "cost": "7"})
        self.apply(table, tags=None)

    def test_encryption_and_class_change(self):
        table = self.created(ON_DEMAND)
        self.apply(table, server_side_encryption=[{"enabled": True}], table_class="STANDARD_INFREQUENT_ACCESS")
        self.apply(table, server_side_encryption=None, table_class="STANDARD")


class DestructionTest(ResourceTest):
    def test_a_protected_table_stays_until_the_protection_is_off(self):
        table = self.created({**ON_DEMAND, "deletion_protection_enabled": True})
        with self.assertRaises(provider.Refused) as refused:
            table.delete()
        self.assertEqual(refused.exception.name, "ValidationException")
        self.apply(table, deletion_protection_enabled=False)
        table.delete()
        self.assertIsNone(table.read())

    def test_a_table_is_replaced_at_once(self):
        table = self.created(ON_DEMAND)
        for key in ("order", "customer"):
            table.delete()
            table = self.created({"name": "orders", "billing_mode": "PAY_PER_REQUEST", "hash_key": key,
                                  "attribute": [{"name": key, "type": "S"}]})


class PlayerTest(unittest.TestCase):
    def test_a_plan_shows_what_differs(self):
        state = {"name": "t", "attribute": [{"name": "a", "type": "S"}, {"name": "b", "type": "N"}], "ttl": [{"enabled": True}],
                 "warm_throughput": [{"read_units_per_second": 1}]}
        same = {"name": "t", "attribute": list(reversed(state["attribute"])), "ttl": state["ttl"]}
        self.assertEqual(provider.differences(same, state), [])
        other = {"name": "u", "attribute": [{"name": "a", "type": "S"}, {"name": "b", "type": "S"}]}
        self.assertEqual(provider.differences(other, state), [
            "attribute.type: S != N", "name: u != t", "ttl.enabled: False != True"])

    def test_a_state_that_no_one_expects_is_an_error(self):
        with self.assertRaises(AssertionError):
            provider.wait_for(lambda: None, "ACTIVE", ("CREATING",))


class OtherResourcesTest(ResourceTest):
    def test_an_item_is_made_changed_moved_and_deleted(self):
        self.created(ON_DEMAND)
        item = {"customer": {"S": "ada"}, "order": {"S": "1"}, "total": {"N": "12.5"}, "to-do.now": {"L": [{"BOOL": True}]}}
        resource = provider.TableItem(self.api, "orders", "customer", item, "order")
        self.assertEqual(resource.create(), item)
        with self.assertRaises(provider.Refused) as refused:
            resource.create()
        self.assertEqual(refused.exception.name, "ConditionalCheckFailedException")
        changed = {"customer": {"S": "ada"}, "order": {"S": "1"}, "total": {"N": "13"}, "note": {"S": "x"}}
        self.assertEqual(resource.apply(changed), changed)
        moved = {**changed, "order": {"S": "2"}}
        self.assertEqual(resource.apply(moved), moved)
        self.assertEqual(self.api("Scan", TableName="orders")["Items"], [moved])
        resource.delete()
        self.assertIsNone(resource.read())

    def test_a_policy_is_put_changed_and_deleted(self):
        arn = self.created(ON_DEMAND).read()["arn"]
        policy = {"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Principal": "*", "Action": "dynamodb:GetItem", "Resource": arn}]}
        resource = provider.ResourcePolicy(self.api, arn, policy)
        self.assertIsNone(resource.read())
        revision = resource.put()
        self.assertEqual(resource.read(), (policy, revision))
        policy["Statement"][0]["Action"] = ["dynamodb:GetItem", "dynamodb:Query"]
        changed = resource.put()
        self.assertNotEqual(changed, revision)
        self.assertEqual(resource.read(), (policy, changed))
        resource.delete()
        self.assertIsNone(resource.read())
        resource.delete()

    def test_an_index_of_its_own_has_keys_of_several_attributes(self):
        table_config = {**ON_DEMAND, "attribute": ON_DEMAND["attribute"][:2]}
        del table_config["global_secondary_index"]
        table = self.created(table_config)
        config = {
            "table_name": "orders", "index_name": "ByPlace", "projection": [{"projection_type": "ALL"}],
            "key_schema": [{"attribute_name": name, "attribute_type": kind, "key_type": role}
                           for name, kind, role in (("country", "S", "HASH"), ("city", "S", "HASH"),
                                                    ("customer", "S", "RANGE"), ("zip", "N", "RANGE"))],
        }
        index = provider.GlobalIndex(self.api, config)
        state = index.create()
        self.assertEqual({name: state[name] for name in config}, config)
        self.assertEqual(state, index.read())
        index.delete()
        self.assertIsNone(index.read())
        self.assert_settled(table)


class NeighboursTest(ResourceTest):
    def test_what_handlers_of_tables_read_is_there_at_once(self):
        """The reads that CloudFormation's resource for tables is documented to need, right after CreateTable."""
        arn = self.created(ON_DEMAND).read()["arn"]
        insights = self.api("DescribeContributorInsights", TableName="orders")
        self.assertEqual(insights["ContributorInsightsStatus"], "DISABLED")
        backups = self.api("DescribeContinuousBackups", TableName="orders")["ContinuousBackupsDescription"]
        self.assertEqual(backups["ContinuousBackupsStatus"], "ENABLED")
        self.assertEqual(self.api("ListTagsOfResource", ResourceArn=arn)["Tags"],
                         [{"Key": "stage", "Value": "test"}, {"Key": "team", "Value": "sales"}])
        for operation, members, name in (
                ("GetResourcePolicy", {"ResourceArn": arn}, "PolicyNotFoundException"),
                ("DescribeKinesisStreamingDestination", {"TableName": "orders"}, "UnknownOperationException")):
            with self.assertRaises(provider.Refused) as refused:
                self.api(operation, **members)
            self.assertEqual(refused.exception.name, name)


class DocumentTest(unittest.TestCase):
    """The blocks of docs/develop/iac.md."""

    PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/develop/iac.md"

    def block(self, language):
        return re.search(rf"```{language}\n(.*?)```", self.PAGE.read_text(), re.DOTALL)[1]

    def test_the_blocks_have_all_that_keeps_a_provider_from_aws(self):
        hcl, pulumi = self.block("hcl"), self.block("yaml")
        for word in ("credentials_validation", "metadata_api_check", "requesting_account_id", "region_validation"):
            self.assertRegex(hcl, rf"skip_{word} += true")
            camel = "".join(part.capitalize() for part in word.split("_"))
            self.assertIn(f"aws:skip{camel}: true", pulumi)
        for text in (hcl, pulumi):
            self.assertRegex(text, r'dynamodb *[=:] *"?http://127.0.0.1:7701')


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--armatured", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
