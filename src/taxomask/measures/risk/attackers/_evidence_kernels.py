# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""The most likely original records of released ones, by sums of evidence over attributes.

Every term is at most 0, so that a sum that has fallen below the last of the best need not be finished.
"""

from __future__ import annotations

from ...._support.compiling import kernel

_NUMBERS = "f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1]"
_CODES = "i4[:, ::1], i4[:, ::1], f8[::1], i8[::1], i8[::1], f8[::1]"


@kernel(f"void({_NUMBERS}, f8[::1], {_CODES}, i8[::1], i8[::1], f8, f8[:, ::1], i8[:, ::1], f8[::1], i8[::1], i8[::1])")
def likeliest(
    there, here, there_precision, here_precision, offset, there_codes, here_codes, tables, start, size, unequal,
    whose, unit, tolerance, values, records, best, ties, mine,
):  # fmt: skip
    """For each released record the likeliest original ones, in ``values`` and ``records`` from the likeliest on.

    The evidence of original o for released t is offset[o] - Σ ½(there[t] - here[o])²·(precision of t)·(precision of o)
    + Σ tables[start + code of t · size + code of o]; a size of 0 means no table: different codes have ``unequal``.
    ``ties`` counts the originals that are as likely as the ``best``, and ``mine`` those of them that belong to the same
    unit (record or person).
    """
    most = values.shape[1]
    for t in range(len(best)):
        held = 0
        top = -1e308
        for o in range(len(offset)):
            limit = values[t, most - 1] if held == most else -1e308
            total = offset[o]
            for b in range(there_codes.shape[1]):
                if size[b] > 0:
                    total += tables[start[b] + there_codes[t, b] * size[b] + here_codes[o, b]]
                elif there_codes[t, b] != here_codes[o, b]:
                    total += unequal[b]
                if total < limit:
                    break
            if total < limit:
                continue
            for a in range(there.shape[1]):
                gap = there[t, a] - here[o, a]
                total -= 0.5 * gap * gap * there_precision[t, a] * here_precision[o, a]
                if total < limit:
                    break
            if total < limit:
                continue
            if total > top + tolerance:
                top = total
                ties[t] = 1
                mine[t] = 1 if unit[o] == whose[t] else 0
            elif total >= top - tolerance:
                top = max(top, total)
                ties[t] += 1
                if unit[o] == whose[t]:
                    mine[t] += 1
            if held == most and total <= limit:
                continue
            at = min(held, most - 1)
            while at > 0 and values[t, at - 1] < total:
                values[t, at] = values[t, at - 1]
                records[t, at] = records[t, at - 1]
                at -= 1
            values[t, at] = total
            records[t, at] = o
            held = min(held + 1, most)
        best[t] = top
