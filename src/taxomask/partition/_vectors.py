"""Vector operations on eight numbers at once, for lean kernels.

The boxes and points of a tree come in eights. The compiler unrolls a loop over eight numbers and then fails to see the
vectors in it, hence these operations are written in its intermediate language; they run on any processor.
Arrays are C-contiguous, places in them count from their first element.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending
from numba.core import cgutils, types

__all__ = ["add_far", "add_near", "add_squares", "at_least", "at_most", "lowest_bit", "take_smaller"]

intrinsic: Any = extending.intrinsic
_WIDE = 8
_VECTOR = ir.VectorType(ir.DoubleType(), _WIDE)


class _Writer:
    """Writes the instructions of one operation."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder, self.signature, self.arguments = context, builder, signature, arguments

    def pointer(self, array: int, place: Any) -> Any:
        struct = self.context.make_array(self.signature.args[array])(self.context, self.builder, self.arguments[array])
        address = self.builder.gep(struct.data, [place])
        return self.builder.bitcast(address, _VECTOR.as_pointer())

    def load(self, pointer: Any) -> Any:
        return self.builder.load(pointer, align=8)

    def store(self, value: Any, pointer: Any) -> None:
        self.builder.store(value, pointer, align=8)

    def spread(self, scalar: Any) -> Any:
        single = self.builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), _WIDE), [0] * _WIDE)
        return self.builder.shuffle_vector(single, ir.Constant(_VECTOR, ir.Undefined), zeros)

    def larger(self, x: Any, y: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered(">", x, y), x, y)

    def mask(self, bits: Any) -> Any:
        return self.builder.zext(self.builder.bitcast(bits, ir.IntType(_WIDE)), ir.IntType(64))


@intrinsic  # type: ignore[untyped-decorator]
def add_squares(typing: Any, row: Any, place: Any, value: Any, out: Any, to: Any) -> Any:
    """out[to:to + 8] += (row[place:place + 8] - value)²."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        gap = builder.fsub(w.load(w.pointer(0, arguments[1])), w.spread(arguments[2]))
        target = w.pointer(3, arguments[4])
        w.store(builder.fadd(w.load(target), builder.fmul(gap, gap)), target)
        return context.get_dummy_value()

    return types.void(row, types.int64, types.float64, out, types.int64), write


@intrinsic  # type: ignore[untyped-decorator]
def add_near(typing: Any, low: Any, high: Any, place: Any, value: Any, out: Any) -> Any:
    """out[:8] += the square of how far the value is outside of [low, high]."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        point = w.spread(arguments[3])
        under = builder.fsub(w.load(w.pointer(0, arguments[2])), point)
        over = builder.fsub(point, w.load(w.pointer(1, arguments[2])))
        gap = w.larger(w.larger(under, over), ir.Constant(_VECTOR, [0.0] * _WIDE))
        target = w.pointer(4, ir.Constant(ir.IntType(64), 0))
        w.store(builder.fadd(w.load(target), builder.fmul(gap, gap)), target)
        return context.get_dummy_value()

    return types.void(low, high, types.int64, types.float64, out), write


@intrinsic  # type: ignore[untyped-decorator]
def add_far(typing: Any, low: Any, high: Any, place: Any, value: Any, mirrored: Any, out: Any, other: Any) -> Any:
    """out[:8] += the square of the farther of value - low and high - value, and
    other[:8] += the square of how far the mirrored value is outside of [low, high].
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        below, above = w.load(w.pointer(0, arguments[2])), w.load(w.pointer(1, arguments[2]))
        point, mirror = w.spread(arguments[3]), w.spread(arguments[4])
        far = w.larger(builder.fsub(point, below), builder.fsub(above, point))
        near = w.larger(builder.fsub(below, mirror), builder.fsub(mirror, above))
        near = w.larger(near, ir.Constant(_VECTOR, [0.0] * _WIDE))
        for array, gap in ((5, far), (6, near)):
            target = w.pointer(array, ir.Constant(ir.IntType(64), 0))
            w.store(builder.fadd(w.load(target), builder.fmul(gap, gap)), target)
        return context.get_dummy_value()

    return types.void(low, high, types.int64, types.float64, types.float64, out, other), write


@intrinsic  # type: ignore[untyped-decorator]
def take_smaller(typing: Any, rows: Any) -> Any:
    """rows[0, :8] = the smaller of rows[0, :8] and rows[1, :8]; both rows have 16 places."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        first, second = (w.pointer(0, ir.Constant(ir.IntType(64), place)) for place in (0, 2 * _WIDE))
        x, y = w.load(first), w.load(second)
        w.store(builder.select(builder.fcmp_ordered("<", y, x), y, x), first)
        return context.get_dummy_value()

    return types.void(rows), write


def _compare(operator: str) -> Any:
    def compare(typing: Any, row: Any, place: Any, limit: Any) -> Any:
        def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            w = _Writer(context, builder, signature, arguments)
            return w.mask(builder.fcmp_ordered(operator, w.load(w.pointer(0, arguments[1])), w.spread(arguments[2])))

        return types.int64(row, types.int64, types.float64), write

    return compare


at_most = intrinsic(_compare("<="))
at_least = intrinsic(_compare(">="))


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(typing: Any, mask: Any) -> Any:
    """The position of the lowest bit that is set."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.int64(types.int64), write
