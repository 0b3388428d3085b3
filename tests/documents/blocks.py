"""Blocks of code in documents, and the marks that say how they are tested.

A block of `sh`, `bash`, `python` or `js` is run by documents_test, unless the line before it is one of these marks:

    <!-- not run: REASON -->     needs what a test does not have: root, three machines, a toolchain
    <!-- run by PATH -->         another test or script runs it; that file names the page
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = ("sh", "bash", "python", "js")
# Languages that this folder does not run: their blocks need a mark, or a line below.
COMPILED = ("go", "java", "rust")
# Folders of pages that users follow.
FOLDERS = ("docs/start", "docs/develop", "docs/operate", "docs/reference")
# Pages whose blocks of one language are run by another test, such as the check of that language's client.
RUN_BY_CHECKS = {
    ("docs/develop/clients/python.md", "python"): "client/python/check",
    ("docs/develop/clients/node.md", "js"): "client/node/check",
    ("docs/develop/clients/go.md", "go"): "client/go/docs_test.go",
    ("docs/develop/clients/java.md", "java"): "client/java/check",
    ("docs/develop/clients/rust.md", "rust"): "client/rust/check",
    ("docs/develop/clients/read_your_writes.md", "python"): "tests/clients/read_your_writes_test.py",
    ("docs/reference/cli-commands.md", "sh"): "tests/integration/cli_reference_test.py",
    ("docs/develop/clients/read_your_writes.md", "js"): "tests/clients/read_your_writes_test.py",
}
MARK = re.compile(r" *<!-- (not run|run by):? (.+?) -->$")
FENCE = re.compile(r"( *)```(\w*)$")


class Block:
    """line: number of the first line of code. runner: the file that runs it, if another one does. reason: why nothing does."""

    def __init__(self, page, language, line, code, mark):
        self.page, self.language, self.line, self.code = page, language, line, code
        self.reason = mark[1] if mark and mark[0] == "not run" else None
        self.runner = mark[1] if mark and mark[0] == "run by" else RUN_BY_CHECKS.get((page, language))

    def __str__(self):
        return f"{self.page}:{self.line} ({self.language})"

    def is_ours(self):
        return self.reason is None and self.runner is None


def blocks_of(page, text):
    """The blocks of code of a page, in order."""
    found, mark, begin = [], None, None
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if begin is None and fence:
            begin = (number, len(fence[1]), fence[2], mark)
        elif begin is not None and line.strip() == "```":
            start, indent, language, mark = begin
            if language in LANGUAGES + COMPILED:
                code = "".join(text_line[indent:] + "\n" for text_line in lines[start : number - 1])
                found.append(Block(page, language, start + 1, code, mark))
            begin = mark = None
        elif begin is None:
            match = MARK.match(line)
            mark = (match[1], match[2]) if match else None
    return found


def pages():
    """Names of the pages with code for users."""
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.md"))]
    return ["README.md", *(path.relative_to(ROOT).as_posix() for path in found)]


def read(page):
    return blocks_of(page, (ROOT / page).read_text(encoding="utf-8"))
