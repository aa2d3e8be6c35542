"""Which attributes a method treats, by their kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np

from ..errors import SchemaError
from ..microdata import Kind, Microdata
from ..microdata.frames import Frame
from ..records import Extent
from .base import chosen

__all__ = ["each", "is_short", "too_coarse", "treatable"]

Setting = TypeVar("Setting")


def treatable(
    data: Microdata, attributes: Iterable[str] | None, kinds: tuple[Kind, ...], method: str
) -> tuple[str, ...]:
    """The attributes named, or by default the quasi-identifiers of the kinds that the method can treat."""
    listed = " or ".join(kinds)
    default = tuple(name for name in data.schema.quasi_identifiers if data.schema[name].kind in kinds)
    names = tuple(dict.fromkeys(chosen(data, attributes, default, f"{listed} quasi-identifier")))
    for name in names:
        kind = data.schema[name].kind
        if kind not in kinds:
            raise SchemaError(
                f"{method} cannot treat {name!r}, which is {kind}.", hint=f"Name attributes that are {listed}."
            )
    return names


def too_coarse(data: Microdata, name: str, extent: Extent) -> bool:
    """Whether moments of a column cannot be exact, as its values are rounded when they are written.

    To whole days, to cents, or to the seven digits of short floats. ``extent`` is that of its numbers.
    """
    grain = data.grain(name)
    if not extent.count:
        return False
    if is_short(data.frame, name):
        grain = float(np.spacing(np.float32(max(abs(extent.smallest), abs(extent.largest)))))
    grain = grain or float(np.finfo(np.float64).smallest_subnormal)
    with np.errstate(over="ignore"):
        return bool(0 < np.subtract(extent.largest, extent.smallest) < 1e7 * grain)


def is_short(frame: Frame, name: str) -> bool:
    """Whether a column holds floats of 32 bits or less."""
    return str(frame.arrow_type(name)) in ("float", "halffloat")


def each(
    data: Microdata, setting: Setting | Mapping[str, Setting], kinds: tuple[Kind, ...], method: str
) -> dict[str, Setting]:
    """A setting for each attribute: as given by name, or the same for all that can be treated."""
    if isinstance(setting, Mapping):
        return {name: setting[name] for name in treatable(data, setting, kinds, method)}
    return dict.fromkeys(treatable(data, None, kinds, method), setting)
