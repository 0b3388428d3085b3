"""Documents agree with the tree: READMEs name the modules of their folders, links and paths lead somewhere."""

import functools
import pathlib
import re
import unittest

from tree import CODE_FOLDERS, ROOT, code_files, is_in, markdown_blocks, name_of, prose_files, prose_of, tree_files

# Folders that have a README of their own. Modules of other folders are named in the nearest README above.
README_FOLDERS = (
    "proto",
    "storage",
    "storage/base",
    "storage/files",
    "storage/model",
    "storage/codec",
    "storage/store",
    "storage/store/catalog",
    "storage/store/commit",
    "storage/store/log",
    "storage/store/records",
    "storage/store/backup",
    "index",
    "engine",
    "engine/items",
    "engine/tables",
    "engine/backup",
    "engine/check",
    "engine/expr",
    "daemon",
    "daemon/admin",
    "daemon/api",
    "daemon/auth",
    "daemon/console",
    "daemon/grpc",
    "daemon/http",
    "daemon/item_files",
    "daemon/json",
    "daemon/json_front",
    "daemon/message_json",
    "daemon/metrics",
    "daemon/net",
    "daemon/rpc",
    "daemon/telemetry",
    "console",
    "client",
    "client/python",
    "client/python/src/armature",
    "client/python/tests",
    "client/src",
    "client/node",
    "client/node/src",
    "client/node/test",
    "client/java",
    "cmake",
    "tests",
    "tests/unit",
    "tests/integration",
    "tests/conformance",
    "tests/crash",
    "tests/chaos",
    "tests/clients",
    "tests/console",
    "tests/documents",
    "tests/clients/scenarios",
    "tests/fuzz",
    "tests/bench",
    "tests/protos",
    "tests/support",
    "tests/tidy",
    "tools",
    "tools/armature",
    "tools/advise",
    "tools/bench",
)
MODULE_SUFFIXES = (".h", ".cc", ".proto", ".py", ".mjs", ".ts", ".cmake")
MODULE_FOLDERS = (*CODE_FOLDERS, "cmake", "console/src", "proto")
# A table of modules is one whose first column is called so; its first cells are names in backticks.
MODULE_COLUMN = re.compile(r"\|\s*(?:Modules?|Files?|Headers?)\s*\|")
MODULE_CELL = re.compile(r"\|\s*(`[^`|]+`(?:,\s*`[^`|]+`)*)\s*\|\s*(.*?)\s*\|?$")

# The first folder of a path in prose that is meant from the root.
ROOT_FOLDERS = (*CODE_FOLDERS, "cmake", "console", "docs", "proto", "packaging")
PATH = re.compile(r"(?<![\w./:<-])((?:[\w.-]+/)+[\w.*-]*)(?![\w<{])")

# Classes of ours with their namespace, and flags of ours, which have underscores; those of protoc are not ours.
CODE_NAME = re.compile(r"`(?:model|codec|store|index|expr|engine|daemon|client)::(\w+)")
FLAG_NAME = re.compile(r"--(?:no(?=enforce))?([a-z]+(?:_[a-z]+)+)(?<!_out)(?<!_opt)\b")


def without_suffix(name):
    """The stem of a module: its name without the last suffix."""
    for suffix in MODULE_SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def modules():
    """Paths of all modules, without suffix. A header and its source are one module. Tests of one layer are named by what
    they test, so they are not listed."""
    found = set()
    for path in tree_files():
        name = name_of(path)
        if path.suffix not in MODULE_SUFFIXES or not any(is_in(name, folder) for folder in MODULE_FOLDERS):
            continue
        if is_in(name, "tests/unit") and path.stem.endswith("_test"):
            continue
        found.add(without_suffix(name))
    return found


def readme_of(module):
    """Folder whose README names a module: the nearest with a README, at the latest that at the top of its tree."""
    folder = pathlib.PurePath(module).parent
    while "/" in folder.as_posix() and not (ROOT / folder / "README.md").is_file():
        folder = folder.parent
    return folder.as_posix()


def named_in(text):
    """(line number, name, description) of each module that a README's tables name."""
    in_table = False
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            in_table = False
        elif MODULE_COLUMN.match(line):
            in_table = True
        elif in_table and (row := MODULE_CELL.match(line)):
            for name in re.findall(r"`([^`]+)`", row.group(1)):
                yield number, name, row.group(2)


def readme_findings(folder, wanted):
    """Faults of the module tables of one README. `wanted`: modules, relative to the folder."""
    readme = f"{folder}/README.md"
    if not (ROOT / readme).is_file():
        return [f"{readme}: missing; it names {', '.join(sorted(wanted))}"] if wanted else []
    # Public headers are named as programs include them.
    known = {name.removeprefix("include/"): name for name in wanted}
    findings, seen = [], set()
    for number, name, description in named_in((ROOT / readme).read_text()):
        if name.endswith("/"):
            if not (ROOT / folder / name).is_dir():
                findings.append(f"{readme}:{number}: there is no folder '{name}'")
            continue
        module = known.get(without_suffix(name))
        if module is None and (ROOT / folder / name).is_file():
            continue
        if module is None:
            findings.append(f"{readme}:{number}: there is no module '{name}'")
        elif module in seen:
            findings.append(f"{readme}:{number}: '{name}' is named twice")
        elif not description:
            findings.append(f"{readme}:{number}: say what '{name}' is for")
        seen.add(module)
    missing = sorted(known.keys() - {module.removeprefix("include/") for module in seen if module})
    return findings + [f"{readme}: name '{name}' in the table of modules" for name in missing]


