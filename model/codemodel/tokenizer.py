"""The tokenizer of the table, the same as engine/embed/static/tokenize.go.

A text is cut into words at everything that is neither letter nor digit and at
camelCase; a lowercase word has one piece if the vocabulary has it, else the longest
pieces from the left ("##" continues a word).
"""

import re

WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\x00-\x7f\W]+")
CONTINUES = "##"
MAX_SUB = 24  # characters of an unknown word that are cut into pieces
LONG_NUMBER = 4  # digits; longer numbers that are not known have no pieces


def words(text):
    return [word.lower() for word in WORD.findall(text)]


class Tokenizer:
    def __init__(self, pieces):
        self.pieces = list(pieces)
        self._number = {piece: i for i, piece in enumerate(self.pieces)}

    def ids(self, text):
        """The numbers of the text's pieces, in order and with repetitions."""
        return [i for word in words(text) for i in self.word_ids(word)]

    def word_ids(self, word):
        """The numbers of a lowercase word's pieces. Characters that no piece covers
        are left out."""
        number = self._number
        if word in number:
            return [number[word]]
        if word.isdigit() and len(word) > LONG_NUMBER:
            return []
        word, found, i = word[:MAX_SUB], [], 0
        while i < len(word):
            for j in range(len(word), i, -1):
                piece = (CONTINUES if i else "") + word[i:j]
                if piece in number:
                    found.append(number[piece])
                    i = j
                    break
            else:
                i += 1
        return found
