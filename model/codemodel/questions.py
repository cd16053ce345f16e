"""Documentation turned into what people type into a search box.

"Returns the index of the first matching element." becomes "get index of first
matching element python" or "how to get the index of the first matching element".
This teaches the table that a question's frame and the language's name say little
about which function is meant, which documentation alone never shows.
"""

import re

_ARTICLES = frozenset("a an the this that these given specified its".split())
_IRREGULAR = {
    "does": "do", "goes": "go", "has": "have", "is": "check", "returns": "get", "return": "get", "gets": "get",
    "whether": "check", "retrieves": "get", "retrieve": "get", "computes": "calculate", "compute": "calculate",
    "instantiates": "create", "constructs": "create", "construct": "create", "determines": "check", "determine": "check",
}
_NOT_VERBS = _ARTICLES | frozenset("note see todo deprecated warning if when for in on as and or not no only same".split())
_CODE_NAME = re.compile(r"[a-z][A-Z]|_|^[A-Z]{2}")
_LANGUAGES = {"javascript": "javascript", "csharp": "c#", "cpp": "c++", "go": "golang", "bash": "bash"}
_FRAMES = ("how to {}", "{}", "{}", "how do i {}", "{}", "{} example", "best way to {}", "can you {}")


def question(sentence, language, random):
    """The sentence as a question, None where it doesn't start with what a
    function does. random: a random.Random."""
    words = re.findall(r"[A-Za-z_][\w'-]*|\d+", sentence)
    if not 3 <= len(words) <= 22:
        return None
    if _CODE_NAME.search(words[0]):  # "ParseURL parses ..."
        words = words[1:]
    verb = _verb(words[0])
    if verb is None:
        return None
    rest = words[1:14]
    if random.random() < 0.5:
        rest = [w for w in rest if w.lower() not in _ARTICLES]
    text = random.choice(_FRAMES).format(" ".join([verb, *rest]).lower())
    spoken = _LANGUAGES.get(language, language)
    return random.choice((f"{text} {spoken}", f"{text} in {spoken}", f"{spoken} {text}", text))


def _verb(word):
    """The plain form of a verb that starts a description ("Parses", "Parse"), None
    for other words."""
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _NOT_VERBS or len(word) < 3 or word.endswith(("ing", "ed", "ly", "tion", "ness", "ment", "er", "or")):
        return None
    if re.search(r"(ss|sh|ch|x|zz)es$", word):
        return word[:-2]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
