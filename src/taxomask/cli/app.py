"""The commands of ``taxomask``."""

from __future__ import annotations

from typing import Annotated

import typer

from .._version import __version__
from . import compare, demo, evaluate, inspect, methods, protect, seed, serve, taxonomy, verify_record

__all__ = ["app"]

app = typer.Typer(
    help="Anonymize tables about people, and keep what their codes mean.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(taxonomy.app, name="taxonomy")
app.command("demo")(demo.demo)
app.command("inspect")(inspect.inspect)
app.command("protect")(protect.protect)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("schema")(methods.schema)
app.command("verify-record")(verify_record.verify_record)
app.command("seed")(seed.seed)
app.command("serve")(serve.serve)
app.command("methods")(methods.methods)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"taxomask {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
