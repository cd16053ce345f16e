"""What fit-files.py and fit-minilm.py read: the questions that internal/fitfiles wrote."""


def load(paths):
    """Names of the features, and questions with a row for each candidate: right or not, then its features."""
    names, questions = None, []
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            names = next(lines).strip().split(",")
            for line in lines:
                if line[0] == "#":
                    _, suite, project, qid, n, _ = line.rstrip("\n").split("\t")
                    questions.append({"suite": suite, "project": project, "id": qid, "n": int(n), "rows": []})
                else:
                    questions[-1]["rows"].append([float(x) for x in line.split()])
    return names, questions
