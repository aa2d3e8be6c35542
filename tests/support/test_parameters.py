"""How declared types are read: what they allow, and how that is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le, MinLen

from taxomask._support.parameters import Parameter, Slider, declared
from taxomask.errors import PlanError

if TYPE_CHECKING:
    from elsewhere import Unknown  # type: ignore[import-not-found]

Share = Annotated[float, Gt(0), Le(1), "A share."]


@pytest.mark.parametrize(
    ("type", "words", "right", "wrong"),
    [
        (int, "an integer", [5, -1, np.int32(3)], [True, 5.0, "5", None]),
        (Annotated[int, Ge(2)], "an integer of at least 2", [2, np.int64(5)], [1, 2.5, float("nan")]),
        (float, "a number", [5, 0.5, np.float64(2), np.int64(2), float("inf")], [True, "5", float("nan"), 5j]),
        (Share, "a number above 0 and at most 1", [1, 0.1], [0, 1.1, -float("inf")]),
        (Annotated[float, Le(1)], "a number of at most 1", [-5], [2]),
        (Share | None, "a number above 0 and at most 1", [None, 1], [0, "1"]),
        (bool, "true or false", [True, False], [1, 0, "yes", None]),
        (str, "text", ["a", ""], [1, None, ["a"]]),
        (Literal["a", "b", "c"], "'a', 'b' or 'c'", ["a", "c"], ["d", 1, None, ["a"], np.array(["a", "b"])]),
        (Literal[1, 2], "1 or 2", [1, np.int64(2)], [True, 3, "1"]),
        (Sequence[str], "a list of names", [[], ["a"], ("a",), np.array(["a"]), {"a": 1}.keys()], ["a", [1], {"a": 1}]),
        (Annotated[Sequence[Any], MinLen(1)], "a list of at least one value", [[1], (None,)], [[], "a", {1}, 5]),
        (Mapping[str, Share], "a mapping from attributes", [{}, {"a": 1}], [{"a": 2}, ["a"], "a", 1]),
        (Annotated[Mapping[Any, Any], MinLen(2)], "a mapping with at least 2 keys", [{1: 1, 2: 2}], [{}, {1: 1}]),
        (Share | Mapping[str, int], "a number above 0 and at most 1, or a mapping from attributes", [1, {"a": 5}], [5]),
        (Parameter, "a parameter", [Parameter("k", int)], [Parameter, "k"]),
        (Any, "any value", [None, 1, "a"], []),
        (object, "any value", [None, 1, "a"], []),
        (tuple[int, str], "a list of values", [(1, "a")], [5]),
        (Callable[[int], int], "a callable", [len], [5]),
    ],
)  # fmt: skip
def test_what_a_type_allows(type: Any, words: str, right: list[Any], wrong: list[Any]) -> None:
    parameter = Parameter("x", type)
    assert parameter.takes == words
    for value in right:
        parameter.check(value)
    for value in wrong:
        with pytest.raises(PlanError, match=r"^x(: a)? must be "):
            parameter.check(value)


def test_an_error_says_where_what_and_what_to_do() -> None:
    with pytest.raises(PlanError) as error:
        Parameter("x", Mapping[str, Mapping[str, Share]]).check({"a": {"b": 2}})
    assert str(error.value) == "x: a: b must be a number above 0 and at most 1; got 2.\nA share."
    with pytest.raises(PlanError) as error:
        Parameter("x", Literal["mdav", "refined"]).check("mdev")
    assert str(error.value) == "x must be 'mdav' or 'refined'; got 'mdev'.\nDid you mean 'mdav'?"


def test_the_fields_of_a_class() -> None:
    @dataclass
    class Example:
        """An example.

        Parameters
        ----------
        k, p
            The ``width``, which
            may be long.
        """

        k: Annotated[int, Ge(2), Slider(2, 50, start=5)]
        p: float | None = None
        rest: list[str] = field(default_factory=lambda: ["a"])

    k, p, rest = declared(Example)
    assert (k.required, k.optional, k.slider, k.about) == (
        True, False, Slider(2, 50, 1, 5), "The width, which may be long.",
    )  # fmt: skip
    assert (p.required, p.optional, p.slider, p.default, p.about) == (False, True, None, None, k.about)
    assert (rest.default, rest.takes, rest.about) == (["a"], "a list of names", "")


def test_types_that_only_type_checkers_see_have_no_limits() -> None:
    @dataclass
    class Example:
        k: Unknown = None

    (k,) = declared(Example)
    k.check("anything")
