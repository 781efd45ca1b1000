"""Nothing is left for later, switched off, or true on one machine only."""

from __future__ import annotations

import re

import pytest
from findings import expect_none
from sources import code, files, text, with_suffix

# Each with one letter in brackets, so that this file does not find itself.
LATER = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b")
SKIPPED = re.compile(
    r"GTEST_[S]KIP|\b[D]ISABLED_\w"
    r"|pytest\.(mark\.)?(s[k]ip|x[f]ail)|import[o]rskip|unittest\.[s]kip"
)
# Folders of one machine: a home, or the place where somebody keeps a checkout.
FOREIGN = re.compile(r"(?<![\w.$}~\-])/(home|root|Users|work|mnt|media)/")

TEXT = {".md", ".txt", ".cmake", ".toml", ".proto", ".yaml", ".yml"}


@pytest.mark.parametrize(
    ("what", "pattern"),
    [("for later", LATER), ("switched off", SKIPPED), ("of one machine", FOREIGN)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nothing_is(what, pattern):
    found = [
        f"{path}:{number}: {line.strip()}"
        for path in [*code(), *with_suffix(*TEXT)]
        for number, line in enumerate(text(path).splitlines(), 1)
        if pattern.search(line)
    ]
    expect_none(found)


def test_the_patterns_find_what_they_look_for():
    assert LATER.search(f"// {'TO'}DO(me): later")
    assert SKIPPED.search(f"GTEST_{'SKIP'}()")
    assert SKIPPED.search(f"@pytest.mark.{'skip'}if(True)")
    assert SKIPPED.search(f"TEST(A, {'DISABLED'}_B)")
    assert FOREIGN.search(f"open('/{'home'}/me/x')")
    assert not FOREIGN.search("build/work/x")


def test_files_end_with_one_newline():
    wrong = [
        str(path)
        for path in [*code(), *with_suffix(*TEXT)]
        if text(path) and (not text(path).endswith("\n") or text(path).endswith("\n\n"))
    ]
    expect_none(wrong)
    assert len(files()) > 0
