"""The list of known differences, known_differences.txt.

An entry is a group of lines `name: text`; an indented line continues the one before, patterns without a blank between, and lines that begin with # are
comments. Names: `peer`, `operation`, `ours`, `theirs` and, optionally, `request` are regular expressions. The first four must match
completely; `request` must be found in the JSON of the request, with sorted members. `why` is the reason why our answer stays.
"""

import re

NAMES = ("peer", "operation", "request", "ours", "theirs", "why")
OPTIONAL = ("request",)


class Entry:
    def __init__(self, line, fields):
        self.line = line
        self.why = fields["why"]
        self.hits = 0
        self.patterns = {name: re.compile(text, re.DOTALL) for name, text in fields.items() if name not in ("why", "request")}
        self.request = re.compile(fields["request"], re.DOTALL) if "request" in fields else None

    def covers(self, request, **texts):
        return all(pattern.fullmatch(texts[name]) for name, pattern in self.patterns.items()) and (
            self.request is None or self.request.search(request) is not None)


def parse(text):
    """The entries of a list. Raises ValueError, with the line, for one that is not well-formed."""
    entries = []
    fields, name, start = {}, None, 0

    def end():
        if fields:
            missing = [field for field in NAMES if field not in fields and field not in OPTIONAL]
            if missing:
                raise ValueError(f"line {start}: no {', '.join(missing)}")
            try:
                entries.append(Entry(start, dict(fields)))
            except re.error as error:
                raise ValueError(f"line {start}: {error}") from None
            fields.clear()

    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            end()
            name = None
        elif line[0].isspace():
            if name is None:
                raise ValueError(f"line {number}: continues nothing")
            fields[name] += (" " if name == "why" else "") + line.strip()
        else:
            name, colon, content = line.partition(": ")
            if not colon or name not in NAMES or name in fields:
                raise ValueError(f"line {number}: not NAME: TEXT, with one of {', '.join(NAMES)} once each")
            start = start if fields else number
            fields[name] = content.strip()
    end()
    return entries


def entry_for(entries, request, **texts):
    """The first entry that covers a difference, or None. Counts it."""
    for entry in entries:
        if entry.covers(request, **texts):
            entry.hits += 1
            return entry
    return None
