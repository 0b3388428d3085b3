"""Tables of documents that list parts of the tree name all of them: folders, layers, rooms, threads, operations."""

import re
import unittest

from tree import FOREIGN_FOLDERS, ROOT, code_files, name_of, tree_files

ARCHITECTURE = ROOT / "docs/internals/architecture.md"
COMPATIBILITY = ROOT / "docs/reference/compatibility.md"
SERVICES = ROOT / "proto/armature/api/v1/service.proto"

# Folders whose README has a table of all folders in them.
FOLDERS_WITH_TABLE = ("storage", "storage/store", "engine", "daemon", "client", "tools", "tests")
FOLDER_COLUMN = re.compile(r"\|\s*Folders?(?: or file)?\s*\|")
# Layers that are no folders of the daemon's code, and so are not in the table of docs/internals/architecture.md.
LAYERS_WITHOUT_ROW = {"cli_support"}
# Layers that are divided into rooms, and their folders.
LAYERS_WITH_ROOMS = {"store": "storage/store", "engine": "engine"}
PRODUCT_FOLDERS = ("storage/", "index/", "engine/", "daemon/")


def rows(text, header):
    """Cells of the rows of the first table whose header line begins with `header`."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(header):
            break
    next(lines, None)
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def folders_in(folder):
    """Names of the folders in `folder` that have files of the project."""
    found = set()
    for path in tree_files():
        name = name_of(path)
        if name.startswith(folder + "/") and "/" in name[len(folder) + 1 :]:
            found.add(name[len(folder) + 1 :].split("/")[0])
    return found - FOREIGN_FOLDERS


def folders_named_in(readme):
    """(name, first folder of it) of each cell of the table of folders."""
    header = next((line for line in readme.splitlines() if FOLDER_COLUMN.match(line)), None)
    for cells in rows(readme, header) if header else ():
        for name in re.findall(r"`([^`]+)`", cells[0]):
            yield name, name.split("/")[0]


def layers_in_build():
    text = (ROOT / "cmake/layers.cmake").read_text()
    return set(re.findall(r"^set\(ARMATURE_ALLOWED_(\w+) ", text, re.MULTILINE))


def thread_names():
    """Thread name -> file, of all threads that the daemon's code names."""
    texts = {}
    for path in code_files():
        if name_of(path).startswith(PRODUCT_FOLDERS):
            texts[name_of(path)] = path.read_text()
    pools = set(re.findall(r"\b(?:ThreadPool|RequestQueue|Worker)>? (\w+)[;{(]", " ".join(texts.values())))
    pattern = re.compile(
        rf"(?:\bSetThreadName\(|\b(?:make_unique<ThreadPool>|ThreadPool|{'|'.join(sorted(pools))})[({{])\"([\w-]+)\""
    )
    return {found: name for name, text in texts.items() for found in pattern.findall(text)}


