#!/usr/bin/python3
"""Rules about the tree that neither the compiler nor clang-tidy checks.

Layers from the #include lines, sizes of files and functions, banned words, include guards; documents (documents.py);
tables of documents that list parts of the tree (inventories.py); places of tests (test_places.py); columns of prose
(prose.py); words (words.py); lengths of sentences (sentences.py); the format of sources (formatting.py); libraries of others (vendored.py).
Each rule is a test; its message names file, line and what to do.
"""

import pathlib
import re
import unittest

from documents import DocumentsTest  # noqa: F401  (run with the tests of this file)
from formatting import FormattingTest  # noqa: F401
from inventories import InventoriesTest  # noqa: F401
from prose import ProseTest  # noqa: F401
from sentences import SentencesTest  # noqa: F401
from test_places import TestPlacesTest  # noqa: F401
from tree import ROOT, code_files, is_in, name_of, tree_files
from vendored import VendoredTest  # noqa: F401
from words import WordsTest  # noqa: F401

FILE_LINES_MAX = 600
# File -> why it may be longer.
LONG_FILES = {}

FUNCTION_LINES_MAX = 70
# (file, first line of the function, without indentation) -> why it may be longer.
LONG_FUNCTIONS = {}

# Folder or file -> layer, the deepest first.
LAYER_OF_FOLDER = (
    ("storage/base", "base"),
    ("storage/files", "files"),
    ("storage/model", "model"),
    ("storage/codec", "codec"),
    ("storage/store", "store"),
    ("storage/rados", "rados"),
    ("storage/place", "place"),
    ("index", "index"),
    ("engine/expr", "expr"),
    ("engine/access", "access"),
    ("engine", "engine"),
    ("daemon/auth", "auth"),
    # The request that signatures are made over.
    ("daemon/http/http_message.h", "auth"),
    ("daemon/http", "http"),
    ("daemon/net", "net"),
    ("daemon/rpc", "rpc"),
    ("daemon/api", "api"),
    ("daemon/json", "json"),
    ("daemon/item_files", "item_files"),
    ("daemon/message_json", "message_json"),
    ("daemon/json_front", "json_front"),
    ("daemon/console", "console"),
    ("daemon/telemetry", "telemetry"),
    ("daemon", "daemon"),
    ("client", "client"),
    ("tools", "cli_support"),
)

# (pattern, folders or files where it is allowed, what to say).
BANNED = (
    # Threads belong to few, named owners: base has the pool, the workers and the timers. The others hand batches or tables
    # to each other, or end with one change.
    (
        re.compile(r"\bstd::j?thread\b(?!::id)|#include <thread>"),
        ("storage/base", "storage/store/commit/committer.h", "storage/store/commit/committer.cc",
         "storage/store/compaction_switches.h", "storage/store/compaction_switches.cc",
         "index/gsi_applier.h", "index/gsi_applier.cc", "tests", "tools", "client"),
        "use Worker, ThreadPool or TimerQueue of storage/base",
    ),
    (
        re.compile(r"\bsleep_for\b|\bsleep_until\b|\babsl::SleepFor\b|\busleep\("),
        ("tools", "client", "storage/base", "tests/bench"),  # benchmarks follow schedules
        "wait for the event itself, with a deadline",
    ),
    (re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))"), (), "name an issue: TODO(#123)"),
    (re.compile(r"\busing namespace\b"), (), "name what you use"),
    (re.compile(r"#include [<\"]iostream\b"), ("tools", "client", "tests"), "not in the daemon"),
    (re.compile(r"#include [<\"]boost/(?!crc\b)"),
     ("daemon/http", "daemon/standby/tcp_relay.cc", "tests", "tools/armature/top/metrics_page.cc", "tools/bench"),
     "Boost stays in daemon/http, the relay, load generators and the reader of metrics"),
)

# (pattern of headers, folders or files where they are allowed, what to say). No other file includes them, and no file of
# the product reaches them by way of other headers.
HEADERS = (
    (
        re.compile(r"rocksdb/"),
        ("storage/store", "storage/rados", "tests/unit/storage/store", "tests/rados", "tests/bench/rocksdb_floor.cc",
         "tests/bench/memtable_bench.cc", "tests/bench/floor_database.h", "tests/bench/floor_database.cc",
         "tests/bench/floor_methods.h", "tests/bench/floor_methods.cc", "tests/bench/floor_rows.h", "tests/bench/floor_rows.cc"),
        "RocksDB stays in storage/store and in volumes",
    ),
    (
        re.compile(r"(grpc|grpcpp|armature/(api|admin))/"),
        ("daemon", "client", "tools", "tests"),
        "gRPC and API messages stay above the engine",
    ),
    (
        re.compile(r"storage/store/records/"),
        ("storage/store", "tests/unit/storage/store"),
        "disk records are the store's own",
    ),
)


