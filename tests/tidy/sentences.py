"""Sentences of the pages for users have at most WORDS_MAX words on the average of their page.

`sentences.py` prints the mean of each document, `sentences.py --long` the longest sentences of pages for users. Words in code count as one for each piece between blanks; tables, code and
headings do not count.
"""

import re
import sys
import unittest

from tree import ROOT, name_of, tree_files

WORDS_MAX = 25
SENTENCE_END = re.compile(r"(?<=[.?!])[\"')*]*\s+")
# Pages for users, all of which have to keep the mean. Decisions and measurements are records.
FOLDERS = ("docs/start", "docs/develop", "docs/operate", "docs/reference")


def paragraphs(text):
    """Paragraphs and items of lists, each as one line, without headings, tables, code and comments."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)", "", text, flags=re.DOTALL)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    block = []
    for line in [*text.splitlines(), ""]:
        starts = re.match(r" *(?:[-*+]|\d+[.)]) +", line)
        if not line.strip() or starts or re.match(r" *(\||#)", line):
            if block:
                yield " ".join(block)
            block = []
        if line.strip() and not re.match(r" *(\||#)", line):
            block.append(line[starts.end() :] if starts else line.strip())


def sentences(text):
    """The sentences of a document, as lists of words."""
    for paragraph in paragraphs(text):
        for sentence in SENTENCE_END.split(paragraph):
            if words := [word for word in sentence.split() if re.search(r"\w", word)]:
                yield words


def mean_words(text):
    """The mean number of words of a sentence; 0 without sentences."""
    lengths = [len(words) for words in sentences(text)]
    return sum(lengths) / len(lengths) if lengths else 0.0


def pages():
    return [path for path in tree_files()
            if path.suffix == ".md" and (name_of(path) == "README.md" or name_of(path).startswith(FOLDERS))]


class SentencesTest(unittest.TestCase):
    def test_sentences_are_counted(self):
        text = "# A b c\n\nOne two three. Four\n[five six](x.md#y). \n\n- seven `a b`\n- eight\n\n| a | b |\n```sh\nx y z\n```\n"
        self.assertEqual([len(words) for words in sentences(text)], [3, 3, 3, 1])
        self.assertEqual(mean_words("One. Two three."), 1.5)
        self.assertEqual(mean_words("# A\n"), 0.0)

    def test_sentences_of_pages_for_users_are_short(self):
        findings = [f"{name_of(path)}: {mean:.1f} words in a sentence, at most {WORDS_MAX} on the average"
                    for path in pages() if (mean := mean_words(path.read_text())) > WORDS_MAX]
        self.assertFalse(findings, "\n" + "\n".join(findings))


def main():
    if sys.argv[1:] == ["--long"]:
        found = [(len(words), name_of(path), " ".join(words)) for path in pages() for words in sentences(path.read_text())]
        for count, name, text in sorted(found, reverse=True)[:50]:
            print(f"{count:4} {name}: {text}")
        return
    for path in sorted(ROOT.rglob("*.md")):
        if not {"node_modules", "build"}.intersection(path.parts):
            print(f"{mean_words(path.read_text()):5.1f} {name_of(path)}")


if __name__ == "__main__":
    main()
