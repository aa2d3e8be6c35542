"""The index of docs/papers: what was compared, on which data, and which claims hold."""

from __future__ import annotations

from collections.abc import Mapping

from papers.harness import SEEDS, Page, heading, markdown_table, number

INTRODUCTION = f"""
# The papers, reproduced

taxomask puts five papers to work. Here is what they report, computed again with taxomask: the printed value, ours, and
the reason for every difference. `make papers` writes these pages anew; the tests compute their key cells again.

- **same data**: the paper's own numbers, so that they should come out digit by digit.
- **stand-in**: the paper's data are not public. Public data of the same kind take their place. Cells are not expected
  to agree, but for those that a method fixes in any data, such as a 0; what can be tested is what the paper says about
  them: its claims, as sentences that hold or do not hold here.
- Where randomness enters, a figure is the mean over {len(SEEDS)} seeds, with the 95 % interval of that mean
  (Student's t) in square brackets.
- Numbers typed from the papers stand in `papers/printed.csv`; all others are computed.
"""


def index(pages: Mapping[str, Page]) -> str:
    """The text of docs/papers/README.md."""
    shown = [page for page in pages.values() if page.name != "timings"]
    pieces = [
        INTRODUCTION.strip(),
        "## Pages",
        markdown_table(
            ["page", "tables and figures compared", "claims", "hold here"],
            [
                [
                    f"[{page.title}]({page.name}.md)",
                    str(len(page.compared)) if page.compared else "–",
                    str(len(page.claims)),
                    str(sum(claim.holds for claim in page.claims)),
                ]
                for page in shown
            ],
        ),
        "How long all methods take, against the number of records: [Time against the number of records](timings.md).",
        "## Every table",
        markdown_table(
            ["", "what", "data", "cells with the printed digits"],
            [
                [
                    f"[{heading(one.paper, one.table)}]({page.name}.md)",
                    one.caption,
                    one.data,
                    f"{one.same} of {one.cells}" if one.cells else "(input only)",
                ]
                for page in shown
                for one in page.compared
            ],
        ),
    ]
    failing = [(page, claim) for page in shown for claim in page.claims if not claim.holds]
    pieces += [
        "## Claims that do not hold here, and what was seen",
        "\n".join(f"- [{page.title}]({page.name}.md): {claim.sentence}. {claim.evidence}" for page, claim in failing),
    ]
    return "\n\n".join(pieces) + "\n"


def timings(pages: Mapping[str, Page]) -> None:
    """Add the CPU seconds of every page to the page of timings."""
    page = next(page for page in pages.values() if page.name == "timings")
    rows = [
        [other.title, what, number(seconds, 2)] for other in pages.values() for what, seconds in other.timings.items()
    ]
    page.text("## This run, in CPU seconds")
    page.text(markdown_table(["page", "part", "seconds"], rows))
