#!/usr/bin/python3
"""Installed files and their places, programs with the installed client library, and Armature inside another project.

Run by CTest; by hand: package_test.py --build build/dev --cmake cmake --cxx c++ --version 0.1.0 [unittest arguments]
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402
ARGS = argparse.Namespace()
TIMEOUT_S = 300
PROGRAMS = ("armatured", "armature", "armature-bench")


def run(*command, **options):
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=TIMEOUT_S,
                           check=False, **options)
    if ended.returncode != 0:
        raise AssertionError(f"{command} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def install(prefix, *arguments, destdir=None):
    environment = {name: value for name, value in os.environ.items() if name != "DESTDIR"}
    if destdir:
        environment["DESTDIR"] = str(destdir)
    return run(ARGS.cmake, "--install", ARGS.build, "--prefix", prefix, *arguments, env=environment)


def files_below(directory):
    return {path.relative_to(directory).as_posix() for path in directory.rglob("*") if not path.is_dir()}


def sections(binary):
    return set(re.findall(r"\] (\.\S+)", run("readelf", "--sections", "--wide", binary)))


class Installed(unittest.TestCase):
    """One installation below an ordinary user's directory, like `--prefix ~/.local`."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="armature_package_")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.work = pathlib.Path(cls.temporary.name)
        cls.prefix = cls.work / "prefix"
        install(cls.prefix)
        cls.files = files_below(cls.prefix)
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": ":".join(
            str(path.parent) for path in cls.prefix.rglob("armature-client.pc"))}

    def text(self, path):
        return (self.prefix / path).read_text()

    def test_all_that_belongs_to_it_is_there(self):
        for path in (
            *(f"bin/{program}" for program in PROGRAMS),
            "share/man/man1/armature.1", "share/man/man1/armature-bench.1", "share/man/man8/armatured.8",
            "share/bash-completion/completions/armature", "share/zsh/site-functions/_armature",
            "share/fish/vendor_completions.d/armature.fish",
            "share/doc/armature/LICENSE", "share/doc/armature/operate/README.md",
            "share/doc/armature/develop/console.md", "share/doc/armature/reference/flags.md", "share/armature/armature.rules.yml",
            "share/armature/grafana-dashboard.json", "share/armature/proto/armature/api/v1/service.proto",
            "etc/armature/armatured.conf", "lib/systemd/system/armatured.service", "lib/sysusers.d/armature.conf",
            "lib/tmpfiles.d/armature.conf",
            "include/armature/client/client.h", "include/armature/api/v1/items.pb.h", "include/armature/version.h",
        ):
            self.assertIn(path, self.files)
        self.assertFalse([path for path in self.files if "disk" in path], "records on disk are the daemon's own")

    def test_unit_and_configuration_name_the_prefix(self):
        unit = self.text("lib/systemd/system/armatured.service")
        self.assertIn(f"ExecStart={self.prefix}/bin/armatured --config={self.prefix}/etc/armature/armatured.conf\n", unit)
        for text in (unit, self.text("etc/armature/armatured.conf")):
            self.assertNotRegex(text, r"(?<!\w)/usr/|(?<!prefix)/etc/")

    def test_programs_tell_the_version(self):
        for program in PROGRAMS:
            self.assertEqual(run(self.prefix / "bin" / program, "--version"), f"{program} {ARGS.version}\n")

    def test_manuals_and_completions_are_read_without_complaint(self):
        for path in sorted(self.files):
            if path.startswith("share/man/"):
                self.assertIn(ARGS.version, self.text(path))
                if shutil.which("groff"):
                    checked = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(self.prefix / path)],
                                             capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
                    self.assertEqual((checked.returncode, checked.stderr), (0, ""), path)
        run("bash", "-n", self.prefix / "share/bash-completion/completions/armature")
        for shell, path in (("zsh", "share/zsh/site-functions/_armature"),
                            ("fish", "share/fish/vendor_completions.d/armature.fish")):
            if shutil.which(shell):
                run(shell, "-n", self.prefix / path)

    def test_programs_are_stripped_and_their_debug_files_are_found_by_build_id(self):
        for program in PROGRAMS:
            stripped = self.prefix / "bin" / program
            self.assertFalse({".symtab", ".debug_info"} & sections(stripped), program)
            build_id = re.search(r"Build ID: (\w\w)(\w+)", run("readelf", "--notes", stripped))
            debug = self.prefix / f"lib/debug/.build-id/{build_id[1]}/{build_id[2]}.debug"
            self.assertIn(".symtab", sections(debug), program)

    def test_an_operators_configuration_is_kept(self):
        file = self.prefix / "etc/armature/armatured.conf"
        first = file.read_text()
        self.addCleanup(file.write_text, first)
        file.write_text("data_dir = /mine\n")
        install(self.prefix, "--component", "runtime")
        self.assertEqual(file.read_text(), "data_dir = /mine\n")

    def test_destdir_holds_everything_once(self):
        destdir = self.work / "stage"
        install("/usr", "--component", "runtime", destdir=destdir)
        files = files_below(destdir)
        self.assertIn("usr/bin/armatured", files)
        self.assertIn("etc/armature/armatured.conf", files)
        self.assertEqual({path.split("/")[0] for path in files}, {"usr", "etc"})
        unit = (destdir / "usr/lib/systemd/system/armatured.service").read_text()
        self.assertEqual(unit, (ROOT / "packaging/armatured.service").read_text(), "it is written for /usr")

    def test_a_program_over_the_cmake_package(self):
        build = self.work / "consumer"
        run(ARGS.cmake, "-G", "Ninja", "-S", HERE / "consumer", "-B", build, f"-DCMAKE_CXX_COMPILER={ARGS.cxx}",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run(ARGS.cmake, "--build", build)
        self.check_consumer(build / "consumer", (build / "daemon").read_text())

    def test_a_program_over_pkg_config(self):
        flags = run("pkg-config", "--cflags", "--libs", "armature-client", env=self.environment).split()
        self.assertEqual(run("pkg-config", "--modversion", "armature-client", env=self.environment).strip(), ARGS.version)
        program = self.work / "pkg_config_consumer"
        run(ARGS.cxx, "-std=c++20", HERE / "consumer/consumer.cc", "-o", program, *flags)
        self.check_consumer(program, self.prefix / "bin/armatured")

    def check_consumer(self, program, armatured):
        libraries = ":".join(sorted({str(path.parent) for path in self.prefix.rglob("libarmature_client.*")}))
        with Daemon(armatured) as daemon:
            printed = run(program, daemon.grpc, env={**os.environ, "LD_LIBRARY_PATH": libraries})
        self.assertEqual(printed, f"armature {ARGS.version}: 0 tables\n")


class Embedded(unittest.TestCase):
    def test_the_host_keeps_its_settings_and_gets_no_tests(self):
        with tempfile.TemporaryDirectory(prefix="armature_host_") as build:
            run(ARGS.cmake, "-G", "Ninja", "-S", HERE / "host", "-B", build, f"-DARMATURE_SOURCE={ROOT}",
                f"-DCMAKE_CXX_COMPILER={ARGS.cxx}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("build", "cmake", "cxx", "version"):
        parser.add_argument(f"--{name}", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
