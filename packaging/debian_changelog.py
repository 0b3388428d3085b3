#!/usr/bin/python3
"""Prints the changelog of Debian: one entry for the version, with the changes of the newest section of CHANGELOG.md.

    debian_changelog.py --version 0.1.0-1 --date 1764500000 --maintainer "Name <mail>" CHANGELOG.md
"""

import argparse
import email.utils
import pathlib
import re
import sys
import textwrap

COLUMNS = 80


def newest_section(markdown):
    """The lines between the first and the second heading of a version."""
    sections = re.split(r"^## .*$", markdown, flags=re.MULTILINE)
    if len(sections) < 2:
        raise ValueError("there is no heading '## VERSION'")
    return sections[1].splitlines()


def paragraphs(lines):
    """(kind, text) of each paragraph: kind is "item" for an item of a list, else "text". Wrapped lines are joined."""
    found = []
    is_open = False
    for line in lines:
        text = line.strip()
        if not text:
            is_open = False
        elif text.startswith("- "):
            found.append(["item", text[2:]])
            is_open = True
        elif is_open:
            found[-1][1] += " " + text
        else:
            found.append(["text", text])
            is_open = True
    return [(kind, text) for kind, text in found]


def plain(text):
    """Text without Markdown: links become their titles, and code loses its backquotes."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "")


def entry(version, date, maintainer, lines):
    wrapper = {"item": ("  * ", "    "), "text": ("  ", "  ")}
    blocks = []
    for kind, text in paragraphs(lines):
        if kind == "text" and text.endswith(":"):
            blocks.append(f"\n  [ {plain(text[:-1])} ]")
            continue
        first, further = wrapper[kind]
        blocks.append("\n".join(textwrap.wrap(
            plain(text), COLUMNS, initial_indent=first, subsequent_indent=further, break_long_words=False,
            break_on_hyphens=False)))
    body = "\n".join(blocks).strip("\n") or "  * No changes are listed."
    return (f"armature ({version}) unstable; urgency=medium\n\n{body}\n\n"
            f" -- {maintainer}  {email.utils.formatdate(date)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--date", required=True, type=int, help="seconds since 1970")
    parser.add_argument("--maintainer", required=True)
    parser.add_argument("changelog", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        lines = newest_section(arguments.changelog.read_text(encoding="utf-8"))
    except ValueError as error:
        sys.exit(f"debian_changelog.py: {arguments.changelog}: {error}")
    sys.stdout.write(entry(arguments.version, arguments.date, arguments.maintainer, lines))


if __name__ == "__main__":
    main()
