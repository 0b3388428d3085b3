#!/usr/bin/python3
"""Exports, imports and bulk operations of the real daemon: whole circles, kill -9 in the middle, shapes of boto3.

Run by CTest; by hand: transfer_test.py --armatured PATH [unittest arguments]
"""

import argparse
import base64
import gzip
import hashlib
import json
import pathlib
import random
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import Daemon, open_to_others  # noqa: E402

PATIENCE_S = 120
ARGS = argparse.Namespace()
KEYS = {"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [{"IndexName": "by_g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                                    "Projection": {"ProjectionType": "ALL"}}]}
ARN = "arn:aws:dynamodb:local:000000000000:table/"


def item_of(number):
    return {"id": {"S": f"item {number}"}, "g": {"S": f"g{number % 7}"}, "n": {"N": str(number)},
            "text": {"S": "text " * (number % 50)}, "bytes": {"B": base64.b64encode(bytes([number % 256])).decode()},
            "list": {"L": [{"NULL": True}, {"BOOL": number % 2 == 0}, {"M": {"é": {"NS": ["1", "2.5"]}}}]}}


class TransferTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="armature_transfer_")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        # Exports are imported, so both are the same bucket.
        self.bucket = self.directory / "files" / "bucket"
        self.bucket.mkdir(parents=True)
        self.daemon = None
        self.start()
        self.addCleanup(lambda: self.daemon.__exit__())

    def start(self):
        files = self.directory / "files"
        daemon = Daemon(ARGS.armatured, f"--export_dir={files}", f"--import_dir={files}", "--describe_wait=0",
                        data_dir=self.directory / "data")
        self.daemon = daemon.__enter__()

    def kill(self):
        self.daemon.process.kill()
        self.daemon.__exit__()

    def call(self, operation, **members):
        status, answer = self.daemon.json_call(operation, **members)
        self.assertEqual(status, 200, answer)
        return answer

    def wait(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while True:
            result = condition()
            if result:
                return result
            self.assertLess(time.monotonic(), deadline, "it never came true")

    def end_of(self, operation, **members):
        def ended():
            description = next(iter(self.call(operation, **members).values()))
            return description if "EndTime" in description else None
        return self.wait(ended)

    def create(self, name):
        self.call("CreateTable", TableName=name, **KEYS)
        self.wait(lambda: self.call("DescribeTable", TableName=name)["Table"]["TableStatus"] == "ACTIVE")
        self.call("UpdateContinuousBackups", TableName=name,
                  PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})

    def fill(self, name, count):
        for first in range(0, count, 25):
            self.call("BatchWriteItem", RequestItems={
                name: [{"PutRequest": {"Item": item_of(i)}} for i in range(first, min(first + 25, count))]})

    def scan(self, name, **members):
        items, start = {}, {}
        while True:
            page = self.call("Scan", TableName=name, **members, **start)
            items.update({item["id"]["S"]: item for item in page["Items"]})
            if "LastEvaluatedKey" not in page:
                return items
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def write_input(self, name, count, compress=False):
        lines = "".join(json.dumps({"Item": item_of(i)}) + "\n" for i in range(count)).encode()
        path = self.bucket / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(lines) if compress else lines)

    def check_export(self, description, count):
        self.assertEqual(description["ExportStatus"], "COMPLETED", description)
        self.assertEqual(description["ItemCount"], count)
        manifest = self.bucket / description["ExportManifest"]
        text = manifest.read_bytes()
        md5 = base64.b64encode(hashlib.md5(text).digest()).decode()
        self.assertEqual(manifest.with_suffix(".md5").read_text(), md5)
        summary = json.loads(text)
        self.assertEqual(list(summary), [
            "version", "exportArn", "startTime", "endTime", "tableArn", "tableId", "exportTime", "s3Bucket", "s3Prefix",
            "s3SseAlgorithm", "s3SseKmsKeyId", "manifestFilesS3Key", "billedSizeBytes", "itemCount", "outputFormat", "exportType"])
        self.assertEqual(summary["itemCount"], count)
        items = {}
        for line in (self.bucket / summary["manifestFilesS3Key"]).read_text().splitlines():
            entry = json.loads(line)
            data = (self.bucket / entry["dataFileS3Key"]).read_bytes()
            self.assertEqual(base64.b64encode(hashlib.md5(data).digest()).decode(), entry["md5Checksum"])
            records = gzip.decompress(data).decode().splitlines()
            self.assertEqual(len(records), entry["itemCount"])
            for record in records:
                item = json.loads(record)["Item"]
                items[item["id"]["S"]] = item
        self.assertEqual(len(items), count)
        self.assertEqual(open_to_others(manifest.parent), [])
        return items

    def test_what_is_exported_can_be_imported(self):
        self.create("Source")
        self.fill("Source", 600)
        started = self.call("ExportTableToPointInTime", TableArn=ARN + "Source", S3Bucket="bucket", S3Prefix="x/y")
        export = self.end_of("DescribeExport", ExportArn=started["ExportDescription"]["ExportArn"])
        source = self.scan("Source")
        self.assertEqual(self.check_export(export, 600), source)
        data = str(pathlib.PurePosixPath(export["ExportManifest"]).parent / "data/")
        arn = self.call("ImportTable", S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": data}, InputFormat="DYNAMODB_JSON",
                        InputCompressionType="GZIP", TableCreationParameters={"TableName": "Copy", **KEYS},
                        )["ImportTableDescription"]["ImportArn"]
        imported = self.end_of("DescribeImport", ImportArn=arn)
        self.assertEqual(imported["ImportStatus"], "COMPLETED", imported)
        self.assertEqual((imported["ProcessedItemCount"], imported["ImportedItemCount"], imported["ErrorCount"]), (600, 600, 0))
        self.assertEqual(self.scan("Copy"), source)
        self.assertEqual(self.scan("Copy", IndexName="by_g"), source)
        # Into a table in use.
        self.create("Target")
        arn = self.call("StartBulkPutItems", TableName="Target",
                        InputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": data, "InputFormat": "DYNAMODB_JSON",
                                              "InputCompressionType": "GZIP"},
                        OutputS3Configuration={"S3Bucket": "bucket", "OutputType": ["ERROR"]},
                        )["BulkOperationDescription"]["BulkOperationArn"]
        bulk = self.end_of("DescribeBulkOperation", BulkOperationArn=arn)
        self.assertEqual(bulk["BulkOperationStatus"], "COMPLETED", bulk)
        self.assertEqual(self.scan("Target"), source)

    def test_exports_survive_kills(self):
        self.create("Source")
        self.fill("Source", 5000)
        source = self.scan("Source")
        started = self.call("ExportTableToPointInTime", TableArn=ARN + "Source", S3Bucket="bucket")
        arn = started["ExportDescription"]["ExportArn"]
        for _ in range(4):
            self.kill_after(random.uniform(0, 0.03))
        self.assertEqual(self.check_export(self.end_of("DescribeExport", ExportArn=arn), 5000), source)

    def kill_after(self, seconds):
        """Kills the daemon after a random time; the job is somewhere then."""
        deadline = time.monotonic() + seconds
        self.wait(lambda: time.monotonic() >= deadline)
        self.kill()
        self.start()

    def test_imports_survive_kills(self):
        self.write_input("1.json.gz", 12_000, compress=True)
        self.write_input("2.json.gz", 100, compress=True)
        arn = self.call("ImportTable", S3BucketSource={"S3Bucket": "bucket"}, InputFormat="DYNAMODB_JSON", InputCompressionType="GZIP",
                        TableCreationParameters={"TableName": "Made", **KEYS})["ImportTableDescription"]["ImportArn"]
        kills_inside = 0
        for _ in range(6):
            kills_inside += "EndTime" not in self.call("DescribeImport", ImportArn=arn)["ImportTableDescription"]
            self.kill_after(random.uniform(0, 0.1))
        imported = self.end_of("DescribeImport", ImportArn=arn)
        self.assertEqual(imported["ImportStatus"], "COMPLETED", imported)
        self.assertGreater(kills_inside, 0)
        self.assertEqual((imported["ProcessedItemCount"], imported["ImportedItemCount"], imported["ErrorCount"]), (12_100, 12_100, 0))
        expected = {f"item {i}": item_of(i) for i in range(12_000)}
        self.assertEqual(self.scan("Made"), expected)
        self.assertEqual(self.scan("Made", IndexName="by_g"), expected)
        self.assertEqual(self.call("DescribeTable", TableName="Made")["Table"]["ItemCount"], 12_000)

    def test_bulk_operations_survive_kills(self):
        self.create("Target")
        self.write_input("in/1.json", 6_000)
        with open(self.bucket / "in/1.json", "a", encoding="utf-8") as file:
            file.write("no item\n")
        arn = self.call("StartBulkPutItems", TableName="Target",
                        InputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"},
                        OutputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "out", "OutputType": ["ERROR"]},
                        )["BulkOperationDescription"]["BulkOperationArn"]
        for _ in range(4):
            self.kill_after(random.uniform(0, 0.2))
        bulk = self.end_of("DescribeBulkOperation", BulkOperationArn=arn)
        self.assertEqual(bulk["BulkOperationStatus"], "COMPLETED_WITH_ERRORS", bulk)
        self.assertEqual((bulk["ProcessedItemCount"], bulk["FailedItemCount"]), (6_001, 1))
        self.assertEqual(bulk["ProcessedInputBytes"], bulk["TotalInputBytes"])
        self.assertEqual(self.scan("Target"), {f"item {i}": item_of(i) for i in range(6_000)})
        errors = list((self.bucket / "out").rglob("errors/*.json"))
        lines = [json.loads(line) for path in errors for line in path.read_text().splitlines()]
        self.assertEqual({(line["inputFile"], line["line"], line["record"]) for line in lines}, {("in/1.json", 6001, "no item")})

    def test_a_bulk_operation_is_cancelled_and_paced(self):
        self.create("Target")
        self.write_input("1.json", 6_000)
        arn = self.call("StartBulkPutItems", TableName="Target", MaxWriteRequestUnits=1024,
                        InputS3Configuration={"S3Bucket": "bucket", "InputFormat": "DYNAMODB_JSON"},
                        OutputS3Configuration={"S3Bucket": "bucket", "OutputType": ["ERROR"]},
                        )["BulkOperationDescription"]["BulkOperationArn"]
        begin = time.monotonic()
        self.wait(lambda: self.call("DescribeBulkOperation", BulkOperationArn=arn)["BulkOperationDescription"]["ProcessedItemCount"] >= 1500)
        # Two units for each item: one for the table, one for the index.
        self.assertGreater(time.monotonic() - begin, 1500 * 2 / 1024 * 0.8)
        self.assertEqual(self.call("CancelBulkOperation", BulkOperationArn=arn)["BulkOperationStatus"], "CANCELLING")
        bulk = self.end_of("DescribeBulkOperation", BulkOperationArn=arn)
        self.assertEqual(bulk["BulkOperationStatus"], "CANCELLED", bulk)
        self.assertEqual(len(self.scan("Target")), bulk["ProcessedItemCount"])
        self.assertLess(bulk["ProcessedItemCount"], 6_000)

    def test_boto3_reads_every_answer(self):
        try:
            import boto3  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("no python3-boto3")
        client = boto3.client("dynamodb", endpoint_url=f"http://{self.daemon.http}", region_name="local",
                              aws_access_key_id="a", aws_secret_access_key="b")
        self.addCleanup(client.close)
        self.create("Source")
        self.fill("Source", 10)
        export = client.export_table_to_point_in_time(TableArn=ARN + "Source", S3Bucket="bucket")["ExportDescription"]
        self.assertEqual(export["ExportStatus"], "IN_PROGRESS")
        self.assertTrue(export["ClientToken"], "the SDK makes one")
        done = self.wait(lambda: next(
            (each for each in [client.describe_export(ExportArn=export["ExportArn"])["ExportDescription"]]
             if each["ExportStatus"] != "IN_PROGRESS"), None))
        # Older models do not know the type.
        self.assertEqual((done["ExportStatus"], done["ItemCount"], done.get("ExportType", "FULL_EXPORT")), ("COMPLETED", 10, "FULL_EXPORT"))
        self.assertEqual([each["ExportArn"] for each in client.list_exports(TableArn=ARN + "Source")["ExportSummaries"]],
                         [export["ExportArn"]])
        imported = client.import_table(
            S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": done["ExportManifest"].rsplit("/", 1)[0] + "/data/"},
            InputFormat="DYNAMODB_JSON", InputCompressionType="GZIP",
            TableCreationParameters={"TableName": "Copy", **KEYS})["ImportTableDescription"]
        client.get_waiter("table_exists").wait(TableName="Copy", WaiterConfig={"Delay": 1})
        described = client.describe_import(ImportArn=imported["ImportArn"])["ImportTableDescription"]
        self.assertEqual((described["ImportedItemCount"], described["TableCreationParameters"]["TableName"]), (10, "Copy"))
        self.assertEqual(len(client.list_imports()["ImportSummaryList"]), 1)
        if hasattr(client, "start_bulk_put_items"):  # since 2026
            arn = client.start_bulk_put_items(
                TableName="Copy", InputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "none", "InputFormat": "DYNAMODB_JSON"},
                OutputS3Configuration={"S3Bucket": "bucket", "OutputType": ["ERROR"]})["BulkOperationDescription"]["BulkOperationArn"]
            self.end_of("DescribeBulkOperation", BulkOperationArn=arn)
            bulk = client.describe_bulk_operation(BulkOperationArn=arn)["BulkOperationDescription"]
            self.assertEqual((bulk["BulkOperationStatus"], bulk["FailureCode"]), ("FAILED", "S3NoSuchKey"))
            self.assertEqual(client.cancel_bulk_operation(BulkOperationArn=arn)["BulkOperationStatus"], "FAILED")
            self.assertEqual(len(client.list_bulk_operations()["BulkOperationsSummaryList"]), 1)
        for error, call in (("ExportNotFoundException", lambda: client.describe_export(ExportArn=export["ExportArn"] + "0")),
                            ("ImportNotFoundException", lambda: client.describe_import(ImportArn=imported["ImportArn"] + "0"))):
            with self.assertRaises(getattr(client.exceptions, error)):
                call()

    def test_a_daemon_without_directories_refuses(self):
        with Daemon(ARGS.armatured) as daemon:
            daemon.create_table("Source")
            for operation, members, flag in (
                    ("ExportTableToPointInTime", {"TableArn": ARN + "Source", "S3Bucket": "bucket"}, "--export_dir"),
                    ("ImportTable", {"S3BucketSource": {"S3Bucket": "bucket"}, "InputFormat": "CSV",
                                     "TableCreationParameters": {"TableName": "Made", **KEYS}}, "--import_dir")):
                status, answer = daemon.json_call(operation, **members)
                self.assertEqual(status, 400)
                self.assertIn("ValidationException", answer["__type"])
                self.assertIn(flag, answer["message"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
