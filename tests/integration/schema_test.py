#!/usr/bin/python3
"""`armature schema apply` against a real daemon: the example files, files of all forms, repetitions, refusals.

Run by CTest; by hand: schema_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import API_ERROR, DIFFERENCES, INPUT_ERROR, USAGE_ERROR, CliTest, run_tests  # noqa: E402

EXAMPLES = ROOT / "docs/examples/schema"
KEY = {"KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST",
       "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}]}


class SchemaTest(CliTest):
    """Each test begins without tables."""

    def setUp(self):
        super().setUp()
        for name in self.tables():
            self.cli("table", "update", name, "--no-deletion-protection-enabled")
            self.cli("drop", name, "--yes")

    def tables(self):
        return self.cli("table", "list")["TableNames"]

    def apply(self, *paths):
        """State and number of loaded items of each table, after the command."""
        return {table["TableName"]: (table["State"], table["Items"])
                for table in self.cli("schema", "apply", *paths)["Tables"]}

    def describe(self, name):
        return self.cli("table", "describe", name)["Table"]

    def file(self, name, content):
        path = self.directory / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path


class ExamplesTest(SchemaTest):
    def test_a_template_makes_its_tables_once(self):
        template = EXAMPLES / "shop.template.yaml"
        made = ("CREATED", 0)
        self.assertEqual(self.apply(template), {
            "orders-dev": made, "Stock": made, "Stock-prices": made, "sessions": made})
        orders = self.describe("orders-dev")
        self.assertEqual(orders["GlobalSecondaryIndexes"][0]["Projection"],
                         {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note", "total"]})
        self.assertEqual(orders["StreamSpecification"]["StreamViewType"], "NEW_AND_OLD_IMAGES")
        self.assertEqual(orders["SSEDescription"]["Status"], "ENABLED")
        self.assertEqual(self.cli("table", "tags", "--resource-arn", orders["TableArn"])["Tags"],
                         [{"Key": "table", "Value": "orders-dev"}])
        expiry = self.cli("table", "ttl", "orders-dev")["TimeToLiveDescription"]
        self.assertEqual(expiry["AttributeName"], "expires")
        units = {name: self.describe(name)["ProvisionedThroughput"] for name in ("Stock", "Stock-prices")}
        self.assertEqual((units["Stock"]["ReadCapacityUnits"], units["Stock"]["WriteCapacityUnits"]), (5, 2))
        self.assertEqual((units["Stock-prices"]["ReadCapacityUnits"], units["Stock-prices"]["WriteCapacityUnits"]), (7, 3))
        self.assertEqual(set(self.apply(template).values()), {("UNCHANGED", 0)})
        self.cli("drop", "Stock", "--yes")
        prod = self.apply(template, "--parameter", "Stage=prod", "--parameter", "Reads=5", "--dry-run")
        self.assertEqual(prod["orders-prod"], ("WOULD_BE_CREATED", 0))
        self.assertEqual(prod["Audit"], ("WOULD_BE_CREATED", 0))

    def test_notes_tell_what_is_left_out(self):
        done = self.run_cli("schema", "apply", EXAMPLES / "shop.template.yaml", "--dry-run")
        self.assertEqual(done.stderr.decode().splitlines(), [
            "note: orders-dev: PointInTimeRecoverySpecification is left out: it needs an archive of the daemon, and is turned "
            "on by UpdateContinuousBackups",
            "note: Stock-prices: the settings of the first replica count, the others are left out"])

    def test_a_model_makes_its_table_with_items_once(self):
        model = EXAMPLES / "music.json"
        self.assertEqual(self.apply(model), {"Music": ("CREATED", 2)})
        rows = self.cli("query", "--table-name", "Music", "--index-name", "ByGenre", "--key-condition-expression",
                        "Genre = :g", "--expression-attribute-values", '{":g": "Rock"}')["Items"]
        self.assertEqual([row["SongTitle"]["S"] for row in rows], ["Happy Day"])
        self.cli("del", "Music", "Acme Band", "Happy Day")
        self.assertEqual(self.apply(model), {"Music": ("UNCHANGED", 0)})
        self.assertEqual(self.describe("Music")["ItemCount"], 1, "items are loaded once")

    def test_the_directory_of_samples_is_a_schema(self):
        made = self.apply(ROOT / "tools/demo")
        self.assertEqual(made["GameScores"][0], "CREATED")
        self.assertGreater(made["GameScores"][1], 0)
        self.assertEqual(self.describe("GameScores")["ItemCount"], made["GameScores"][1])


class TemplatesOfToolsTest(SchemaTest):
    """Templates as these versions of the tools have written them."""

    def test_cdk(self):
        template = ROOT / "tests/data/schema/cdk-2.276.0.template.json"
        self.assertIn("AWS::StackName has no value", self.failing(INPUT_ERROR, "schema", "apply", template))
        self.assertEqual(set(self.apply(template, "--parameter", "AWS::StackName=Shop").items()), {
            (name, ("CREATED", 0)) for name in ("OrdersA9B65338", "Shop-stock", "prices", "prov")})
        orders = self.describe("OrdersA9B65338")
        self.assertEqual([index["IndexName"] for index in orders["GlobalSecondaryIndexes"]], ["ByState"])
        self.assertEqual([index["IndexName"] for index in orders["LocalSecondaryIndexes"]], ["ByTotal"])
        prices = self.describe("prices")
        self.assertTrue(prices["DeletionProtectionEnabled"])
        self.assertEqual(prices["OnDemandThroughput"], {"MaxReadRequestUnits": 100})
        units = self.describe("prov")["ProvisionedThroughput"]
        self.assertEqual((units["ReadCapacityUnits"], units["WriteCapacityUnits"]), (4, 2))

    def test_serverless(self):
        template = ROOT / "tests/data/schema/serverless-3.40.0.template.json"
        self.assertEqual(self.apply(template), {"shop-dev-orders": ("CREATED", 0)})


class FormsTest(SchemaTest):
    def test_a_directory_has_files_of_several_forms(self):
        self.file("a.json", [{"TableName": "listed-1", **KEY}, {"TableName": "listed-2", **KEY}])
        self.file("b.sql", "CREATE TABLE scripted (id S PRIMARY KEY), GLOBAL INDEX ByMail (mail S) WITH (ttl = gone);")
        self.file("c.yml", "{name: described, schema: {pk: id (S)}, mode: OnDemand}")
        self.file("scripted.items.jsonl", '{"id": "a"}\n{"id": "b"}\n')
        self.file("batch.json", {"listed-1": [{"PutRequest": {"Item": {"p": {"S": "x"}}}}]})
        self.file("README.md", "not a schema")
        made = {"listed-1": ("CREATED", 1), "listed-2": ("CREATED", 0), "scripted": ("CREATED", 2),
                "described": ("CREATED", 0)}
        self.assertEqual(self.apply(self.directory), made)
        self.assertEqual(set(self.apply(self.directory).values()), {("UNCHANGED", 0)})

    def test_an_answer_of_describe_table_makes_the_table_again(self):
        self.apply(EXAMPLES / "shop.template.yaml")
        answer = self.cli("table", "describe", "orders-dev")
        path = self.file("orders.json", answer)
        # The answer does not have the time to live.
        self.cli("table", "ttl", "orders-dev", "--disable")
        self.assertEqual(self.apply(path), {"orders-dev": ("UNCHANGED", 0)})
        self.cli("drop", "orders-dev", "--yes")
        self.assertEqual(self.apply(path), {"orders-dev": ("CREATED", 0)})

    def test_many_items_are_loaded(self):
        self.file("t.json", {"TableName": "many", **KEY})
        self.file("many.items.jsonl", "".join(f'{{"p": "{i}", "text": "{"x" * 500}"}}\n' for i in range(3000)))
        self.assertEqual(self.apply(self.directory), {"many": ("CREATED", 3000)})
        self.assertEqual(self.describe("many")["ItemCount"], 3000)

    def test_people_get_a_line_for_each_table(self):
        done = self.run_cli("--output", "table", "schema", "apply", EXAMPLES / "music.json")
        self.assertEqual(done.stdout.decode(), "Music: created, 2 items\n")
        done = self.run_cli("--output", "table", "schema", "apply", EXAMPLES / "music.json")
        self.assertEqual(done.stdout.decode(), "Music: is there already, nothing was done\n")


class ComposeTest(SchemaTest):
    def test_the_service_of_the_compose_file_makes_the_tables(self):
        try:
            import yaml  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("no python3-yaml")
        service = yaml.safe_load((ROOT / "packaging/compose.yaml").read_text())["services"]["schema"]
        source, inside, _ = service["volumes"][0].rsplit(":", 2)
        folder = ROOT / "packaging" / source.removeprefix("${SCHEMA:-").removesuffix("}")
        self.assertEqual(service["entrypoint"][0], "/usr/bin/armature")
        words = [word.replace(inside, str(folder)) for word in service["command"]]
        self.assertIn("Music", self.apply(*words[2:]))
        self.assertEqual(words[:2], ["schema", "apply"])


class RefusalsTest(SchemaTest):
    def test_a_table_with_another_definition_stops_everything(self):
        self.cli("create", "second", "--key", "id")
        path = self.file("t.json", [{"TableName": "first", **KEY}, {"TableName": "second", **KEY}])
        error = self.failing(DIFFERENCES, "schema", "apply", path)
        self.assertIn("t.json: the table second exists with another definition: ", error)
        self.assertIn('AttributeDefinitions[0].AttributeName is "p" in the schema and "id" in the table', error)
        self.assertEqual(self.tables(), ["second"])

    def test_another_time_to_live_is_another_definition(self):
        self.cli("create", "timed", "--key", "id", "--ttl", "at")
        path = self.file("t.sql", "CREATE TABLE timed (id S PRIMARY KEY) WITH (ttl = gone);")
        self.assertIn('items expire by "gone" in the schema and by "at" in the table',
                      self.failing(DIFFERENCES, "schema", "apply", path))

    def test_a_dry_run_makes_nothing(self):
        self.assertEqual(self.apply(EXAMPLES / "music.json", "--dry-run"), {"Music": ("WOULD_BE_CREATED", 2)})
        self.assertEqual(self.tables(), [])

    def test_faults_of_files_are_named_before_anything_is_sent(self):
        bad = self.file("bad.yaml", "Resources:\n  T: {Type: 'AWS::DynamoDB::Table', Properties: {TableName: !Ref Name}}\n")
        error = self.failing(INPUT_ERROR, "schema", "apply", EXAMPLES / "music.json", bad)
        self.assertIn("bad.yaml: Resources.T.Properties.TableName: Name has no value; give --parameter Name=VALUE", error)
        self.assertEqual(self.tables(), [])
        self.failing(INPUT_ERROR, "schema", "apply", self.directory / "none.json")
        self.failing(USAGE_ERROR, "schema", "apply", bad, "--parameter", "Name")
        self.failing(USAGE_ERROR, "schema")

    def test_what_the_daemon_refuses_is_its_error(self):
        path = self.file("t.json", {"TableName": "t", **KEY})
        self.assertIn("Value 't' at 'tableName' failed to satisfy constraint", self.failing(API_ERROR, "schema", "apply", path))
        items = self.file("t.json", {"DataModel": [{
            "TableName": "half", "KeyAttributes": {"PartitionKey": {"AttributeName": "p", "AttributeType": "S"}},
            "TableData": [{"p": {"S": "x"}}, {"q": {"S": "no key"}}]}]})
        self.assertIn("The table half was made, but it may not have all of its 2 items",
                      self.failing(API_ERROR, "schema", "apply", items))


if __name__ == "__main__":
    run_tests()
