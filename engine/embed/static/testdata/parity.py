"""Writes parity.json.gz and unicode.json.gz: texts and their piece numbers by the tokenizer that the table was trained with.

    python3 testdata/parity.py

Python's own regular expressions and str.lower() are the reference. The output is {"pieces": [...], "rows": [[text, [id, ...]], ...]};
parity.json.gz is for the table in the binary (no pieces given), unicode.json.gz for a vocabulary beyond ASCII.
Only code points that this Python knows are used, so a newer Unicode version on the other side changes nothing.
"""
import gzip, json, pathlib, random, re, struct, unicodedata, zlib

HERE = pathlib.Path(__file__).parent
WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\x00-\x7f\W]+")


def pieces():
    data = (HERE.parent / "code-256.cesm").read_bytes()
    n, dim = struct.unpack("<II", data[8:16])
    return zlib.decompress(data[20 + 2 * n + n * dim + 4:]).decode().split("\n")


def word_ids(number, word):
    if word in number:
        return [number[word]]
    if word.isdigit() and len(word) > 4:
        return []
    word, ids, i = word[:24], [], 0
    while i < len(word):
        for j in range(len(word), i, -1):
            piece = ("##" if i else "") + word[i:j]
            if piece in number:
                ids.append(number[piece])
                i = j
                break
        else:
            i += 1
    return ids


def write(name, texts, pieces, given):
    number = {p: i for i, p in enumerate(pieces)}
    rows = [[t, [i for w in WORD.findall(t) for i in word_ids(number, w.lower())]] for t in texts]
    with gzip.GzipFile(HERE / name, "wb", mtime=0) as f:
        f.write(json.dumps({"pieces": given, "rows": rows}, ensure_ascii=False, separators=(",", ":")).encode())
    print(name, len(rows), "texts", sum(len(r[1]) for r in rows), "ids")


PIECES = pieces()


rnd = random.Random(20261121)
KNOWN = [p for p in PIECES if not p.startswith("##")]
INNER = [p[2:] for p in PIECES if p.startswith("##")]
ASSIGNED = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs", "Co")]
ALNUM = [c for c in ASSIGNED if c.isalnum() and ord(c) > 127]
DIGITS = [c for c in ASSIGNED if c.isdigit()]
CASED = [c for c in ASSIGNED if c.lower() != c]
MODIFIERS = [c for c in ASSIGNED if unicodedata.category(c) == "Lm"]
ODD = "İıſKÅΣσςẞßǅǄǆⅣⅳⒶⓐªº²³¹½①⑤٣४０５𝟘𝔄ʰˢ́̈\u200d\ufeff\u00a0\ufffd_-\x00\x7f😀🚀日本語中文한국어кириллицаΑΒΓאבגعربي"


def join(words):
    style = rnd.randrange(7)
    if style == 0: return words[0] + "".join(w.title() for w in words[1:])
    if style == 1: return "".join(w.title() for w in words)
    if style == 2: return "_".join(words)
    if style == 3: return "_".join(words).upper()
    if style == 4: return words[0].upper() + "".join(w.title() for w in words[1:])
    if style == 5: return "-".join(words) + str(rnd.randrange(10 ** rnd.randrange(1, 9)))
    return "".join(words)


def identifier(): return join(rnd.choices(KNOWN[:8000], k=rnd.randint(1, 4)))
def made_up(): return "".join(rnd.choices("abcdefghijklmnopqrstuvwxyz", k=rnd.randint(1, 40)))
def glued(): return rnd.choice(KNOWN) + "".join(rnd.choices(INNER, k=rnd.randint(1, 6)))
def any_case(): return "".join(rnd.choice((str.upper, str.lower))(c) for c in rnd.choice(KNOWN) + made_up()[:6])
def number(): return rnd.choice((str(rnd.randrange(10 ** rnd.randrange(1, 12))), hex(rnd.randrange(1 << 40)), "".join(rnd.choices(DIGITS, k=rnd.randint(1, 7)))))
def foreign(): return "".join(rnd.choices(ALNUM, k=rnd.randint(1, 30)))
def odd(): return "".join(rnd.choices(ODD + "aAzZ09", k=rnd.randint(1, 12)))
def cased(): return "".join(rnd.choices(CASED + ["Σ"] * 300, k=rnd.randint(1, 6)))
def sigma(): return "".join(rnd.choice(("Σ", "σ", "Α", "ω", "½", "日", rnd.choice(MODIFIERS), rnd.choice(ALNUM))) for _ in range(rnd.randint(1, 9)))
def anything(): return "".join(rnd.choices(ASSIGNED, k=rnd.randint(1, 20)))
def ascii_noise(): return "".join(chr(rnd.randrange(128)) for _ in range(rnd.randint(1, 60)))


def line():
    a, b, c = identifier(), identifier(), rnd.choice((identifier, made_up, glued, number, odd))()
    return rnd.choice((
        f"func ({a[:1]} *{a}) {b}(ctx context.Context, {c} string) error {{", f"    def {b}(self, {c}=None) -> {a}:", f"// {a} {b} the {c}, e.g. {number()}.",
        f"\tif err := {a}.{b}({c}); err != nil {{", f"const {a} = {number()};", f"public static final {a}<{b}> {c} = new {a}<>();", f"#include <{a}/{b}.h>",
        f"SELECT {a} FROM {b} WHERE {c} = '{odd()}'", f"# {a}: {foreign()} – “{b}”", f"[{a}]({b}/{c}.md#L{number()})"))


def text():
    if rnd.randrange(3): return "\n".join(line() for _ in range(rnd.randint(1, 4)))
    makers = (identifier, made_up, glued, any_case, number, number, ascii_noise, foreign, odd, cased, anything)
    return rnd.choice(("", " ", " ", ".")).join(rnd.choice(makers)() for _ in range(rnd.randint(1, 6)))


def unicode_text():
    return rnd.choice(("", " ", " ", "a", "Z")).join(rnd.choice((odd, cased, sigma, foreign, anything, number, identifier))() for _ in range(rnd.randint(1, 4)))


EDGES = ["", " ", "a", "A", "0", "aB", "AB", "ABc", "AbC", "ABC1d", "x" * 200, "X" * 200, "9" * 200, "é" * 200, "日" * 30 + "a", "get" * 20, "ΣΣΣ", "½Σ", "ʰΣʰ", "AΣ", "ΟΔΟΣ ΟΔΟΣ", "İİİ"]
write("parity.json.gz", EDGES + [text() for _ in range(1600)], PIECES, None)

# Every code point that the texts hold is a piece, so that the numbers show where words end, what lower() made of them and where they were cut.
texts = EDGES + [unicode_text() for _ in range(600)]
points = sorted({c for t in texts for w in WORD.findall(t) for c in w.lower()})
pairs = sorted({w.lower()[i:i + 2] for t in texts for w in WORD.findall(t) for i in range(len(w) - 1) if rnd.random() < 0.2})
pairs = [p for p in pairs if len(p) == 2]
numbers = [p for p in points if rnd.random() < 0.1]
keep = [p for p in points if rnd.random() < 0.95]
write("unicode.json.gz", texts, *[keep + pairs + ["##" + p for p in keep if p not in numbers] + ["##" + p for p in pairs[::2]]] * 2)
