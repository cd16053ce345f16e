import random
import zipfile

import pytest

from codemodel import corpus, mine, pairs, prose, questions, sources, words


def extract(text, path):
    return [(p.kind, p.question, p.code) for p in pairs.extract(text, path, random.Random(0))]


def documented(text, path):
    found = [(q, c) for kind, q, c in extract(text, path) if kind == "doc"]
    assert len(found) == 1, found
    return found[0]


BODY = "    first = prepare(value)\n    second = finish(first, value)\n    return first + second\n"


@pytest.mark.parametrize(
    "path, text, declaration",
    [
        ("a.py", 'def join_parts(value):\n    """Joins the parts of a value.\n\n    Args:\n        value: ignored here\n    """\n' + BODY, "def join_parts"),
        ("a.py", "# Joins the parts of a value.\ndef join_parts(value):\n" + BODY, "def join_parts"),
        ("a.go", "// Joins the parts of a value.\nfunc JoinParts(value string) string {\n" + BODY + "}\n", "func JoinParts"),
        ("a.js", "/**\n * Joins the parts of a value.\n * @param {string} value ignored here\n */\nfunction joinParts(value) {\n" + BODY + "}\n", "function joinParts"),
        ("A.cs", "/// <summary>\n/// Joins the parts of a value.\n/// </summary>\npublic string JoinParts(string value)\n{\n" + BODY + "}\n", "public string JoinParts"),
        ("a.rs", "/// Joins the parts of a value.\n///\n/// # Errors\n/// never\n#[inline]\npub fn join_parts(value: &str) -> String {\n" + BODY + "}\n", "pub fn join_parts"),
        ("a.c", "/* Joins the parts of a value. */\nstatic char *\njoin_parts(const char *value)\n{\n" + BODY + "}\n", "join_parts(const"),
        ("a.rb", "# Joins the parts of a value.\ndef join_parts(value)\n" + BODY + "end\n", "def join_parts"),
        ("a.ex", '@doc """\nJoins the parts of a value.\n"""\ndef join_parts(value) do\n' + BODY + "end\n", "def join_parts"),
        ("a.lua", "--- Joins the parts of a value.\nfunction join_parts(value)\n" + BODY + "end\n", "function join_parts"),
        ("a.hs", "-- | Joins the parts of a value.\njoinParts :: String -> String\njoinParts value = first ++ second where\n" + BODY, "joinParts ::"),
        ("a.sh", "# Joins the parts of a value.\nfunction join_parts {\n" + BODY + "}\n", "function join_parts"),
    ],
)
def test_documented_declarations(path, text, declaration):
    question, code = documented(text, path)
    assert question in ("Joins the parts of a value.", "Joins the parts of a value")
    assert declaration in code and "return first + second" in code
    assert "Joins" not in code


def test_licence_directives_and_old_code_are_no_questions():
    body = "def run_all(value):\n" + BODY
    for comment in ("# Copyright 2020 somebody and others", "# pylint: disable=all of these checks", "# value = compute(value); run();", "# ok"):
        assert not [p for p in extract(f"{comment}\n{body}", "a.py") if p[0] == "doc"]


def test_names_and_bodies():
    found = extract("class HTTPServerLoop:\n    pass\n\ndef parse_request_line(value):\n" + BODY * 2, "a.py")
    assert ("name", "parse request line") in [f[:2] for f in found]


def test_inline_comments():
    text = "def f(a):\n    x = 1\n\n    # Wait until the workers have answered\n" + "    for worker in workers_of(a):\n        worker.join_and_forget(timeout=20)\n        log.info('worker %s is done', worker)\n\n    return x\n"
    found = [f for f in extract(text, "a.py") if f[0] == "inline"]
    assert len(found) == 1
    assert found[0][1] == "Wait until the workers have answered" and "return x" not in found[0][2]


def test_markdown_sections():
    text = "# Server\n\n" + "Some words about the server that say a lot.\n" * 4 + "## Time `limits`\n\n" + "Limits are set in seconds for all requests.\n" * 4 + "## 1.2.3\n\n" + "Changed this and that.\n" * 8
    assert [f[1] for f in extract(text, "docs/a.md")] == ["Server", "Server Time limits"]


