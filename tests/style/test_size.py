"""Files and functions are short enough to be read at a sitting."""

from __future__ import annotations

import ast
import pathlib
import statistics
from collections.abc import Iterator

import lizard
from findings import expect_none
from sources import CPP, code, text, with_suffix

FILE_LINES = 400
MEDIAN_FILE_LINES = 120
FUNCTION_LINES = 70
CODE_COLUMNS = 100


def _lines(path: pathlib.Path) -> int:
    return len(text(path).splitlines())


def _functions(path: pathlib.Path) -> Iterator[tuple[str, int, int]]:
    """(name, first line, lines) of each function; the docstring of a Python one does not count."""
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text(path))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                documented = ast.get_docstring(node, clean=False) or ""
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                yield node.name, node.lineno, lines - len(documented.splitlines())
    elif path.suffix in CPP:
        # The suffix tells lizard the language; it does not know .cuh.
        for function in lizard.analyze_file.analyze_source_code(
            "source.cc", text(path)
        ).function_list:
            lines = function.end_line - function.start_line + 1
            yield function.name, function.start_line, lines


def test_files_are_short():
    expect_none(f"{path}: {_lines(path)}" for path in code() if _lines(path) > FILE_LINES)


def test_the_median_file_fits_two_screens():
    assert statistics.median(_lines(path) for path in code()) <= MEDIAN_FILE_LINES


def test_functions_fit_a_screen():
    found = [
        f"{path}:{first}: {name} has {lines} lines"
        for path in code()
        for name, first, lines in _functions(path)
        if lines > FUNCTION_LINES
    ]
    expect_none(found)


def test_functions_are_found_in_every_language():
    # Guards the two tests above against a parser that quietly finds nothing.
    for suffix in (".cc", ".py"):
        assert any(list(_functions(path)) for path in with_suffix(suffix)), suffix


def test_code_lines_fit_the_column_limit():
    found = [
        f"{path}:{number}"
        for path in code()
        for number, line in enumerate(text(path).splitlines(), 1)
        if len(line) > CODE_COLUMNS
    ]
    expect_none(found)
