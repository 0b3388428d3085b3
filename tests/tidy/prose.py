"""Lines of prose in documents have at most 120 columns.

`prose.py --wrap` wraps the paragraphs and list items that have longer lines. Tables, code blocks, headings, HTML,
quotes and words that cannot be broken, such as links, stay as they are.
"""

import re
import sys
import unittest

from tree import ROOT, name_of, tree_files

COLUMNS_MAX = 120
# Documents that a program prints.
GENERATED = {"docs/reference/metrics.md"}

FENCE = re.compile(r" *(```|~~~)")
ITEM = re.compile(r"( *)([-*+]|\d+[.)]) +(?=\S)")
# Lines that are no prose, or begin something else than a paragraph.
OTHER = re.compile(r" *(\||#{1,6} |<[A-Za-z/!?]|\[[^\]]+\]: |>|([-*_=] *)+$)")
# Words that would have a meaning of their own at the beginning of a line.
SIGN = re.compile(r"([-*+=]+|\d+[.)]|#{1,6})$|\||>|<[A-Za-z/!?]|```|~~~|\[[^\]]+\]:")
# A code span, which is not broken, or any other character.
PIECE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)|\s+|.", re.DOTALL)


def words_of(text):
    """The words between which a line may end."""
    words, word = [], ""
    for piece in PIECE.finditer(text):
        if not piece.group(0).isspace():
            word += piece.group(0)
        elif word:
            words.append(word)
            word = ""
    if word:
        words.append(word)
    joined = words[:1]
    for word in words[1:]:
        if SIGN.match(word):
            joined[-1] += " " + word
        else:
            joined.append(word)
    return joined


def wrapped(lines):
    """The lines of a paragraph or list item, with at most COLUMNS_MAX columns where words allow it."""
    item = ITEM.match(lines[0])
    first = item.group(0) if item else re.match(" *", lines[0]).group(0)
    rest = " " * len(first)
    result, line, is_empty = [], first, True
    for word in words_of(" ".join([lines[0][len(first) :]] + lines[1:])):
        if not is_empty and len(line) + 1 + len(word) > COLUMNS_MAX:
            result.append(line)
            line, is_empty = rest, True
        line += word if is_empty else " " + word
        is_empty = False
    return result + [line]


def blocks(lines):
    """(number of the first line, lines) of each paragraph and list item; numbers count from 0."""
    block, begin, fenced, in_list, in_html = [], 0, False, False, False
    for number, line in enumerate(lines + [""]):
        is_fence = FENCE.match(line) is not None
        is_item = not fenced and ITEM.match(line) is not None
        is_code = not in_list and not block and line.startswith("    ")
        in_html = line.strip() != "" and (in_html or re.match(r"<[A-Za-z/!?]", line) is not None) and not fenced
        is_other = fenced or is_fence or not line.strip() or is_code or in_html or OTHER.match(line) is not None
        if block and (is_other or is_item):
            yield begin, block
            block = []
        if is_fence:
            fenced = not fenced
        if line.strip() and not fenced:
            in_list = is_item or (in_list and line.startswith(" ")) or (in_list and bool(block))
        if not is_other:
            if not block:
                begin = number
            block.append(line)


def long_blocks(text):
    """(number of the first line, lines, lines as they should be) of blocks with lines that are too long."""
    for begin, block in blocks(text.split("\n")):
        is_broken_on_purpose = any(line.endswith(("  ", "\\")) for line in block)
        if max(map(len, block)) > COLUMNS_MAX and not is_broken_on_purpose and wrapped(block) != block:
            yield begin, block, wrapped(block)


def wrap(text):
    lines = text.split("\n")
    for begin, block, new in reversed(list(long_blocks(text))):
        lines[begin : begin + len(block)] = new
    return "\n".join(lines)


def documents():
    return [path for path in tree_files() if path.suffix == ".md" and name_of(path) not in GENERATED]


class ProseTest(unittest.TestCase):
    maxDiff = None

    def test_paragraphs_and_items_are_wrapped(self):
        long = " ".join(["word"] * 30)
        self.assertEqual(wrap(long), " ".join(["word"] * 24) + "\n" + " ".join(["word"] * 6))
        self.assertEqual(wrap(f"- {long}"), "- " + " ".join(["word"] * 23) + "\n  " + " ".join(["word"] * 7))
        self.assertEqual(wrap(f"12. {long}"), "12. " + " ".join(["word"] * 23) + "\n    " + " ".join(["word"] * 7))
        self.assertEqual(wrap(f"- a\n  - {long}\n- b").count("\n    word"), 1)
        for kept in (f"| {long} |", f"```\n{long}\n```", f"# {long}", "x" * 130, f"<!-- {long} -->", f"    {long}"):
            self.assertEqual(wrap(kept), kept)

    def test_no_line_begins_with_a_sign(self):
        for sign in ("-", "+", "1.", "12)", "#", ">", "|", "<br>", "[a]:"):
            text = "x" * 118 + f" {sign} y"
            self.assertNotRegex(wrap(text), rf"\n *{re.escape(sign)}")
        code = "`a long span of code`"
        self.assertIn("\n" + code, wrap("x" * 110 + " " + code))

    def test_lines_of_prose_are_short(self):
        findings = []
        for path in documents():
            for begin, block, _ in long_blocks(path.read_text()):
                number = begin + 1 + next(i for i, line in enumerate(block) if len(line) > COLUMNS_MAX)
                findings.append(f"{name_of(path)}:{number}: longer than {COLUMNS_MAX}: run tests/tidy/prose.py --wrap")
        self.assertFalse(findings, "\n" + "\n".join(findings))


if __name__ == "__main__":
    if sys.argv[1:] == ["--wrap"]:
        for document in documents():
            document.write_text(wrap(document.read_text()))
    else:
        unittest.main()
