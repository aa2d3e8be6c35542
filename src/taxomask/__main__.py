"""``python -m taxomask``."""

from .cli import main

main()
