#!/usr/bin/env python3
"""Compares the table of features in docs/develop/clients/README.md with the scenarios, their runners and the packages.

Every operation and file of the scenarios belongs to a feature, every runner has every operation and names no file, so
that it runs them all, and every name of a package in the table is in its source.
"""

import pathlib
import re
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "tests/clients/scenarios"
STEP_KEYS = {"with", "timeout", "expect", "unordered", "error", "repeat", "until"}

# By the heading of the column: the sources of a package, and those of its runner of the scenarios. C++ has no runner.
PACKAGES = {
    "Python": ("client/python/src/**/*.py", "client/python/tests/scenario_*.py"),
    "Go": ("client/go/**/*.go", "client/go/scenarios/*.go"),
    "Node.js": ("client/node/src/*.ts", "client/node/scenarios/*.mjs"),
    "Rust": ("client/rust/src/*.rs", "client/rust/scenarios/src/*.rs"),
    "Java": ("client/java/*/src/main/**/*.java", "client/java/scenarios/src/main/**/*.java"),
    "C++": ("client/include/**/*.h", None),
}


def table_of_features():
    """A dict for each row, by the headings."""
    text = (ROOT / "docs/develop/clients/README.md").read_text()
    lines = re.findall(r"^\|.*\|$", text.split("## Features")[1].split("\n## ")[0], re.MULTILINE)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def text_of(pattern):
    return "\n".join(path.read_text() for path in sorted(ROOT.glob(pattern)))


def operations_of(steps):
    for step in steps:
        (operation,) = set(step) - STEP_KEYS
        yield operation


class FeaturesTest(unittest.TestCase):
    def setUp(self):
        self.rows = table_of_features()
        self.tested = {name for row in self.rows for name in names(row["Operations and files of scenarios"])}
        self.files = {path.name: yaml.safe_load(path.read_text()) for path in SCENARIOS.glob("*.yaml")}
        del self.files["tables.yaml"]
        self.operations = {
            operation
            for scenarios in self.files.values()
            for scenario in scenarios
            for operation in operations_of(scenario["steps"])
        }

    def test_features_are_those_of_the_scenarios(self):
        self.assertEqual(self.tested, self.operations | set(self.files))

    def test_no_package_may_skip_a_scenario(self):
        needs = [one["name"] for scenarios in self.files.values() for one in scenarios if "needs" in one]
        self.assertEqual(needs, [], "the table has no column for features that a package may lack")

    def test_every_runner_has_every_operation_and_runs_every_file(self):
        for package, (_, pattern) in PACKAGES.items():
            if pattern is None:
                continue
            runner = text_of(pattern)
            missing = [name for name in sorted(self.operations) if not re.search(rf"\b{name}\b", runner)]
            self.assertEqual(missing, [], f"operations that the runner of {package} lacks")
            named = [name for name in self.files if name in runner]
            self.assertEqual(named, [], f"files that the runner of {package} chooses instead of running all")

    def test_every_package_has_the_names_of_its_column(self):
        for package, (pattern, _) in PACKAGES.items():
            source = text_of(pattern)
            for row in self.rows:
                found = names(row[package])
                self.assertTrue(found or row[package] == "-", f"{row['Feature']}: {package}")
                for name in found:
                    self.assertRegex(source, rf"\b{name}\b", f"{row['Feature']}: {package}")


if __name__ == "__main__":
    unittest.main()
