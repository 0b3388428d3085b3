#!/usr/bin/env python3
"""Writes docs/reference/parity.md: operations, cases and divergences, from the places that already hold them.

    tests/parity/parity.py            # prints the page
    tests/parity/parity.py --record   # writes it
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/differential"), str(ROOT / "tests/tidy")]
import known  # noqa: E402
from prose import wrap  # noqa: E402

PAGE = ROOT / "docs/reference/parity.md"
COMPATIBILITY = ROOT / "docs/reference/compatibility.md"
CASES = ROOT / "tests/conformance/cases"
DIFFERENCES = ROOT / "tests/differential/known_differences.txt"
CLIENTS = ROOT / "tests/clients/README.md"

BACKENDS = ("engine", "grpc", "http")
# Requests of the runner that stand for operations.
STANDS_FOR = {"QueryAll": "Query", "ScanAll": "Scan", "ReadStream": "GetRecords", "AwaitGone": "GetItem"}
REQUEST = re.compile(r"([A-Z]\w+) (?=\{)")
EXACT_ERROR = re.compile(r"=> \w+: ")


class Topic:
    """Counts of one file of cases. requests: by operation. errors: expected errors with their exact text."""

    def __init__(self, name):
        self.name = name
        self.cases = self.pending = self.errors = 0
        self.requests = collections.Counter()
        self.backends = collections.Counter()


def read_topic(name, text):
    """Counts a file of cases."""
    topic = Topic(name)
    marks = {"": {}, "case": {}}
    where = ""

    def end():
        if where == "case":
            only = (marks["case"].get("only") or marks[""].get("only") or " ".join(BACKENDS)).replace(",", " ").split()
            topic.cases += 1
            topic.pending += "pending" in marks["case"] or "pending" in marks[""]
            topic.backends.update(only)

    for line in text.splitlines():
        if line.startswith("## "):
            end()
            where = "case" if line.startswith("## case:") else "setup"
            marks["case"] = {}
        elif mark := re.match(r"(pending|only): (.*)", line):
            marks["case" if where == "case" else ""][mark[1]] = mark[2]
        elif where == "case" and (request := REQUEST.match(line)):
            topic.requests[STANDS_FOR.get(request[1], request[1])] += 1
        elif where == "case" and EXACT_ERROR.match(line):
            topic.errors += 1
    end()
    return topic


def topics():
    return [read_topic(path.stem, path.read_text()) for path in sorted(CASES.glob("*.txt"))]


def table_rows(text, heading):
    """The rows of the first table below a heading, without its first two lines."""
    section = re.split(rf"^#+ {re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)[1]
    rows = []
    for line in section.splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split(" |")])
        elif rows:
            break
    return [[cell.strip() for cell in row] for row in rows[2:]]


def table(headings, rows):
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in lines)


def without_style(text):
    return re.sub(r"\*|`", "", text)


def operations_section(rows, all_topics):
    requests = sum((topic.requests for topic in all_topics), collections.Counter())
    made = []
    for name, state, note in rows:
        bare = without_style(name).split(": ")[-1]
        count = requests.get(bare, 0)
        made.append([name, state, count or "", note])
    return table(["operation", "state", "requests in cases", "differences"], made)


def topics_section(all_topics):
    rows = []
    for topic in all_topics:
        link = f"[{topic.name.replace('_', ' ')}](../../tests/conformance/cases/{topic.name}.txt)"
        rows.append([link, topic.cases, sum(topic.requests.values()), topic.errors])
    return table(["topic", "cases", "requests", "exact texts of errors"], rows)


def peers_section(entries):
    """Differences to other implementations, by the peer."""
    text = []
    by_peer = collections.defaultdict(list)
    for entry in entries:
        by_peer[entry.patterns["peer"].pattern].append(entry)
    for peer, found in by_peer.items():
        text.append(f"### {peer}\n")
        rows = []
        for entry in found:
            operation = entry.patterns["operation"].pattern
            named = "several" if re.search(r"[*+?(\[]", operation) else operation.replace("|", ", ")
            rows.append([named, entry.why.replace("|", "\\|")])
        text.append(table(["operations", "why the daemon answers as it does"], rows) + "\n")
    return "\n".join(text)


def client_rows():
    rows = table_rows(CLIENTS.read_text(), "Clients of the original protocol")
    return [row for row in rows if not row[0].startswith("a web page")]  # no program that people would port


def summary(rows, all_topics, entries, differences):
    states = collections.Counter(state for name, state, _ in rows if "gRPC only" not in name)
    backends = sum((topic.backends for topic in all_topics), collections.Counter())
    cases = sum(topic.cases for topic in all_topics)
    names = {"engine": "in the engine", "grpc": "over gRPC", "http": "over HTTP/JSON"}
    return table(["", ""], [
        ["operations of the API that work", f"{states['there']} of {sum(states.values())}"],
        ["operations whose setting is kept and reported, without an effect", states["setting"]],
        ["operations that are not there", states["no"]],
        ["conformance cases", cases],
        *[[f"cases that run {names[backend]}", backends[backend]] for backend in BACKENDS],
        ["requests in them", sum(sum(topic.requests.values()) for topic in all_topics)],
        ["exact texts of errors in them", sum(topic.errors for topic in all_topics)],
        ["cases that may fail, because a feature is not there", sum(topic.pending for topic in all_topics)],
        ["differences by design", len(differences)],
        ["judged differences to other implementations", len(entries)],
        ["clients that run unmodified against the daemon in tests", len(client_rows())],
    ])


PAGE_FORM = """# Parity

<!-- Written by tests/parity/parity.py --record; a test fails if it is not current. -->

This page counts how far the daemon behaves like DynamoDB, and lists where it does not. All numbers are taken from the
tests and documents of this repository by [tests/parity](../../tests/parity/README.md).

{summary}

The cases state what the API documents, in [files of text](../../tests/conformance/README.md). All of them pass in every
run of the tests, but for those that may fail. They are not run against the original service.

## Operations

*There*: works as documented. *Setting*: stored, validated and reported, without further effect. *No*: answers
`UnknownOperationException`. Requests in cases are those that conformance cases send; further tests send more. Links and
terms are explained in [Compatibility](compatibility.md).

{operations}

## Cases by topic

{topics}

## Differences by design

[Compatibility](compatibility.md) has these, and small ones of settings, jobs, errors and statements.

{differences}

## Other implementations

[Random requests](../../tests/differential/README.md) are sent to the daemon and to other implementations of the API. Every
difference was judged by the documentation of the API. Where the daemon was wrong, it was mended. In these cases its
answer stays:

{peers}
## Clients

These run unmodified against the daemon; only their endpoint is configured.

{clients}
"""


def page():
    """The text of the page."""
    compatibility = COMPATIBILITY.read_text()
    rows = [[*row, ""][:3] for row in table_rows(compatibility, "Operations")]
    differences = table_rows(compatibility, "Differences by design")
    entries = known.parse(DIFFERENCES.read_text())
    all_topics = topics()
    # Links within the page on compatibility lead there, too.
    operations = re.sub(r"\]\(#", "](compatibility.md#", operations_section(rows, all_topics))
    clients = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", table(["client", "from"], [row[:2] for row in client_rows()]))
    return wrap(PAGE_FORM.format(
        summary=summary(rows, all_topics, entries, differences), operations=operations, topics=topics_section(all_topics),
        differences=re.sub(r"\]\(#", "](compatibility.md#", table(["subject", "DynamoDB", "Armature"], differences)),
        peers=peers_section(entries), clients=clients))


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        PAGE.write_text(page())
    else:
        print(page(), end="")
