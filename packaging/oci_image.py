#!/usr/bin/python3
"""Writes a container image as an OCI archive: a tar with the OCI image layout, which `docker load` and `podman load` read.

    oci_image.py --program FILE.deb... --libraries DIR --version 0.1.0 --date 1764500000 --output armature-oci.tar

Two layers: the runtime libraries, from the packages in DIR, and the programs. Nothing is executed and no root is needed:
files go from packages to layers. The same packages make the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import json
import pathlib
import re
import subprocess
import tarfile
import time

USER_ID = 10001
DATA_DIR = "/var/lib/armature"
ENTRYPOINT = ["/usr/bin/armatured", f"--data_dir={DATA_DIR}", "--grpc_listen=0.0.0.0:7700", "--http_listen=0.0.0.0:7701"]
PORTS = ("7700/tcp", "7701/tcp")
# Files that no program here reads. Licences stay.
LEFT_OUT = re.compile(
    r"(usr/bin/armature-bench|usr/share/(man|locale|lintian|bug|info|gcc|gdb|bash-completion|zsh|fish|armature|grpc)|"
    r"usr/lib/(sysusers|tmpfiles)\.d|(usr/)?lib/systemd|etc/(armature|logrotate\.d|ld\.so\.conf\.d)|"
    r"usr/lib/[^/]+/(gconv|audit|engines-3|ossl-modules)|usr/share/doc/[^/]+/(?!copyright$).+)(/|$)")
# A shell is not there, so neither is a login.
PASSWD = f"root:x:0:0:root:/root:/sbin/nologin\narmature:x:{USER_ID}:{USER_ID}:Armature:{DATA_DIR}:/sbin/nologin\n"
GROUP = f"root:x:0:\narmature:x:{USER_ID}:\n"
OCI = "application/vnd.oci.image"


class Layer:
    """The files of a layer by their path: (TarInfo, content)."""

    def __init__(self, date):
        self.date = date
        self.files = {}

    def add(self, info, content=None):
        info.mtime = self.date
        info.uname = info.gname = ""
        info.pax_headers = {}
        self.files[info.name] = (info, content)

    def add_directory(self, name, mode=0o755, owner=0):
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.uid, info.gid = tarfile.DIRTYPE, mode, owner, owner
        self.add(info)

    def add_text(self, name, text):
        info = tarfile.TarInfo(name)
        content = text.encode()
        info.size, info.mode = len(content), 0o644
        self.add(info, content)

    def add_package(self, deb):
        """The files of the package, and its description where scanners of vulnerabilities look for it."""
        content = subprocess.run(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for info in archive:
                content = archive.extractfile(info).read() if info.isreg() else None
                info.name = info.name.removeprefix("./").rstrip("/")
                info.linkname = info.linkname.removeprefix("./")
                if info.name not in ("", ".") and not LEFT_OUT.match(info.name):
                    self.add(info, content)
        fields = subprocess.run(["dpkg-deb", "--field", deb], stdout=subprocess.PIPE, check=True).stdout.decode()
        name = re.search(r"^Package: (.*)$", fields, re.MULTILINE)[1]
        self.add_text(f"var/lib/dpkg/status.d/{name}", fields)

    def add_parents(self):
        for name in list(self.files):
            for parent in pathlib.PurePosixPath(name).parents:
                if str(parent) != "." and str(parent) not in self.files:
                    self.add_directory(str(parent))

    def tar(self):
        self.add_parents()
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name in sorted(self.files):
                info, content = self.files[name]
                archive.addfile(info, io.BytesIO(content) if content is not None else None)
        return buffer.getvalue()


class Archive:
    """An OCI layout in a tar."""

    def __init__(self, date):
        self.date = date
        self.files = {}

    def add_blob(self, content, media_type):
        """Stores the content; its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def add_json(self, document, media_type):
        return self.add_blob(json.dumps(document, sort_keys=True, separators=(",", ":")).encode(), media_type)

    def write(self, path):
        with tarfile.open(path, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name in sorted(self.files):
                info = tarfile.TarInfo(name)
                info.size, info.mode, info.mtime = len(self.files[name]), 0o644, self.date
                archive.addfile(info, io.BytesIO(self.files[name]))


def layers_of(arguments):
    base = Layer(arguments.date)
    base.add_directory("tmp", 0o1777)
    base.add_directory("etc/armature")
    base.add_directory(DATA_DIR[1:], 0o700, USER_ID)
    base.add_text("etc/passwd", PASSWD)
    base.add_text("etc/group", GROUP)
    for deb in sorted(arguments.libraries.glob("*.deb")):
        base.add_package(deb)
    programs = Layer(arguments.date)
    for deb in arguments.program:
        programs.add_package(deb)
    return [("Debian's runtime libraries", base), ("Armature", programs)]


def configuration(arguments, created, layers):
    return {
        "created": created,
        "architecture": arguments.architecture,
        "os": "linux",
        "config": {
            "User": f"{USER_ID}:{USER_ID}",
            "ExposedPorts": {port: {} for port in PORTS},
            "Env": ["PATH=/usr/bin", "LC_ALL=C.UTF-8"],
            "Entrypoint": ENTRYPOINT,
            "Volumes": {DATA_DIR: {}},
            "WorkingDir": DATA_DIR,
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "armature",
                "org.opencontainers.image.description": "database daemon with the data model of Amazon DynamoDB",
                "org.opencontainers.image.version": arguments.version,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [diff_id for _, diff_id, _ in layers]},
        "history": [{"created": created, "created_by": f"tools/package --image: {title}"} for title, _, _ in layers],
    }


def write_image(arguments):
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(arguments.date))
    archive = Archive(arguments.date)
    layers = []
    for title, layer in layers_of(arguments):
        tar = layer.tar()
        packed = archive.add_blob(gzip.compress(tar, 9, mtime=0), f"{OCI}.layer.v1.tar+gzip")
        layers.append((title, "sha256:" + hashlib.sha256(tar).hexdigest(), packed))
    config = archive.add_json(configuration(arguments, created, layers), f"{OCI}.config.v1+json")
    blobs = [packed for _, _, packed in layers]
    manifest = archive.add_json(
        {"schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json", "config": config, "layers": blobs},
        f"{OCI}.manifest.v1+json")
    tag = re.sub(r"[^\w.-]", "-", arguments.version)
    manifest["annotations"] = {"org.opencontainers.image.ref.name": tag}
    manifest["platform"] = {"architecture": arguments.architecture, "os": "linux"}
    archive.files["oci-layout"] = b'{"imageLayoutVersion":"1.0.0"}'
    archive.files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [manifest]}, sort_keys=True).encode()

    def path(descriptor):
        return "blobs/" + descriptor["digest"].replace(":", "/")

    # Docker before version 25 reads this file instead.
    archive.files["manifest.json"] = json.dumps(
        [{"Config": path(config), "RepoTags": [f"armature:{tag}"], "Layers": [path(blob) for blob in blobs]}]).encode()
    archive.write(arguments.output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True, type=pathlib.Path, nargs="+", help="packages of the second layer")
    parser.add_argument("--libraries", required=True, type=pathlib.Path, help="folder with the packages of the first layer")
    parser.add_argument("--version", required=True)
    parser.add_argument("--architecture", required=True)
    parser.add_argument("--date", required=True, type=int, help="seconds since 1970")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    write_image(parser.parse_args())


if __name__ == "__main__":
    main()