def test_module_documentation():
    text = '"""Reads calendars from files and tells which entries of them overlap."""\n\nimport os\n' + "\n".join(f"value_{i} = {i}" for i in range(60))
    assert any(kind == "module" and q.startswith("Reads calendars") for kind, q, _ in extract(text, "a.py"))


def test_tests_are_told_apart():
    text = "# Joins the parts of a value.\ndef join_parts(value):\n" + BODY
    assert {f[0] for f in extract(text, "tests/test_a.py")} <= {"testdoc", "path"}


@pytest.mark.parametrize("path", ["vendor/a.go", "a.min.js", "x/node_modules/a.js", "a_pb2.py", "a.png", "README"])
def test_files_that_are_not_read(path):
    assert extract("// Joins the parts of a value.\nfunc JoinParts() {\n" + BODY + "}\n", path) == []


def test_odd_files_are_survived():
    for text in ("", "\n", '"""', "/*", "# ", "def f(:\n", '@doc """', "--[[", "\ufeff" * 100, "(" * 5000, "{-"):
        for name in ("a.py", "a.go", "a.ex", "a.lua", "a.hs", "a.md", "a.php"):
            extract(text, name)


def test_first_sentence_and_markup():
    assert prose.first_sentence("Parses the line of a request. It may fail.") == "Parses the line of a request"
    assert prose.clean(["Calls {@link Foo#bar} and `baz`.", "@param x y"]) == "Calls Foo#bar and baz."


def test_words():
    assert words.split_identifier("HTTPServer_loop2") == ["http", "server", "loop", "2"]
    assert words.of_path("src/main/java/org/UserStore.java") == ["user", "store"]


def test_questions():
    def asked(sentence):
        return {questions.question(sentence, "python", random.Random(i)) for i in range(40)}

    all_ = asked("Returns the index of the first matching element")
    assert "how to get the index of the first matching element python" in all_ or any("get index of first" in q for q in all_)
    assert all("returns" not in q for q in all_)
    assert any("python" in q for q in all_) and any("python" not in q for q in all_)
    assert any(q.startswith("parse url") or " parse url" in q for q in asked("ParseURL parses url strings into parts"))
    assert asked("The parts of a value in order") == {None}
    assert asked("Short one") == {None}


def test_package_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "thing-1.2-py3-none-any.whl", "w") as z:
        z.writestr("thing/core.py", "# Joins the parts of a value.\ndef join_parts(value):\n" + BODY)
        z.writestr("thing/_vendor/other.py", "# Joins all the parts of a value.\ndef join_parts(value):\n" + BODY)
    source = sources.Source("thing", "package", "MIT", "1.2", "train")
    place = corpus.Places(packages=tmp_path).find(source)
    assert [path for path, _ in corpus.read(source, place, sources.DenyList.load())] == ["thing/core.py"]


def test_mining_a_mirror(mirrors, places, tmp_path):
    deny, source = sources.DenyList.load(), mirrors[1][0]
    found = mine.mine_source(source, places.find(source), deny)
    assert {"doc", "question", "path", "commit"} <= set(found)
    everything = [p for some in found.values() for p in some]
    assert not [p for p in everything if p.path.startswith(("vendor", "click"))]
    assert any(p.question == "Parses the cookie of a request into its parts" or p.question.startswith("Parses the cookie") for p in found["doc"])
    assert any(p.question.startswith("Read schedules from the calendar service") for p in found["commit"])
    assert found == mine.mine_source(source, places.find(source), deny)
    for out in ("a", "b"):
        assert mine.mine_all(mirrors[1], places, deny, tmp_path / out, processes=1, report=lambda _: None) == []
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_missing_sources_are_told(tmp_path):
    source = sources.Source("not/here", "git", "MIT", "abc", "train")
    assert mine.mine_all([source], corpus.Places(tmp_path), sources.DenyList.load(), tmp_path / "out", processes=1) == ["not/here"]
