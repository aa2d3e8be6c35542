"""The tutorial: every command on it is run, and prints what the page shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_every_command_prints_what_the_page_shows() -> None:
    tool = Path(__file__).parents[2] / "tools" / "tutorial"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
