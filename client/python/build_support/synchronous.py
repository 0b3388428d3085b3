"""Makes the synchronous client from the asyncio one, by its tokens.

Modules that differ more than in words are written by hand in both: runtime, transport and pipeline_stream.
"""

import pathlib
import tokenize

BY_HAND = {"__init__.py", "runtime.py", "transport.py", "pipeline_stream.py"}

WORDS = {
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "AsyncIterator": "Iterator",
    "StopAsyncIteration": "StopIteration",
}

HEADER = "# Generated from the asyncio client by build_support/synchronous.py.\n"


def synchronous_text(text):
    """The text of a module without `async` and `await`."""
    lines = text.splitlines(keepends=True)
    edits = []  # (line, first column, last column, replacement)
    for token in tokenize.generate_tokens(iter(lines).__next__):
        if token.type in (tokenize.NAME, getattr(tokenize, "ASYNC", -1), getattr(tokenize, "AWAIT", -1)):
            (line, start), (_, end) = token.start, token.end
            if token.string in ("async", "await"):
                edits.append((line - 1, start, end + 1, ""))
            elif token.string in WORDS:
                edits.append((line - 1, start, end, WORDS[token.string]))
        elif token.type == tokenize.STRING and token.string.startswith('"""'):
            edits.extend(documentation_edits(token))
    for line, start, end, replacement in sorted(edits, reverse=True):
        lines[line] = lines[line][:start] + replacement + lines[line][end:]
    return HEADER + "".join(lines)


def documentation_edits(token):
    """Examples in docstrings."""
    for offset, line in enumerate(token.line.splitlines() if "\n" not in token.string else token.string.splitlines()):
        shift = token.start[1] if offset == 0 and "\n" in token.string else 0
        for word in ("async ", "await "):
            start = line.find(word)
            while start >= 0:
                yield token.start[0] - 1 + offset, shift + start, shift + start + len(word), ""
                start = line.find(word, start + 1)


def generate(source, target):
    """Writes the modules of the directory `target`."""
    target = pathlib.Path(target)
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(pathlib.Path(source).glob("*.py")):
        if path.name not in BY_HAND:
            (target / path.name).write_text(synchronous_text(path.read_text()))
