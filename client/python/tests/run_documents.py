#!/usr/bin/env python3
"""Runs the code of documents: the blocks ```python of a document in one process, in order, against a daemon of its own.
In a document with lines `<!-- run by client/python/check -->`, only the blocks behind these lines.

    run_documents.py FILE...

The address localhost:7700 of the documents is replaced by the daemon's. Code that ends with `...` lines or that names other hosts
stands in blocks of another language. The daemon: the variable ARMATURED.
"""

import pathlib
import re
import sys
import traceback

import armature.testing

MARK = "<!-- run by client/python/check -->\n"
BLOCK = re.compile(rf"^({re.escape(MARK)})?```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(path):
    text = path.read_text()
    with armature.testing.start() as daemon:
        names = {"__name__": "__main__"}
        for match in BLOCK.finditer(text):
            if MARK in text and not match.group(1):
                continue
            line = text.count("\n", 0, match.start(2))
            code = match.group(2).replace("localhost:7700", daemon.target)
            try:
                # The numbers of lines are those of the document.
                exec(compile("\n" * line + code, str(path), "exec"), names)
            except Exception:
                traceback.print_exc()
                print(f"{path}:{line}: the block fails", file=sys.stderr)
                return False
    return True


def main():
    sys.exit(0 if all([run(pathlib.Path(name)) for name in sys.argv[1:]]) else 1)


if __name__ == "__main__":
    main()
