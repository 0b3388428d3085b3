"""Places of tests: each README of the product ends with them, and tests/unit mirrors the tree. Labels of tests are known."""

import re
import unittest

from tree import CODE_FOLDERS, ROOT, is_in, name_of, tree_files

PRODUCT_FOLDERS = (*(folder for folder in CODE_FOLDERS if folder != "tests"), "console", "packaging", "proto")
# Folders whose README is that of a published package, or that are tests themselves.
FOLDERS_WITHOUT_LINE = {"client/go", "client/java", "client/node", "client/node/test", "client/python", "client/python/tests",
                        "client/rust"}
LINE = re.compile(r"Tests: (`[^`]+`(?:, `[^`]+`)*)\.")
# tests/CMakeLists.txt says what they mean.
LABELS = {"quick", "middle", "slow", "clients", "rados"}
LABEL = re.compile(r"\bLABELS? \"?(\w+)|\barmature_(?:python|chaos)_test\(\w+ (\w+)")
TEST_FILE = re.compile(r"_test\.(?:cc|py)$")


def named_places(readme):
    """The paths in the last line of a README; None if it is not a line of tests."""
    match = LINE.fullmatch(readme.rstrip("\n").split("\n")[-1])
    return re.findall(r"`([^`]+)`", match.group(1)) if match else None


def findings_of(folder, readme):
    places = named_places(readme)
    if places is None:
        return [f"{folder}/README.md: end it with a line 'Tests: `tests/unit/{folder}`.' that names the places of the tests"]
    findings = [f"{folder}/README.md: there are no tests '{place}'" for place in places if not (ROOT / place).exists()]
    mirror = f"tests/unit/{folder}"
    if (ROOT / mirror).is_dir() and mirror not in places:
        findings.append(f"{folder}/README.md: name '{mirror}' in the line of tests")
    return findings


class TestPlacesTest(unittest.TestCase):
    maxDiff = None

    def check(self, findings):
        self.assertFalse(findings, "\n" + "\n".join(findings))

    def test_lines_of_tests_are_read(self):
        self.assertEqual(named_places("# a\n\nTests: `tests/unit`, `tests/tidy/tree.py`.\n"), ["tests/unit", "tests/tidy/tree.py"])
        for other in ("# a\n\nTests: none.\n", "Tests: `a`.\n\nb\n", "Tests: `a`"):
            self.assertIsNone(named_places(other))
        self.assertEqual(len(findings_of("tools/none", "Tests: `tests/none`.")), 1)
        self.assertEqual(len(findings_of("storage/base", "Tests: `tests/tidy`.")), 1)

    def test_readmes_of_the_product_name_their_tests(self):
        findings, seen = [], 0
        for path in tree_files():
            folder = name_of(path.parent)
            if path.name != "README.md" or folder in FOLDERS_WITHOUT_LINE:
                continue
            if any(is_in(folder, product) for product in PRODUCT_FOLDERS):
                findings += findings_of(folder, path.read_text())
                seen += 1
        self.assertGreater(seen, 40, "the READMEs are not found")
        self.check(findings)

    def test_folders_of_unit_tests_are_folders_of_the_product(self):
        tested = {name_of(path.parent).removeprefix("tests/unit/") for path in tree_files()
                  if is_in(name_of(path), "tests/unit") and TEST_FILE.search(path.name)}
        self.assertGreater(len(tested), 20, "the tests are not found")
        self.check([f"tests/unit/{folder}: there is no folder '{folder}'; move the tests to the folder of what they test"
                    for folder in sorted(tested) if not (ROOT / folder).is_dir()])

    def test_labels_of_tests_are_known(self):
        findings, seen = [], set()
        for path in tree_files():
            if path.name != "CMakeLists.txt" or not is_in(name_of(path), "tests"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if not line.lstrip().startswith(("#", "function", "cmake_parse")):
                    labels = {first or second for first, second in LABEL.findall(line)}
                    seen |= labels
                    findings += [f"{name_of(path)}:{number}: '{label}' is no label of tests" for label in sorted(labels - LABELS)]
        self.assertEqual(LABELS - seen, set(), "labels are not found")
        self.check(findings)


if __name__ == "__main__":
    unittest.main()