def path_exists(path, base):
    """True if `path`, which may be a pattern or leave the suffix out, exists below `base`."""
    target = path.rstrip("/.")
    if "*" in target:
        return any(base.glob(target))
    return (base / target).exists() or any((base / (target + suffix)).exists() for suffix in MODULE_SUFFIXES)


def paths_in(text, folder):
    """Paths that `text` names from the root, or from `folder`, that of the file it stands in."""
    for match in PATH.finditer(text):
        path = match.group(1)
        first = path.split("/")[0]
        if first in ROOT_FOLDERS or (folder != ROOT and not first.startswith(".") and (folder / first).is_dir()):
            yield path


@functools.lru_cache(maxsize=None)
def anchors_of(text):
    """The names by which links lead to the headings of a document."""
    found = set()
    for heading in re.findall(r"^#{1,6} +(.*)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE):
        plain = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        found.add(next(each for each in (name, *(f"{name}-{n}" for n in range(1, 100))) if each not in found))
    return found


class DocumentsTest(unittest.TestCase):
    maxDiff = None

    def check(self, findings):
        self.assertFalse(findings, "\n" + "\n".join(findings))

    def test_tables_of_modules_are_read(self):
        text = "| Module | Job |\n| --- | --- |\n| `a`, `b.h` | both |\n\n| Flag | |\n| --- | --- |\n| `c` | no |\n"
        self.assertEqual(list(named_in(text)), [(3, "a", "both"), (3, "b.h", "both")])

    def test_source_folders_say_what_they_are(self):
        self.check([f"{folder} has no README.md" for folder in README_FOLDERS if not (ROOT / folder / "README.md").is_file()])

    def test_readmes_name_the_modules_of_their_folders(self):
        wanted = {name_of(path.parent): set() for path in tree_files() if path.name == "README.md"}
        for module in modules():
            folder = readme_of(module)
            wanted.setdefault(folder, set()).add(module.removeprefix(folder + "/"))
        findings = []
        for folder in sorted(wanted):
            if any(is_in(folder, top) for top in MODULE_FOLDERS):
                findings += readme_findings(folder, wanted[folder])
        self.check(findings)

    def test_decisions_are_numbered(self):
        findings = []
        for number, path in enumerate(sorted((ROOT / "docs/decisions").glob("*.md")), 1):
            if not path.name.startswith(f"{number:04}-") or not path.read_text().startswith(f"# {number}. "):
                findings.append(f"{name_of(path)}: its name and title should have the number {number}")
        self.check(findings)

    def test_links_in_documents_lead_somewhere(self):
        findings = []
        for path in tree_files():
            if path.suffix != ".md":
                continue
            prose = re.sub(r"^```.*?^```$|`[^`\n]+`(?!\])", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
                if not re.match(r"[a-z]+:", target) and not (path.parent / target).exists():
                    findings.append(f"{name_of(path)}: link to '{target}' leads nowhere")
        self.check(findings)

    def test_anchors_of_links_are_headings(self):
        self.assertEqual(anchors_of("# A `b`: c\n## [D](x) e\n```sh\n# no\n```\n## D e\n"), {"a-b-c", "d-e", "d-e-1"})
        findings = []
        for path in tree_files():
            if path.suffix != ".md":
                continue
            prose = re.sub(r"^```.*?^```$|`[^`\n]+`(?!\])", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
            for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", prose):
                page = path.parent / target if target else path
                if not re.match(r"[a-z]+:", target) and page.suffix == ".md" and page.is_file():
                    if anchor not in anchors_of(page.read_text()):
                        findings.append(f"{name_of(path)}: '{target}' has no heading '#{anchor}'")
        self.check(findings)

    def test_paths_in_comments_and_documents_exist(self):
        findings = []
        for path in prose_files():
            for number, text in prose_of(path):
                for named in paths_in(text, path.parent):
                    if not path_exists(named, ROOT) and not path_exists(named, path.parent):
                        findings.append(f"{name_of(path)}:{number}: there is no '{named}'")
        self.check(findings)

    def test_names_of_code_in_documents_exist(self):
        words = set(re.findall(r"\w+", " ".join(path.read_text() for path in code_files((".cc", ".h", ".py", ".sh")))))
        findings = []
        for path in tree_files():
            if path.suffix != ".md":
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                for name in CODE_NAME.findall(line) + FLAG_NAME.findall(line):
                    if name not in words:
                        findings.append(f"{name_of(path)}:{number}: no code has '{name}'")
        self.check(findings)


if __name__ == "__main__":
    unittest.main()
