"""The command line. Commands are thin: they read what is asked, call the library and print.

Exit codes: 0 done, 1 a promise or a check does not hold, 2 wrong use or bad input.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from .._support.failures import explained, require_memory
from ..errors import PromiseError, TaxomaskError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``taxomask``; ends the program with its exit code."""
    try:
        require_memory()
        from .app import app

        app(args=arguments, prog_name="taxomask")
    except Exception as error:
        known = explained(error)
        if known is None:
            traceback.print_exc()
            known = TaxomaskError("this is a fault of taxomask; nothing was released.", hint="Please report it.")
        print(f"taxomask: {known}", file=sys.stderr)
        sys.exit(1 if isinstance(known, PromiseError) else 2)
