#!/usr/bin/python3
"""The container image, run as a container runtime would: its layers as root, its user, its entrypoint, a network of its own.

    image_test.py --image armature-VERSION-oci.tar [unittest arguments]

Also the files for compose and Kubernetes: the daemon of the image takes their arguments. Exits with 77, and says why, if
namespaces cannot be made here.
"""

import argparse
import hashlib
import json
import pathlib
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from debian_root import Root, checked, reason_to_skip  # noqa: E402

ARGS = argparse.Namespace()
SKIP = 77
BYTES_MAX = 40_000_000
USER = 10001
DATA_DIR = "var/lib/armature"
KEY = json.dumps({"id": {"S": "1"}})
TABLE = ("--table-name", "Things", "--attribute-definitions", "AttributeName=id,AttributeType=S", "--key-schema",
         "AttributeName=id,KeyType=HASH", "--billing-mode", "PAY_PER_REQUEST")
CREDENTIALS = {
    "access_keys": [{"id": "AKOPS", "secret": "0123456789abcdef0123", "policy": "all"}],
    "policies": {"all": {"allow": [{"operations": ["*"], "tables": ["*"]}]}},
}


class Layout:
    """The image in a folder. blob: the content of a descriptor, compared with its digest and size."""

    def __init__(self, folder):
        self.folder = folder
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        self.manifest = json.loads(self.blob(index["manifests"][0]))
        self.config = json.loads(self.blob(self.manifest["config"]))

    def blob(self, descriptor):
        algorithm, digest = descriptor["digest"].split(":")
        content = (self.folder / "blobs" / algorithm / digest).read_bytes()
        if hashlib.sha256(content).hexdigest() != digest or len(content) != descriptor["size"]:
            raise AssertionError(f"{descriptor} does not describe its blob")
        return content

    def unpack(self, root):
        root.mkdir()
        for layer in self.manifest["layers"]:
            algorithm, digest = layer["digest"].split(":")
            with tarfile.open(self.folder / "blobs" / algorithm / digest) as archive:
                archive.extractall(root, numeric_owner=True)
        # A runtime mounts it.
        (root / "proc").mkdir()


class ImageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="armature_image_")
        cls.addClassCleanup(temporary.cleanup)
        cls.work = pathlib.Path(temporary.name)
        with tarfile.open(ARGS.image) as archive:
            archive.extractall(cls.work / "oci")
        cls.layout = Layout(cls.work / "oci")
        cls.settings = cls.layout.config["config"]
        cls.layout.unpack(cls.work / "root")
        cls.root = Root.__new__(Root)
        cls.root.path = cls.work / "root"

    def setUp(self):
        """A volume as a runtime makes it from the folder of the image: empty, with its owner and mode."""
        data = self.root.path / DATA_DIR
        status = data.stat()
        shutil.rmtree(data)
        data.mkdir()
        data.chmod(stat.S_IMODE(status.st_mode))
        shutil.chown(data, USER, USER)

    def container(self, *arguments):
        """The image's program with arguments, as a context manager; see Root.alone."""
        return self.root.alone(*self.settings["Entrypoint"], *arguments, user=self.settings["User"], ready="ready ")

    def refused(self, *arguments):
        """The line of a start that is refused."""
        ended = subprocess.run(
            ["chroot", f"--userspec={self.settings['User']}", self.root.path, *self.settings["Entrypoint"], *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        lines = [line for line in ended.stdout.splitlines() if line.startswith("armatured: ")]
        self.assertEqual((ended.returncode, len(lines)), (1, 1), ended.stdout)
        return lines[0]

    def test_it_says_what_it_is(self):
        self.assertEqual(self.settings["User"], f"{USER}:{USER}")
        self.assertEqual(self.settings["Entrypoint"][0], "/usr/bin/armatured")
        self.assertEqual(set(self.settings["ExposedPorts"]), {"7700/tcp", "7701/tcp"})
        self.assertEqual(list(self.settings["Volumes"]), ["/" + DATA_DIR])
        layers = self.layout.manifest["layers"]
        self.assertEqual(len(layers), len(self.layout.config["rootfs"]["diff_ids"]))
        self.assertLess(sum(layer["size"] for layer in layers), BYTES_MAX)
        for tool in (["skopeo", "inspect", f"oci-archive:{ARGS.image}"], ["skopeo", "inspect", f"oci:{self.work}/oci"]):
            if shutil.which(tool[0]):
                self.assertEqual(json.loads(checked(tool))["Architecture"], self.layout.config["architecture"])

    def test_it_has_no_shell_and_no_program_that_changes_its_user(self):
        programs = {path.name for path in (self.root.path / "usr/bin").iterdir()}
        self.assertEqual(programs, {"armature", "armatured"})
        for path in self.root.path.rglob("*"):
            if path.is_file() and not path.is_symlink():
                self.assertFalse(path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID), path)
        self.assertTrue((self.root.path / "usr/share/doc/librocksdb7.8/copyright").exists(), "licences stay")

    def test_without_a_choice_about_security_it_does_not_start(self):
        self.assertIn("or say --insecure", self.refused())

    def test_a_volume_of_another_owner_is_told_in_one_line(self):
        shutil.chown(self.root.path / DATA_DIR, 0, 0)
        self.assertIn(f"/{DATA_DIR}", self.refused("--insecure"))

    def test_it_serves_ends_by_sigterm_and_keeps_the_data(self):
        with self.container("--insecure") as (inside, process):
            inside.run("armature", "table", "create", *TABLE)
            inside.run("armature", "item", "put", "--table-name", "Things", "--item", KEY)
        self.assertEqual(process.returncode, 0)
        with self.container("--insecure") as (inside, process):
            answer = inside.run("armature", "--output", "json", "item", "get", "--table-name", "Things", "--key", KEY)
            self.assertEqual(json.loads(answer)["Item"], json.loads(KEY))
        self.assertEqual(process.returncode, 0)

    def make_secrets(self):
        """Secrets as Kubernetes mounts them: of root, readable by the group of the container."""
        folder = self.root.path / "etc/armature"
        checked(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-keyout", folder / "server.key", "-out", folder / "server.pem", "-subj", "/CN=localhost",
                 "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        (folder / "credentials.json").write_text(json.dumps(CREDENTIALS), encoding="ascii")
        (folder / "secret").write_text("0123456789abcdef0123\n", encoding="ascii")
        for path in folder.iterdir():
            shutil.chown(path, 0, USER)
            path.chmod(0o440)

    def test_kubernetes_arguments_with_mounted_secrets(self):
        self.make_secrets()
        documents = list(yaml.safe_load_all((ROOT / "packaging/kubernetes/armature.yaml").read_text(encoding="utf-8")))
        (container,) = [document["spec"]["template"]["spec"]["containers"][0]
                        for document in documents if document["kind"] == "StatefulSet"]
        with self.container(*container["args"]) as (inside, process):
            self.assertIn("metrics=0.0.0.0:7702", process.ready_line)
            client = ("armature", "--tls-ca=/etc/armature/server.pem", "--access-key=AKOPS",
                      "--secret-file=/etc/armature/secret")
            inside.run(*client, "table", "create", *TABLE)
            self.assertNotEqual(inside.try_run("armature", "table", "list")[0], 0)
        self.assertEqual(process.returncode, 0)

    def test_compose_arguments(self):
        service = yaml.safe_load((ROOT / "packaging/compose.yaml").read_text(encoding="utf-8"))["services"]["armature"]
        with self.container(*service["command"]) as (inside, _):
            self.assertEqual(service["healthcheck"]["test"][0], "CMD")
            inside.run(*service["healthcheck"]["test"][1:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", required=True, type=pathlib.Path)
    ARGS, rest = parser.parse_known_args()
    if reason := reason_to_skip():
        print(f"image_test: skipped: {reason}", file=sys.stderr)
        sys.exit(SKIP)
    unittest.main(argv=[sys.argv[0], *rest])
