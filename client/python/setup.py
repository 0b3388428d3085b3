"""Build of the package: generates the messages of the API and the synchronous client.

Run by pip and by python -m build; pyproject.toml has the metadata.
"""

import pathlib
import shutil
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "build_support"))

import synchronous  # noqa: E402

TREE_PROTOS = HERE.parents[1] / "proto"
# In a source distribution; in the tree the protos are where all languages find them.
OWN_PROTOS = HERE / "proto"


def proto_root():
    return OWN_PROTOS if OWN_PROTOS.exists() else TREE_PROTOS


def proto_files(root):
    return sorted(str(path.relative_to(root)) for path in root.glob("armature/*/v1/*.proto"))


class Build(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib)
        self.generate_messages(target)
        synchronous.generate(HERE / "src/armature/_async", target / "armature/_sync")

    def generate_messages(self, target):
        import grpc_tools
        from grpc_tools import protoc

        root = proto_root()
        includes = pathlib.Path(grpc_tools.__file__).parent / "_proto"
        files = proto_files(root)
        arguments = ["protoc", f"-I{root}", f"-I{includes}", f"--python_out={target}", f"--pyi_out={target}", *files]
        if not files or protoc.main(arguments) != 0:
            raise SystemExit("the messages of the API could not be generated")
        for directory in {(target / name).parent for name in files}:
            for package in (directory, directory.parent):
                (package / "__init__.py").touch()


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        root = proto_root()
        for name in proto_files(root):
            copy = pathlib.Path(base_dir) / "proto" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, copy)


setup(cmdclass={"build_py": Build, "sdist": SourceDistribution})
