"""The house in numbers: files and lines per room, long functions, functions with many parameters, lines about storage.

    python benchmarks/house.py CHECKOUT [CHECKOUT …] [--list]

Functions are counted as they stand, with signature and docstring; in brackets their statements alone. Parameters are
counted without self. Lines about storage are those of methods, measures, evaluation, records and semantics that name a
pickle, a store, a place of an engine or of a file, or that dump, load or drop something.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from pathlib import Path

LONG, MANY = 50, 7
ROOMS = ("methods", "measures", "evaluation", "records", "semantics")
STORAGE = re.compile(
    r"\b(pickle|Keeper|keeper|Here|Site|site|open_site|StoredSite|store|stored|Scratch|scratch|memmap|mmap|tempfile)\b"
    r"|\.(dump|load|drop)\("
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def room(file: Path) -> str:
    return file.parts[0] if len(file.parts) > 1 else "(top)"


def functions(source: Path) -> list[tuple[str, int, int, int]]:
    """Of each function its name, its lines, those of its statements, and its parameters."""
    found = []
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            last = node.end_lineno or node.lineno
            statements = last - body[0].lineno + 1 if body else 0
            given = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            parameters = len(given) - (given[:1] in (["self"], ["cls"]))
            found.append((node.name, last - node.lineno + 1, statements, parameters))
    return found


def code(source: Path) -> dict[int, str]:
    """The lines of a file without texts and comments."""
    lines: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(source.read_text(encoding="utf-8")).readline):
        if token.type not in (tokenize.STRING, tokenize.COMMENT):
            lines[token.start[0]] = lines.get(token.start[0], "") + token.string + " "
    return {number: re.sub(r" ?([.(]) ?", r"\1", text) for number, text in lines.items()}


def show(checkout: Path, listed: bool) -> None:
    home = checkout / "src" / "taxomask"
    files = {file.relative_to(home): file for file in sorted(home.rglob("*.py"))}
    lines = {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in files.items()}
    print(
        f"{checkout}: {len(files)} files, {sum(lines.values()):,} lines, {sum(n > 400 for n in lines.values())} > 400"
    )
    count, total = Counter(map(room, files)), Counter[str]()
    for name, number in lines.items():
        total[room(name)] += number
    print("  " + ", ".join(f"{one} {count[one]}/{total[one]:,}" for one in sorted(count)))
    every = [(f"{name}: {one[0]}", *one[1:]) for name, file in files.items() for one in functions(file)]
    long = [one for one in every if one[1] > LONG]
    alone = sum(one[2] > LONG for one in every)
    print(f"  {len(every):,} functions, {len(long)} over {LONG} lines ({alone})")
    many = [one for one in every if one[3] > MANY and "_kernels" not in one[0]]
    print(f"  {len(many)} with more than {MANY} parameters outside kernels")
    kept = [
        f"{name}:{number}: {text.strip()}"
        for name, file in files.items()
        if name.parts[0].removesuffix(".py") in ROOMS and "_kernels" not in name.name
        for number, text in code(file).items()
        if STORAGE.search(text)
    ]
    print(f"  {len(kept)} lines about storage in {', '.join(ROOMS)}")
    if listed:
        print("\n".join(f"    {one[1]} ({one[2]}) {one[0]}" for one in sorted(long, key=lambda one: -one[1])))
        print("\n".join(f"    {one[3]} {one[0]}" for one in sorted(many, key=lambda one: -one[3])))
        print("\n".join(f"    {one}" for one in kept))


if __name__ == "__main__":
    for where in sys.argv[1:]:
        if where != "--list":
            show(Path(where), "--list" in sys.argv)
