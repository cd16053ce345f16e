"""The recipe of the embedded code model: from source code to a CESM file.

Stages, each a module and a sub-command of ``python -m codemodel``:

    sources      what is learnt from, under which licence, and what never is
    mine         pairs of (question, code) out of the sources
    bags         pairs as bags of words, ready for training
    vocabulary   the words and word pieces that get a row in the table
    initial      rows to start from
    train        contrastive training of the rows
    cesm         the file that the Go program embeds
    measure      retrieval quality on repositories that were kept back
"""