def layer_of(name):
    for folder, layer in LAYER_OF_FOLDER:
        if name == folder or is_in(name, folder):
            return layer
    return None


def includes():
    """File -> the headers that it includes, those of the project by the path of their file."""
    files = {name_of(path): path for path in code_files()}
    public = {name.removeprefix("client/include/"): name for name in files if is_in(name, "client/include")}
    found = {}
    for name, path in files.items():
        headers = re.findall(r'^#include [<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)
        found[name] = [public.get(header, header) for header in headers]
    return found


def way_to(pattern, name, graph):
    """The shortest way of includes from a file, which it leaves out, to a header that matches; None without one."""
    ways, pending = {name: ()}, [name]
    for file in pending:
        for header in graph[file]:
            if pattern.match(header):
                return ways[file] + (header,)
            if header in graph and header not in ways:
                ways[header] = ways[file] + (header,)
                pending.append(header)
    return None


def allowed_layers():
    """The graph, from the one place that defines it."""
    text = (ROOT / "cmake/layers.cmake").read_text()
    graph = {}
    for layer, uses in re.findall(r"^set\(ARMATURE_ALLOWED_(\w+) ([^)]*)\)", text, re.MULTILINE):
        graph[layer] = set(uses.replace('"', "").split())
    return graph


def without_comments_and_strings(text):
    """The same lines, with comments and literals blanked out."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
    )

    def blank(match):
        # A separator of digits (1'000'000) is no literal.
        if match.group(0).startswith("'") and re.match(r"[0-9a-fA-F]", text[match.start() - 1 : match.start()]):
            return match.group(0)
        return "\n" * match.group(0).count("\n")

    return pattern.sub(blank, text)


def functions(lines):
    """(first line number, last line number) of bodies: from a line that ends in '{' and looks like the end of a
    function's head, to the '}' at the same indentation. The tree is clang-formatted, so indentation tells. Close enough
    for tests; clang-tidy counts exactly in the rest of the tree."""
    for number, line in enumerate(lines):
        if not re.search(r"\)( const| noexcept| override| final| mutable|( ->|:) [\w:<>, ]+)* \{$", line):
            continue
        indent = re.match(r" *", line).group(0)
        if re.match(r" *(\}? ?else|if|for|while|switch|do|ARM_|namespace)\b", line) or "](" in line:
            continue
        start = number
        while start > 0 and len(re.match(r" *", lines[start]).group(0)) > 2 and lines[start - 1].strip():
            start -= 1  # a head of several lines
        start_indent = re.match(r" *", lines[start]).group(0) if start != number else indent
        for end in range(number + 1, len(lines)):
            if lines[end].startswith(start_indent + "}"):
                yield start, end
                break


class TidyTest(unittest.TestCase):
    maxDiff = None

    def check(self, findings):
        self.assertFalse(findings, "\n" + "\n".join(findings))

    def test_there_is_code_to_check(self):
        self.assertGreater(len(list(code_files())), 100)

    def test_includes_follow_the_layers(self):
        graph = allowed_layers()
        self.assertEqual(graph["codec"], {"base", "model"}, "cmake/layers.cmake is not read right")
        findings = []
        for path in code_files():
            name = name_of(path)
            layer = layer_of(name)
            if layer is None:  # tests see everything
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = re.match(r'#include "([^"]+)"', line)
                used = layer_of(match.group(1)) if match else None
                if match and pathlib.PurePath(match.group(1)).parent == pathlib.PurePath(name).parent:
                    continue
                if used and used != layer and used not in graph[layer]:
                    findings.append(f"{name}:{number}: layer '{layer}' may not include '{match.group(1)}'")
        self.check(findings)

    def test_headers_stay_in_their_folders(self):
        graph = includes()
        self.assertIsNotNone(way_to(re.compile("rocksdb/"), "storage/store/database.cc", graph), "includes are not read right")
        reached = {}  # (file with the include, header, advice) -> files above
        for pattern, allowed, advice in HEADERS:
            for name in graph:
                if any(is_in(name, folder) for folder in allowed):
                    continue
                way = way_to(pattern, name, graph)
                if way and (len(way) == 1 or not is_in(name, "tests")):
                    reached.setdefault(((name,) + way)[-2:] + (advice,), []).append(name)
        self.check([
            f"{file}: '{header}' reaches {len(names)} files, such as {names[0]}: {advice}"
            for (file, header, advice), names in reached.items()
        ])

    def test_project_includes_name_the_path_from_the_root(self):
        findings = []
        for path in code_files():
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = re.match(r'#include "([^"]+)"', line)
                if match and ("/" not in match.group(1) or match.group(1).startswith(".")):
                    findings.append(f"{name_of(path)}:{number}: \"{match.group(1)}\" is not a path from the root")
        self.check(findings)

    def test_banned_words(self):
        findings = []
        for path in code_files():
            name = name_of(path)
            text = path.read_text()
            bare = without_comments_and_strings(text).splitlines()
            for number, line in enumerate(text.splitlines(), 1):
                for pattern, allowed, advice in BANNED:
                    if any(is_in(name, folder) for folder in allowed):
                        continue
                    # Includes and notes stand where the blanked text has nothing.
                    raw = line.startswith("#include") or "TODO" in pattern.pattern
                    if pattern.search(line if raw else bare[number - 1]):
                        findings.append(f"{name}:{number}: '{line.strip()}': {advice}")
        self.check(findings)

    def test_files_of_databases_are_reached_through_a_volume(self):
        """No module of the store but storage/store/files knows the file systems of the machine."""
        allowed = ("storage/store/files", "storage/store/disk_space.cc")  # the latter counts descriptors
        local = re.compile(
            r"#include <(filesystem|fstream|fcntl\.h|sys/(stat|file|statvfs)\.h)>|std::filesystem"
            r"|\b(Env|FileSystem)::Default\(|\bstd::rename\("
            r"|(?<![\w.>])(unlink|rmdir|truncate|ftruncate|fsync|fdatasync|pread|pwrite|access)\("
        )
        findings = []
        for path in code_files():
            name = name_of(path)
            if not is_in(name, "storage/store") or any(is_in(name, folder) for folder in allowed):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if local.search(line):
                    findings.append(f"{name}:{number}: '{line.strip()}': use a Volume (storage/store/files)")
        self.check(findings)

    def test_files_are_not_too_long(self):
        findings = []
        for path in code_files((".cc", ".h", ".py", ".mjs", ".ts")):
            name = name_of(path)
            lines = len(path.read_text().splitlines())
            if lines > FILE_LINES_MAX and name not in LONG_FILES:
                findings.append(f"{name}: {lines} lines, at most {FILE_LINES_MAX}: split it")
        self.check(findings)

    def test_functions_are_not_too_long(self):
        findings = []
        for path in code_files():
            name = name_of(path)
            lines = without_comments_and_strings(path.read_text()).splitlines()
            for start, end in functions(lines):
                head = lines[start].strip()
                if head.startswith("TEST") or (name, head) in LONG_FUNCTIONS:
                    continue
                if end - start + 1 > FUNCTION_LINES_MAX:
                    findings.append(f"{name}:{start + 1}: {end - start + 1} lines, at most {FUNCTION_LINES_MAX}: {head}")
        self.check(findings)

    def test_packages_are_found_in_one_place(self):
        search = re.compile(r"^\s*(find_package|find_library|find_path|pkg_check_modules|pkg_search_module)\(", re.MULTILINE)
        files = [path for path in tree_files() if path.name == "CMakeLists.txt" or path.suffix == ".cmake"]
        # The package test's program is a project of its own.
        others = (ROOT / "cmake/deps.cmake", ROOT / "tests/package/consumer/CMakeLists.txt")
        found = [name_of(file) for file in files if file not in others and search.search(file.read_text())]
        self.check([f"{name}: look for packages in cmake/deps.cmake" for name in found])

    def test_lists_of_exceptions_are_in_step(self):
        for name in LONG_FILES:
            self.assertGreater(len((ROOT / name).read_text().splitlines()), FILE_LINES_MAX, name)
        for name, head in LONG_FUNCTIONS:
            self.assertIn(head, (ROOT / name).read_text())

    def test_include_guards_name_the_path(self):
        findings = []
        for path in code_files((".h",)):
            name = name_of(path)
            # Public headers of the client are included from client/include.
            public = name.removeprefix("client/include/").removeprefix("armature/")
            wanted = {
                "ARMATURE_" + re.sub(r"[^A-Za-z0-9]", "_", variant).upper() + "_"
                for variant in (name, public, "client/" + public.removeprefix("client/"))
            }
            text = path.read_text()
            match = re.search(r"^#ifndef (\w+)\n#define (\w+)\n", text, re.MULTILINE)
            guard = match.group(1) if match and match.group(1) == match.group(2) else None
            if guard not in wanted:
                findings.append(f"{name}: its include guard should be {sorted(wanted)[0]}")
            elif not text.rstrip().endswith(f"#endif  // {guard}"):
                findings.append(f"{name}: it should end with '#endif  // {guard}'")
        self.check(findings)


if __name__ == "__main__":
    unittest.main()
