# SPDX-License-Identifier: GPL-2.0-or-later
"""report.py TEXT: dictionaries, small objects, method calls, sorting and slices over a text."""

import sys


class Word:
    """A word with its count and the words seen after it."""

    __slots__ = ("text", "count", "followers")

    def __init__(self, text: str) -> None:
        self.text = text
        self.count = 0
        self.followers: dict[str, int] = {}

    def see(self, follower: str) -> None:
        self.count += 1
        self.followers[follower] = self.followers.get(follower, 0) + 1

    def rank(self) -> tuple[int, str]:
        return (-self.count, self.text)


def distance(left: str, right: str) -> int:
    """Edits between two words."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def main(path: str) -> None:
    words: dict[str, Word] = {}
    previous = Word("")
    with open(path, encoding="ascii") as lines:
        for line in lines:
            for text in line.lower().replace(".", " ").split():
                previous.see(text)
                previous = words.get(text) or words.setdefault(text, Word(text))
    ranked = sorted(words.values(), key=Word.rank)
    pairs = sum(len(word.followers) for word in ranked)
    edits = sum(distance(a.text, b.text) for a, b in zip(ranked, ranked[1:400]))
    print(f"{len(ranked)} words, {pairs} pairs, {edits} edits")
    for word in ranked[:5]:
        print(word.text, word.count)


main(sys.argv[1])