class InventoriesTest(unittest.TestCase):
    maxDiff = None

    def check(self, findings):
        self.assertFalse(findings, "\n" + "\n".join(findings))

    def test_tables_are_read(self):
        text = "| Folder | Contents |\n| --- | --- |\n| [`a/`](a/README.md) | x |\n| `b`, `c/d` | y |\n\n| `e` | z |\n"
        self.assertEqual([first for _, first in folders_named_in(text)], ["a", "b", "c"])
        self.assertEqual([cells[1] for cells in rows(text, "| Folder")], ["x", "y"])

    def test_tables_of_folders_name_all_folders(self):
        findings = []
        for folder in FOLDERS_WITH_TABLE:
            named = list(folders_named_in((ROOT / folder / "README.md").read_text()))
            for name, first in named:
                if not (ROOT / folder / first).exists():
                    findings.append(f"{folder}/README.md: there is no '{name}'")
            for missing in sorted(folders_in(folder) - {first for _, first in named}):
                findings.append(f"{folder}/README.md: name the folder '{missing}' in the table of folders")
        self.check(findings)

    def test_architecture_names_all_layers(self):
        named, findings = {}, []
        for cells in rows(ARCHITECTURE.read_text(), "| layer | folder |"):
            named[cells[0].strip("`")] = re.search(r"`([^`]+)`", cells[1]).group(1)
        for layer, folder in named.items():
            if not (ROOT / folder).is_dir():
                findings.append(f"docs/internals/architecture.md: layer '{layer}': there is no folder '{folder}'")
        built = layers_in_build() - LAYERS_WITHOUT_ROW
        findings += [f"docs/internals/architecture.md: name the layer '{layer}'" for layer in sorted(built - named.keys())]
        gone = sorted(named.keys() - built)
        findings += [f"docs/internals/architecture.md: no target is the layer '{layer}'" for layer in gone]
        self.check(findings)

    def test_architecture_names_all_rooms(self):
        text = ARCHITECTURE.read_text()
        layers = {re.search(r"`([^`]+)`", cells[1]).group(1) for cells in rows(text, "| layer | folder |")}
        findings = []
        for cells in rows(text, "| layer | rooms |"):
            folder = LAYERS_WITH_ROOMS[cells[0].strip("`")]
            named = set(re.findall(r"`([^`]+)`:", cells[1]))
            rooms = {room for room in folders_in(folder) if f"{folder}/{room}" not in layers}
            findings += [f"docs/internals/architecture.md: name the room '{folder}/{room}'" for room in sorted(rooms - named)]
            findings += [f"docs/internals/architecture.md: there is no room '{folder}/{room}'" for room in sorted(named - rooms)]
        self.check(findings)

    def test_architecture_names_all_threads(self):
        names, named = thread_names(), set()
        self.assertGreater(len(names), 20, "the names of threads are not found")
        for cells in rows(ARCHITECTURE.read_text(), "| thread | does |"):
            named.update(re.findall(r"`([\w-]+)`", cells[0]))
        unnamed = sorted(names.keys() - named)
        findings = [f"{names[name]}: name the thread '{name}' in docs/internals/architecture.md" for name in unnamed]
        findings += [f"docs/internals/architecture.md: no code names a thread '{name}'" for name in sorted(named - names.keys())]
        self.check(findings)

    def test_operations_are_in_the_list_of_differences(self):
        calls = set(re.findall(r"^  rpc (\w+)\(", SERVICES.read_text(), re.MULTILINE))
        states = {}
        for cells in rows(COMPATIBILITY.read_text(), "| operation | state |"):
            states[re.sub(r"^\*.*\* ", "", cells[0])] = cells[1]
        findings = [f"docs/reference/compatibility.md: name the operation '{name}'" for name in sorted(calls - states.keys())]
        for name, state in sorted(states.items()):
            if state not in ("there", "setting", "no"):
                findings.append(f"docs/reference/compatibility.md: '{name}' has an unknown state '{state}'")
            if (name in calls) != (state != "no"):
                findings.append(f"docs/reference/compatibility.md: '{name}' is '{state}', and the protos say otherwise")
        self.check(findings)

    def test_limits_have_the_values_of_the_code(self):
        code = dict(re.findall(r"constexpr \w+ (k\w+) = ([^;]+);", (ROOT / "storage/model/limits.h").read_text()))
        page = (ROOT / "docs/reference/limits.md").read_text()
        limits = re.findall(r"^\| [^|]+ \| ([\d,]+) ?(KB|MB)?[^|]* \| `(k\w+)` \|$", page, re.MULTILINE)
        self.assertGreater(len(limits), 15)
        for number, unit, name in limits:
            value = int(number.replace(",", "")) * {"": 1, "KB": 1 << 10, "MB": 1 << 20}[unit]
            self.assertEqual(value, eval(code[name].replace("'", "")), name)  # pylint: disable=eval-used


class KeystrokesTest(unittest.TestCase):
    def test_the_keystrokes_of_the_manual_are_counted(self):
        text = (ROOT / "docs/reference/cli.md").read_text().split("## Keystrokes")[1].split("\n## ")[0]
        rows = [row for row in text.splitlines() if "`armature" in row and row.startswith("| ")]
        self.assertGreaterEqual(len(rows), 10)
        longer = []
        for row in rows:
            counts = re.findall(r"`([^`]+)` \| (\d+) \|", row)
            for command, keys in counts:
                self.assertEqual(len(command.replace("\\|", "|")), int(keys), command)
            if len(counts) == 3 and int(counts[1][1]) > int(counts[2][1]):
                longer.append(row.split(" |")[0])
        self.assertEqual(longer, ["| put an item"], "the page says why")


if __name__ == "__main__":
    unittest.main()
