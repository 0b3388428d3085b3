"""Sentences of comments and documents name their subject first.

A sentence that begins with What, Whether, Who, Of, Those or One that makes the reader guess the noun it speaks of.
`sentence_allowance.txt` has the number of such sentences that each folder may still have; questions do not count.
`words.py --lower` lowers the numbers to those found.
"""

import collections
import re
import sys
import unittest

from tree import ROOT, name_of, prose_files, prose_of

ALLOWANCE_FILE = ROOT / "tests/tidy/sentence_allowance.txt"
# How far a folder's number may lie below its allowance before the allowance has to be lowered.
ALLOWANCE_SLACK = 0

RIDDLE = re.compile(r"[\"'(*]*(?:What|Whether|Who|Of|Those|One that)\b")
SENTENCE_END = re.compile(r"(?<=[.:?!])[\"')*]*\s+")


def riddles(text):
    """Sentences of `text` that begin with a word that stands for a noun."""
    for sentence in SENTENCE_END.split(text):
        if RIDDLE.match(sentence) and not sentence.rstrip("\"')*").endswith("?"):
            yield sentence


def folder_of(name):
    """The first two folders of a path: fine enough to find a sentence, coarse enough to stay when files move."""
    return "/".join(name.split("/")[:-1][:2]) or "."


def read_allowance():
    lines = [line.split("#")[0].split() for line in ALLOWANCE_FILE.read_text().splitlines()]
    return {line[0]: int(line[1]) for line in lines if line}


def find_riddles():
    """Folder -> a line for each of its sentences that begin with a riddle."""
    found = collections.defaultdict(list)
    for path in prose_files():
        for number, text in prose_of(path):
            for sentence in riddles(text):
                found[folder_of(name_of(path))].append(f"  {name_of(path)}:{number}: {sentence[:90]}")
    return found


def lower_allowance():
    """Writes the numbers found where they are lower than the allowance."""
    found = find_riddles()
    head = [line for line in ALLOWANCE_FILE.read_text().splitlines() if line.startswith("#")]
    lowered = {folder: min(allowed, len(found[folder])) for folder, allowed in read_allowance().items()}
    lines = [f"{folder} {number}" for folder, number in sorted(lowered.items()) if number > 0]
    ALLOWANCE_FILE.write_text("\n".join([*head, *lines]) + "\n")


class WordsTest(unittest.TestCase):
    maxDiff = None

    def test_riddles_are_recognised(self):
        cases = {
            "Of the message that this was made of: its size.": 1,
            "Size of the message. Whether it fits: see below.": 1,
            "Those that wait, in order.": 1,
            "(Who waits longest goes first.)": 1,
            "One that is full refuses. What else?": 1,
            "What is a lease?": 0,
            "Often full. Offsets count. Whoever.": 0,
            "The row of which this is the key.": 0,
        }
        for text, count in cases.items():
            self.assertEqual(len(list(riddles(text))), count, text)

    def test_sentences_name_their_subject(self):
        found, allowance = find_riddles(), read_allowance()
        messages = []
        for folder in sorted({*found, *allowance}):
            count, allowed = len(found[folder]), allowance.get(folder, 0)
            if count > allowed:
                messages.append(f"{folder}: {count} sentences begin with a riddle, at most {allowed}: name the subject first")
                messages += found[folder]
            elif count < allowed - ALLOWANCE_SLACK:
                messages.append(f"{folder}: {count} sentences, {allowed} allowed: run tests/tidy/words.py --lower")
        self.assertFalse(messages, "\n" + "\n".join(messages))


if __name__ == "__main__":
    if sys.argv[1:] == ["--lower"]:
        lower_allowance()
    else:
        unittest.main()
