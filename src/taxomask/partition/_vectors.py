"""Vector operations on eight numbers at once, for kernels that make no array.

The boxes and points of a tree come in eights. The compiler unrolls a loop over eight numbers and then fails to see the
vectors in it, hence these operations are written in its intermediate language; they run on any processor. An ``Eight``
is a variable of a kernel that stays in the processor's registers while numbers are added to it.
Arrays are C-contiguous, places in them count from their first element.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending
from numba.core import cgutils, types

__all__ = [
    "add",
    "add_far",
    "add_near",
    "add_squares",
    "at_least",
    "at_most",
    "combined",
    "filled",
    "kept",
    "least",
    "load",
    "lowest_bit",
    "most",
    "prefetch",
    "scaled",
    "smaller",
    "store",
    "widened",
]

intrinsic: Any = extending.intrinsic
_WIDE = 8


class Eight(types.Type):
    """The type of eight numbers of 64 or 32 bits."""

    def __init__(self, number: Any) -> None:
        self.number = number
        super().__init__(name=f"Eight({number})")


@extending.register_model(Eight)
class _EightModel(extending.models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        vector = _LONG if kind.number == types.float64 else _SHORT
        super().__init__(manager, kind, vector)  # type: ignore[no-untyped-call]


_LONG, _SHORT = (ir.VectorType(number, _WIDE) for number in (ir.DoubleType(), ir.FloatType()))
eight, short = Eight(types.float64), Eight(types.float32)


class _Writer:
    """Writes the instructions of one operation."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder, self.signature, self.arguments = context, builder, signature, arguments

    def pointer(self, array: int, place: Any) -> Any:
        kind = self.signature.args[array]
        struct = self.context.make_array(kind)(self.context, self.builder, self.arguments[array])
        vector = _LONG if kind.dtype == types.float64 else _SHORT
        return self.builder.bitcast(self.builder.gep(struct.data, [place]), vector.as_pointer())

    def load(self, array: int, place: int) -> Any:
        return self.builder.load(self.pointer(array, self.arguments[place]), align=4)

    def ends(self, array: int, place: int) -> tuple[Any, Any]:
        after = self.builder.add(self.arguments[place], ir.Constant(ir.IntType(64), _WIDE))
        return self.load(array, place), self.builder.load(self.pointer(array, after), align=4)

    def spread(self, scalar: Any) -> Any:
        some = ir.Constant(ir.VectorType(scalar.type, _WIDE), ir.Undefined)
        single = self.builder.insert_element(some, scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), _WIDE), [0] * _WIDE)
        return self.builder.shuffle_vector(single, some, zeros)

    def larger(self, x: Any, y: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered(">", x, y), x, y)

    def smaller(self, x: Any, y: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered("<", x, y), x, y)

    def reduced(self, numbers: Any, better: Any) -> Any:
        """One number of the eight, by comparing halves."""
        for half in (4, 2, 1):
            places = [ir.Constant(ir.VectorType(ir.IntType(32), half), [i + s for i in range(half)]) for s in (0, half)]
            numbers = better(*(self.builder.shuffle_vector(numbers, numbers, one) for one in places))
        return self.builder.extract_element(numbers, ir.Constant(ir.IntType(32), 0))

    def add_square(self, total: Any, gap: Any) -> Any:
        if total.type == _LONG:
            return self.builder.fadd(total, self.builder.fmul(gap, gap))
        # Bounds may be rounded once or twice, whichever is faster; distances are the same on all processors.
        kind = ir.FunctionType(_SHORT, [_SHORT] * 3)
        function = self.builder.module.declare_intrinsic("llvm.fmuladd.v8f32", (), kind)
        return self.builder.call(function, [gap, gap, total])


@intrinsic  # type: ignore[untyped-decorator]
def filled(typing: Any, value: Any) -> Any:
    """Eight times the value."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _Writer(context, builder, signature, arguments).spread(arguments[0])

    return Eight(value)(value), write


@intrinsic  # type: ignore[untyped-decorator]
def widened(typing: Any, numbers: Any) -> Any:
    """Numbers of 32 bits in 64."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fpext(arguments[0], _LONG)

    return eight(short), write


@intrinsic  # type: ignore[untyped-decorator]
def load(typing: Any, row: Any, place: Any) -> Any:
    """row[place:place + 8]."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _Writer(context, builder, signature, arguments).load(0, 1)

    return Eight(row.dtype)(row, types.int64), write


@intrinsic  # type: ignore[untyped-decorator]
def store(typing: Any, numbers: Any, row: Any, place: Any) -> Any:
    """row[place:place + 8] = numbers."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        builder.store(arguments[0], w.pointer(1, arguments[2]), align=8)
        return context.get_dummy_value()

    return types.void(eight, row, types.int64), write


