"""The tutorial: every command on it is run, and prints what the page shows."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S)


def commands(page: str) -> Iterator[tuple[str, str, int]]:
    """Each command with what it should print and its exit code."""
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, expected = part.partition("\n")
            code = re.search(r"# exit code (\d)$", command)
            yield command, expected, int(code[1]) if code else 0


def plain(text: str) -> str:
    """Without the lines of tables and the spaces that fill columns."""
    lines = (" ".join(line.split()) for line in text.splitlines() if not set(line) <= set(" ─"))
    return "".join(f"{line}\n" for line in lines if line)


def test_every_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    scripts = tmp_path / "bin"
    scripts.mkdir()
    for name, call in (("python", '"$@"'), ("taxomask", '-c "from taxomask.cli import main; main()" "$@"')):
        (scripts / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {call}\n')
        (scripts / name).chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    source = Path(__file__).parents[2] / "src"
    environment = {**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}", "PYTHONPATH": str(source)}
    checker = doctest.OutputChecker()
    for command, expected, code in commands("tutorial.md"):
        done = subprocess.run(command, shell=True, cwd=work, env=environment, capture_output=True, text=True)
        assert done.returncode == code, f"{command}\n{done.stderr}"
        found = plain(done.stdout + done.stderr)
        same = checker.check_output(plain(expected), found, doctest.ELLIPSIS)
        assert same, f"{command}\nexpected\n{plain(expected)}\nfound\n{found}"
    plan = (work / "plan.yaml").read_text(encoding="utf-8")
    for block in blocks("tutorial.md", "yaml"):
        assert block in plan
