#!/usr/bin/python3
"""Nothing of the documented protocol is silently ignored.

Walks the newest published service model: docs/reference/compatibility.md lists each operation and no other, in the state that the daemon
shows, and the daemon reads or refuses each member of each request. The model is a data file of botocore: the newest from PyPI, else
that of the distribution's package.

A member that is read is found without knowing its meaning: a value of a wrong JSON type is a SerializationException
before anything else is checked.

Run by CTest; by hand: service_model_test.py --armatured PATH --compatibility FILE [unittest arguments]
"""

import argparse
import glob
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import Daemon  # noqa: E402

DOWNLOAD_TIMEOUT_S = 120
INSTALLED = "/usr/lib/python3/dist-packages"
SERVICES = {"DynamoDB_20120810": "dynamodb", "DynamoDBStreams_20120810": "dynamodbstreams"}
# For each kind of shape, a JSON value that no shape of this kind accepts.
WRONG = {"list": "x", "map": "x", "structure": "x"}
OPTIONS = argparse.Namespace()


def unpacked(name, data):
    return json.loads(gzip.decompress(data) if name.endswith(".gz") else data)


def models_of_registry():
    """The models in the newest release, by service; None if the registry cannot be reached."""
    with tempfile.TemporaryDirectory(prefix="armature_model_") as directory:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                   "--dest", directory, "botocore"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=DOWNLOAD_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return None
        wheels = glob.glob(f"{directory}/*.whl")
        if done.returncode != 0 or not wheels:
            return None
        print(f"model: {pathlib.Path(wheels[0]).name}", file=sys.stderr)
        with zipfile.ZipFile(wheels[0]) as wheel:
            files = {service: name for name in wheel.namelist() for service in SERVICES.values()
                     if re.fullmatch(rf"botocore/data/{service}/[^/]+/service-2\.json(\.gz)?", name)}
            return {service: unpacked(name, wheel.read(name)) for service, name in files.items()}


def models_installed():
    models = {}
    for service in SERVICES.values():
        for name in glob.glob(f"{INSTALLED}/botocore/data/{service}/*/service-2.json*"):
            models[service] = unpacked(name, pathlib.Path(name).read_bytes())
    return models


def members_of(model, shape, wrap, path="", seen=frozenset()):
    """For each member below `shape`: its path, and a request in which it alone has a value, of a wrong type."""
    for name, reference in shape.get("members", {}).items():
        inner = model["shapes"][reference["shape"]]

        def around(value, name=name):
            return wrap({name: value})

        yield path + name, around(WRONG.get(inner["type"], []))
        type_name, below = reference["shape"], path + name
        while inner["type"] in ("list", "map"):
            is_list = inner["type"] == "list"
            type_name = (inner["member"] if is_list else inner["value"])["shape"]
            inner = model["shapes"][type_name]
            below += "[]" if is_list else "{}"

            def around(value, outer=around, is_list=is_list):
                return outer([value] if is_list else {"a": value})

        if inner["type"] == "structure" and type_name != "AttributeValue" and type_name not in seen:
            yield from members_of(model, inner, around, below + ".", seen | {type_name})


class ServiceModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.models = models_of_registry() or models_installed()
        if set(cls.models) != set(SERVICES.values()):
            raise unittest.SkipTest("the registry cannot be reached, and no python3-botocore")
        daemon = Daemon(OPTIONS.armatured)
        cls.daemon = daemon.__enter__()
        cls.addClassCleanup(daemon.__exit__)

    def ask(self, target, operation, request):
        _, answer = self.daemon.json_call(operation, service=target, **request)
        return answer.get("__type", "").split("#")[-1], answer.get("message", "")

    def operations(self):
        for target, service in SERVICES.items():
            for name, operation in self.models[service]["operations"].items():
                yield target, self.models[service], name, operation

    def test_operations_are_listed_in_their_state(self):
        listed = dict(re.findall(r"^\| (?:\*Streams:\* )?(\w+) \| (there|setting|not yet|no) \|",
                                 pathlib.Path(OPTIONS.compatibility).read_text(), re.MULTILINE))
        self.assertEqual(set(listed) - {name for _, _, name, _ in self.operations()}, set(), "no operations of the newest model")
        for target, _, name, _ in self.operations():
            with self.subTest(name):
                self.assertIn(name, listed)
                kind, text = self.ask(target, name, {})
                served = not (kind == "UnknownOperationException" and text)
                self.assertEqual(served, listed[name] in ("there", "setting"), f"{kind}: {text}")

    def test_members_are_read_or_refused(self):
        walked = 0
        for target, model, name, operation in self.operations():
            if self.ask(target, name, {})[0] == "UnknownOperationException":
                continue
            shape = model["shapes"][operation["input"]["shape"]]
            for path, request in members_of(model, shape, lambda value: value, seen=frozenset({operation["input"]["shape"]})):
                walked += 1
                with self.subTest(f"{name}: {path}"):
                    kind, text = self.ask(target, name, request)
                    if kind == "UnknownOperationException":
                        self.assertIn(" is not available in this version", text)
                    else:
                        self.assertEqual(kind, "SerializationException", f"ignored: {text}")
        self.assertGreater(walked, 300)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--compatibility", required=True, help="docs/reference/compatibility.md")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
