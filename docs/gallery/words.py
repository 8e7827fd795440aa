# SPDX-License-Identifier: GPL-2.0-or-later
#   python3 words.py
"""Objects in a dictionary, visited in the order of another key than that of their creation."""

import random


class Word:
    def __init__(self, text: str) -> None:
        self.text = text
        self.seen = 0
        self.length = len(text)


chance = random.Random(1)
words = {f"word{number}": Word(f"word{number}") for number in range(20_000)}
order = list(words)
chance.shuffle(order)
for _ in range(3):
    for text in order:
        words[text].seen += 1
print(sum(word.seen for word in words.values()))
