#!/usr/bin/python3
"""Errors as programs in any language read them: the trailers of failed calls, without a client library of this project.

Run by ctest; see CMakeLists.txt.
"""

import argparse
import importlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

import grpc
from google.protobuf import any_pb2, json_format

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402

DEADLINE_S = 30
ITEMS = "/armature.api.v1.ItemService/"
TABLES = "/armature.api.v1.TableService/"
DOMAIN = "armaturedb.github.io"
OPTIONS = argparse.Namespace()


def setUpModule():
    """Python code of the protos, and of the standard details of google.rpc."""
    directory = tempfile.TemporaryDirectory(prefix="armature_errors_")
    unittest.addModuleCleanup(directory.cleanup)
    command = ["protoc", f"-I{ROOT / 'proto'}", f"-I{ROOT / 'tests/support'}", f"--python_out={directory.name}"]
    names = ["types", "errors", "items", "tables"]
    files = [f"armature/api/v1/{name}.proto" for name in names]
    subprocess.run([*command, *files, "google/rpc/error_details.proto"], check=True)
    sys.path.append(directory.name)
    for name in names:
        setattr(OPTIONS, name, importlib.import_module(f"armature.api.v1.{name}_pb2"))
    OPTIONS.details = importlib.import_module("google.rpc.error_details_pb2")


class ErrorsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon(OPTIONS.armatured))
        cls.daemon.create_table("Items")
        cls.channel = cls.enterClassContext(grpc.insecure_channel(cls.daemon.grpc))

    def call(self, method, request):
        """The error of a call: an object with a code, a text, and trailers as a dictionary."""
        bytes_of = request if isinstance(request, bytes) else request.SerializeToString()
        stub = self.channel.unary_unary(method)
        with self.assertRaises(grpc.RpcError) as caught:
            stub(bytes_of, timeout=DEADLINE_S)
        return caught.exception

    def trailers(self, error):
        return dict(error.trailing_metadata())

    def detail(self, error, kind):
        """The detail of a type, unpacked as any program does, or None."""
        status = OPTIONS.errors.RpcStatus.FromString(self.trailers(error)["grpc-status-details-bin"])
        self.assertEqual(status.code, error.code().value[0])
        self.assertEqual(status.message, error.details())
        for packed in status.details:
            self.assertIsInstance(packed, any_pb2.Any)
            detail = kind()
            if packed.Unpack(detail):
                return detail
        return None

    def put(self, **members):
        request = json_format.ParseDict(members, OPTIONS.items.PutItemRequest(), ignore_unknown_fields=True)
        return self.call(ITEMS + "PutItem", request)

    def test_the_exception_is_in_every_form(self):
        request = OPTIONS.items.GetItemRequest(table_name="Nothing")
        request.key.attributes["id"].s = "a"
        error = self.call(ITEMS + "GetItem", request)
        self.assertEqual(error.code(), grpc.StatusCode.NOT_FOUND)
        self.assertEqual(self.trailers(error)["x-armature-exception"], "ResourceNotFoundException")
        info = self.detail(error, OPTIONS.details.ErrorInfo)
        self.assertEqual((info.reason, info.domain), ("ResourceNotFoundException", DOMAIN))
        self.assertEqual(self.detail(error, OPTIONS.errors.ErrorDetail).exception, "ResourceNotFoundException")
        self.assertIsNone(self.detail(error, OPTIONS.details.RetryInfo))
        self.assertIsNone(self.detail(error, OPTIONS.details.BadRequest))

    def test_an_operation_on_tables_names_its_exception_too(self):
        error = self.call(TABLES + "DescribeTable", OPTIONS.tables.DescribeTableRequest(table_name="Nothing"))
        self.assertEqual(self.trailers(error)["x-armature-exception"], "ResourceNotFoundException")

    def test_an_invalid_request_names_its_field(self):
        error = self.put(tableName="Items", item={"attributes": {"id": {"s": "a"}}}, conditionExpression="a =")
        violations = self.detail(error, OPTIONS.details.BadRequest).field_violations
        self.assertEqual([each.field for each in violations], ["condition_expression"])
        self.assertIn("Syntax error", violations[0].description)
        request = OPTIONS.tables.ListTablesRequest(limit=1000)
        violations = self.detail(self.call(TABLES + "ListTables", request), OPTIONS.details.BadRequest).field_violations
        self.assertEqual([each.field for each in violations], ["limit"])

    def test_types_in_capitals_are_answered_with_a_hint(self):
        error = self.put(tableName="Items", item={"attributes": {"id": {"S": "a"}}})
        self.assertEqual(self.trailers(error)["x-armature-exception"], "ValidationException")
        self.assertIn("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes; over gRPC",
                      error.details())
        self.assertIn('{"s": "x"}, not {"S": "x"}', error.details())

    def test_over_http_the_text_is_the_documented_one(self):
        status, answer = self.daemon.json_call("PutItem", TableName="Items", Item={"id": {"s": "a"}})
        self.assertEqual(status, 400)
        self.assertTrue(answer["message"].endswith("must contain exactly one of the supported datatypes"), answer)

    def test_an_operation_that_is_not_there_is_named_with_the_version(self):
        version = subprocess.run([OPTIONS.armatured, "--version"], capture_output=True, text=True, check=True).stdout
        error = self.call(ITEMS + "DoMagic", b"")
        self.assertEqual(error.code(), grpc.StatusCode.UNIMPLEMENTED)
        self.assertEqual(self.trailers(error)["x-armature-exception"], "UnknownOperationException")
        self.assertRegex(error.details(), r"^DoMagic is not supported by Armature [\d.]+$")
        self.assertIn(error.details().rpartition(" ")[2], version)
        status, answer = self.daemon.json_call("DoMagic")
        self.assertEqual(status, 400)
        self.assertEqual(answer["message"], error.details())

    def test_the_item_of_a_failed_condition_fits_beside_the_other_details(self):
        item = OPTIONS.types.Item()
        item.attributes["id"].s = "large"
        item.attributes["text"].s = "x" * 3000
        request = OPTIONS.items.PutItemRequest(table_name="Items", item=item)
        self.channel.unary_unary(ITEMS + "PutItem")(request.SerializeToString(), timeout=DEADLINE_S)
        request.condition_expression = "attribute_not_exists(id)"
        request.return_values_on_condition_check_failure = (
            OPTIONS.types.RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD)
        error = self.call(ITEMS + "PutItem", request)
        self.assertEqual(self.detail(error, OPTIONS.errors.ErrorDetail).item, item)
        self.assertEqual(self.detail(error, OPTIONS.details.ErrorInfo).reason, "ConditionalCheckFailedException")

    def test_throttling_tells_when_to_repeat(self):
        self.daemon.create_table("Slow")
        units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
        answer = self.daemon.json_call("UpdateTable", TableName="Slow", BillingMode="PROVISIONED", ProvisionedThroughput=units)
        self.assertEqual(answer[0], 200, answer)
        request = OPTIONS.items.PutItemRequest(table_name="Slow")
        request.item.attributes["id"].s = "a"
        request.item.attributes["text"].s = "x" * 300_000
        put = self.channel.unary_unary(ITEMS + "PutItem")
        with self.assertRaises(grpc.RpcError) as caught:
            for _ in range(1000):
                put(request.SerializeToString(), timeout=DEADLINE_S)
        error = caught.exception
        self.assertEqual(self.trailers(error)["x-armature-exception"], "ProvisionedThroughputExceededException")
        delay = self.detail(error, OPTIONS.details.RetryInfo).retry_delay.ToMilliseconds()
        self.assertEqual(delay, self.detail(error, OPTIONS.errors.ErrorDetail).retry_after_ms)
        self.assertGreater(delay, 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    rest = parser.parse_known_args(namespace=OPTIONS)[1]
    unittest.main(argv=[sys.argv[0], *rest])
