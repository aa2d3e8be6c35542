"""Two numbers that hardly repeat and tell something only together, running totals, and texts in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import taxomask as tm
from taxomask.errors import PromiseError

N = 900
RNG = np.random.default_rng(6)
PLACE = RNG.uniform(0, 10, (2, N)).round(4)
TOWNS = RNG.uniform(0, 10, (2, 9))
REGION = np.argmin(((PLACE[:, :, None] - TOWNS[:, None]) ** 2).sum(axis=0), axis=1).astype(str)
AMOUNT = RNG.lognormal(4, 1, N).round(2)
ORDER = RNG.permutation(N)
TIME = np.sort(RNG.integers(1_400_000_000, 1_600_000_000, N))
SIGNS = np.array(list("0123456789ABCDEFGHJKMNPQRSTVWXYZ"))


def numbered(time: int) -> str:
    """As an ULID: digits of base 32 of the time, and others."""
    return "".join(SIGNS[[time >> 5 * place & 31 for place in range(9, -1, -1)]]) + "".join(RNG.choice(SIGNS, 16))


def release(wanted: Any, **columns: Any) -> tm.Release:
    kind = "nominal" if wanted is REGION else "continuous"
    others = [tm.Attribute(name, role="other") for name in columns]
    schema = tm.Schema([tm.Attribute("wanted", role="quasi_identifier", kind=kind), *others])
    method = tm.Pram(0.5) if kind == "nominal" else tm.Noise(0.5)
    return tm.protect(pa.table({"wanted": wanted, **columns}), schema, method, seed=1)


def test_where_somebody_lives_tells_the_region() -> None:
    with pytest.raises(PromiseError, match="north and east together tell wanted"):
        release(REGION, north=PLACE[0], east=PLACE[1])


WRITTEN = {
    "in a text": [f"POINT({east:.4f} {north:.4f})" for north, east in PLACE.T],
    "in a structure": [{"north": float(north), "east": float(east)} for north, east in PLACE.T],
}


@pytest.mark.parametrize("place", WRITTEN.values(), ids=WRITTEN.keys())
def test_where_somebody_lives_in_one_value(place: Any) -> None:
    with pytest.raises(PromiseError, match="place tells wanted"):
        release(REGION, place=place)
    assert release(REGION, place=[place[one] for one in RNG.permutation(N)]).promise


def test_a_number_that_depends_on_two_others_in_some_other_way() -> None:
    north, east = np.random.default_rng(2).uniform(0, 10, (2, 3_000)).round(4)
    with pytest.raises(PromiseError, match="north and east together tell wanted"):
        release(np.hypot(north - 5, east - 5).round(2), north=north, east=east)


@pytest.mark.parametrize("before", [False, True])
def test_a_running_total_whatever_the_order_of_the_rows(before: bool) -> None:
    total = (np.cumsum(AMOUNT) - (AMOUNT if before else 0)).round(2)
    with pytest.raises(PromiseError, match=r"balance, .* it, is wanted"):
        release(AMOUNT[ORDER], balance=total[ORDER])


def test_numbers_that_begin_with_the_time() -> None:
    with pytest.raises(PromiseError, match="number tells wanted"):
        release(TIME[ORDER], number=[numbered(int(one)) for one in TIME[ORDER]])


def test_numbers_that_say_nothing_together() -> None:
    total = RNG.permutation(np.cumsum(AMOUNT)).round(2)
    assert release(AMOUNT, balance=total, north=PLACE[0], east=PLACE[1]).promise
    assert release(REGION, balance=total, number=[numbered(int(one)) for one in RNG.permutation(TIME)]).promise


def test_numbers_of_any_size() -> None:
    assert release(AMOUNT * 1e304, balance=(RNG.permutation(np.cumsum(AMOUNT)) - 50_000) * 1e303, east=PLACE[1]).promise