@intrinsic  # type: ignore[untyped-decorator]
def add(typing: Any, x: Any, y: Any) -> Any:
    """x + y."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fadd(*arguments)

    return x(x, y), write


@intrinsic  # type: ignore[untyped-decorator]
def add_squares(typing: Any, total: Any, row: Any, place: Any, value: Any) -> Any:
    """total + (row[place:place + 8] - value)²."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        return w.add_square(arguments[0], builder.fsub(w.load(1, 2), w.spread(arguments[3])))

    return total(total, row, types.int64, total.number), write


@intrinsic  # type: ignore[untyped-decorator]
def add_near(typing: Any, total: Any, ends: Any, place: Any, under: Any, over: Any) -> Any:
    """total + the square of how far a value in [under, over] is at least outside of [low, high]; 32 bits.

    Eight lower ends are at the place, the upper ends follow.
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        low, high = w.ends(1, 2)
        gap = w.larger(builder.fsub(low, w.spread(arguments[4])), builder.fsub(w.spread(arguments[3]), high))
        return w.add_square(arguments[0], w.larger(gap, ir.Constant(_SHORT, [0.0] * _WIDE)))

    return short(short, ends, types.int64, types.float32, types.float32), write


@intrinsic  # type: ignore[untyped-decorator]
def add_far(typing: Any, total: Any, ends: Any, place: Any, under: Any, over: Any) -> Any:
    """total + the square of how far a value in [under, over] is at most from the ends of [low, high]; 32 bits."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        low, high = w.ends(1, 2)
        gap = w.larger(builder.fsub(w.spread(arguments[4]), low), builder.fsub(high, w.spread(arguments[3])))
        return w.add_square(arguments[0], gap)

    return short(short, ends, types.int64, types.float32, types.float32), write


@intrinsic  # type: ignore[untyped-decorator]
def combined(typing: Any, factor: Any, x: Any, other: Any, y: Any, constant: Any) -> Any:
    """factor·x + other·y + constant."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        one = builder.fmul(w.spread(arguments[0]), arguments[1])
        two = builder.fmul(w.spread(arguments[2]), arguments[3])
        return builder.fadd(builder.fadd(one, two), w.spread(arguments[4]))

    return x(x.number, x, x.number, y, x.number), write


@intrinsic  # type: ignore[untyped-decorator]
def scaled(typing: Any, factor: Any, x: Any, constant: Any) -> Any:
    """factor·x + constant."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        return builder.fadd(builder.fmul(w.spread(arguments[0]), arguments[1]), w.spread(arguments[2]))

    return x(x.number, x, x.number), write


@intrinsic  # type: ignore[untyped-decorator]
def smaller(typing: Any, x: Any, y: Any) -> Any:
    """The smaller of x and y in each place."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _Writer(context, builder, signature, arguments).smaller(arguments[1], arguments[0])

    return x(x, y), write


@intrinsic  # type: ignore[untyped-decorator]
def kept(typing: Any, numbers: Any, count: Any, other: Any) -> Any:
    """The first ``count`` numbers, and another in the places after them."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        places = ir.Constant(ir.VectorType(ir.IntType(64), _WIDE), list(range(_WIDE)))
        inside = builder.icmp_signed("<", places, w.spread(arguments[1]))
        return builder.select(inside, arguments[0], w.spread(arguments[2]))

    return numbers(numbers, types.int64, numbers.number), write


@intrinsic  # type: ignore[untyped-decorator]
def least(typing: Any, numbers: Any) -> Any:
    """The smallest of eight numbers."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        return w.reduced(arguments[0], w.smaller)

    return numbers.number(numbers), write


@intrinsic  # type: ignore[untyped-decorator]
def most(typing: Any, numbers: Any) -> Any:
    """The largest of eight numbers."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        return w.reduced(arguments[0], w.larger)

    return numbers.number(numbers), write


def _compare(operator: str) -> Any:
    def compare(typing: Any, numbers: Any, limit: Any) -> Any:
        def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            w = _Writer(context, builder, signature, arguments)
            bits = builder.fcmp_ordered(operator, arguments[0], w.spread(arguments[1]))
            return builder.zext(builder.bitcast(bits, ir.IntType(_WIDE)), ir.IntType(64))

        return types.int64(numbers, numbers.number), write

    return compare


at_most = intrinsic(_compare("<="))
at_least = intrinsic(_compare(">="))


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(typing: Any, mask: Any) -> Any:
    """The position of the lowest bit that is set."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.int64(types.int64), write


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Any, row: Any, place: Any) -> Any:
    """Ask for row[place] to be brought from memory, for use soon."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        number, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        address = builder.bitcast(w.pointer(0, arguments[1]), byte)
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(row, types.int64), write
