"""A small builder of LLVM IR text: typed values with Python's operators, structured loops and branches.

    module = Module()
    function = module.function("double_all", (("pointer", POINTER), ("count", I64)))
    pointer, count = function.parameters
    with function.range(0, count) as index:
        at = function.offset(pointer, index * 4)
        function.store(function.load(FLOAT, at) * 2.0, at)
    text = module.text()

Operators between a vector and a scalar repeat the scalar in every lane; Python numbers become constants of the other
operand's type. No fast-math flag is ever set: what is written is what is computed, in that order.
"""
from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

_FLOATS = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
_SUFFIXES = {**_FLOATS, "ptr": "p0"}
_SIZES = {"i1": 1, "i8": 1, "i16": 2, "half": 2, "bfloat": 2, "float": 4, "double": 8, "i32": 4, "i64": 8, "ptr": 8}


class Type(NamedTuple):
    """An LLVM type: a scalar (`lanes` 0) or a vector of it."""

    scalar: str
    lanes: int = 0

    def __str__(self) -> str:
        return f"<{self.lanes} x {self.scalar}>" if self.lanes else self.scalar

    @property
    def is_float(self) -> bool:
        return self.scalar in _FLOATS

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return _SIZES[self.scalar] * max(1, self.lanes)

    @property
    def suffix(self) -> str:
        """How LLVM spells the type at the end of an intrinsic's name: v16f32."""
        element = _SUFFIXES.get(self.scalar, self.scalar)
        return f"v{self.lanes}{element}" if self.lanes else element

    def vector(self, lanes: int) -> Type:
        """The same element in `lanes` lanes; 0 gives the scalar."""
        return Type(self.scalar, lanes)

    def like(self, other: Type) -> Type:
        """The same element in as many lanes as `other` has."""
        return Type(self.scalar, other.lanes)


POINTER, I1, I8, I16, I32, I64 = (Type(name) for name in ("ptr", "i1", "i8", "i16", "i32", "i64"))
HALF, BFLOAT, FLOAT, DOUBLE = (Type(name) for name in ("half", "bfloat", "float", "double"))


class Value:
    """A value inside a function: an SSA name or a constant, with its type."""

    __slots__ = ("function", "type", "text")

    def __init__(self, function: Function, type: Type, text: str) -> None:
        self.function, self.type, self.text = function, type, text

    def __repr__(self) -> str:
        return f"{self.type} {self.text}"

    def _binary(self, other: Value | float, for_floats: str, for_integers: str, swapped: bool = False) -> Value:
        left, right = self.function.match(self, other)
        if swapped:
            left, right = right, left
        operation = for_floats if left.type.is_float else for_integers
        return self.function.value(left.type, f"{operation} {left}, {right.text}")

    def _compare(self, other: Value | float, predicate: str) -> Value:
        left, right = self.function.match(self, other)
        if left.type.is_float:
            operation = f"fcmp o{predicate}"
        else:
            operation = f"icmp {predicate if predicate in ('eq', 'ne') else 's' + predicate}"
        return self.function.value(I1.like(left.type), f"{operation} {left}, {right.text}")

    def __add__(self, other: Value | float) -> Value:
        return self._binary(other, "fadd", "add")

    def __sub__(self, other: Value | float) -> Value:
        return self._binary(other, "fsub", "sub")

    def __rsub__(self, other: float) -> Value:
        return self._binary(other, "fsub", "sub", swapped=True)

    def __mul__(self, other: Value | float) -> Value:
        return self._binary(other, "fmul", "mul")

    def __truediv__(self, other: Value | float) -> Value:
        return self._binary(other, "fdiv", "sdiv")

    __radd__, __rmul__ = __add__, __mul__

    def __and__(self, other: Value | int) -> Value:
        return self._binary(other, "", "and")

    def __or__(self, other: Value | int) -> Value:
        return self._binary(other, "", "or")

    def __xor__(self, other: Value | int) -> Value:
        return self._binary(other, "", "xor")

    def __lshift__(self, other: Value | int) -> Value:
        return self._binary(other, "", "shl")

    def __rshift__(self, other: Value | int) -> Value:
        """Arithmetic: the sign comes in from the left."""
        return self._binary(other, "", "ashr")

    def shift_in_zeros(self, count: Value | int) -> Value:
        """To the right; zeros come in from the left."""
        return self._binary(count, "", "lshr")

    def below(self, other: Value | int) -> Value:
        """Less than, as unsigned integers."""
        left, right = self.function.match(self, other)
        return self.function.value(I1.like(left.type), f"icmp ult {left}, {right.text}")

    def __lt__(self, other: Value | float) -> Value:
        return self._compare(other, "lt")

    def __le__(self, other: Value | float) -> Value:
        return self._compare(other, "le")

    def __gt__(self, other: Value | float) -> Value:
        return self._compare(other, "gt")

    def __ge__(self, other: Value | float) -> Value:
        return self._compare(other, "ge")

    def __neg__(self) -> Value:
        return self.function.value(self.type, f"fneg {self}") if self.type.is_float else 0 - self

    def differs(self, other: Value | float) -> Value:
        """Lane by lane; true where a float is NaN."""
        left, right = self.function.match(self, other)
        return self.function.value(I1.like(left.type), f"{'fcmp une' if left.type.is_float else 'icmp ne'} {left}, {right.text}")

    def equals(self, other: Value | float) -> Value:
        """Lane by lane; false where a float is NaN. (`==` compares the Python objects, as everywhere.)"""
        return self._compare(other, "eq")


class Variable:
    """A place that changes while the function runs. LLVM turns it into registers."""

    __slots__ = ("function", "type", "place")

    def __init__(self, function: Function, type: Type, place: Value) -> None:
        self.function, self.type, self.place = function, type, place

    def get(self) -> Value:
        return self.function.load(self.type, self.place)

    def set(self, value: Value | float) -> None:
        self.function.store(self.function.lift(value, self.type), self.place)


class Function:
    """One function being written. Statements are appended in order; control flow is by `range`, `when` and `either`."""

    def __init__(self, module: Module, name: str, parameters: Sequence[tuple[str, Type]], result: Type | None) -> None:
        self.module, self.name, self._result = module, name, result
        self.parameters = tuple(Value(self, type, f"%{label}") for label, type in parameters)
        self._places: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._block = "entry"

    def text(self) -> str:
        head = f"define {self._result or 'void'} @{self.name}({', '.join(map(repr, self.parameters))}) {{"
        return "\n".join([head, "entry:", *self._places, *self._lines, "}"])

    def line(self, text: str) -> None:
        self._lines.append("  " + text)

    def value(self, type: Type, instruction: str) -> Value:
        """Append an instruction that makes a value of `type`."""
        name = self._fresh("%v")
        self.line(f"{name} = {instruction}")
        return Value(self, type, name)

    def constant(self, type: Type, number: float) -> Value:
        """The same number in every lane. Floats are written as their exact bits."""
        if type.is_float:
            if type.scalar == "float":
                number = struct.unpack("<f", struct.pack("<f", number))[0]
            element = f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
        else:
            element = str(int(number))
        return Value(self, type, f"splat ({type.scalar} {element})" if type.lanes else element)

    def counting(self, type: Type) -> Value:
        """0, 1, 2, ... in the lanes of an integer vector."""
        return Value(self, type, _vector_text(type.scalar, range(type.lanes)))

    def lift(self, value: Value | float, type: Type) -> Value:
        """`value` as `type`: a number becomes a constant, a scalar is repeated in every lane."""
        if not isinstance(value, Value):
            return self.constant(type, value)
        if value.type == type:
            return value
        if value.type.lanes or value.type.scalar != type.scalar:
            raise TypeError(f"cannot use {value} as {type}")
        first = self.value(type, f"insertelement {type} poison, {value}, i32 0")
        return self.shuffle(first, [0] * type.lanes)

    def match(self, left: Value, right: Value | float) -> tuple[Value, Value]:
        """Both operands in one type, the wider of the two."""
        if isinstance(right, Value) and right.type.lanes and not left.type.lanes:
            return self.lift(left, right.type), right
        return left, self.lift(right, left.type)

    def shuffle(self, vector: Value, lanes: Sequence[int], second: Value | None = None) -> Value:
        """The given lanes of a vector, in that order; those of a second vector are counted on from the first one's."""
        order = f"{I32.vector(len(lanes))} {_vector_text('i32', lanes)}"
        other = f"{vector.type} {'poison' if second is None else second.text}"
        return self.value(vector.type.vector(len(lanes)), f"shufflevector {vector}, {other}, {order}")

    def extract(self, vector: Value, lane: int) -> Value:
        return self.value(vector.type.vector(0), f"extractelement {vector}, i32 {lane}")

    def select(self, condition: Value, yes: Value | float, no: Value | float) -> Value:
        """Lane by lane `yes` where the condition holds, else `no`. At least one of the two must be a Value."""
        if isinstance(yes, Value):
            yes, no = self.match(yes, no)
        elif isinstance(no, Value):
            no, yes = self.match(no, yes)
        else:
            raise TypeError(f"select({condition}, {yes}, {no}): one of the two must be a Value")
        return self.value(yes.type, f"select {condition}, {yes}, {no}")

    def convert(self, operation: str, value: Value, type: Type) -> Value:
        """`operation` is LLVM's name: bitcast, sitofp, trunc, ..."""
        return self.value(type, f"{operation} {value} to {type}")

    def fma(self, a: Value, b: Value | float, c: Value | float) -> Value:
        """a * b + c with one rounding where the processor can, with two where it cannot."""
        return self.intrinsic("fmuladd", [a.type], a.type, [a, self.lift(b, a.type), self.lift(c, a.type)])

    def intrinsic(self, name: str, overloads: Sequence[Type], result: Type, arguments: Sequence[Value]) -> Value:
        """Call llvm.NAME for the given overload types."""
        return self.value(result, self._call(name, overloads, str(result), arguments))

    def effect(self, name: str, overloads: Sequence[Type], arguments: Sequence[Value]) -> None:
        """Call an llvm.NAME that gives no value back."""
        self.line(self._call(name, overloads, "void", arguments))

    def _call(self, name: str, overloads: Sequence[Type], result: str, arguments: Sequence[Value]) -> str:
        full = ".".join(["llvm", name, *(type.suffix for type in overloads)])
        kinds = ", ".join(str(argument.type) for argument in arguments)
        self.module.declare(f"declare {result} @{full}({kinds})")
        return f"call {result} @{full}({', '.join(map(repr, arguments))})"

    def call_at(self, address: Value, arguments: Sequence[Value], result: Type | None = None) -> Value:
        """Call the function at an address. Without a result the value means nothing."""
        text = f"call {result or 'void'} {address.text}({', '.join(map(repr, arguments))})"
        if result is None:
            self.line(text)
            return Value(self, I1, "poison")
        return self.value(result, text)

    def call(self, name: str, arguments: Sequence[Value], result: Type | None = None) -> Value:
        """Call a function by name: one of this module, or one that `Module.declare` has announced. Without a result the value means nothing."""
        text = f"call {result or 'void'} @{name}({', '.join(map(repr, arguments))})"
        if result is None:
            self.line(text)
            return Value(self, I1, "poison")
        return self.value(result, text)

    def offset(self, pointer: Value, count: Value | int, element: str = "i8") -> Value:
        """The address `count` elements (bytes, unless told) further on; a vector of counts gives as many addresses."""
        count = count if isinstance(count, Value) else self.constant(I64, count)
        return self.value(POINTER.like(count.type), f"getelementptr {element}, {pointer}, {count}")

    def load(self, type: Type, pointer: Value) -> Value:
        return self.value(type, f"load {type}, {pointer}, align 1")

    def store(self, value: Value, pointer: Value) -> None:
        self.line(f"store {value}, {pointer}, align 1")

    def load_shared(self, type: Type, pointer: Value) -> Value:
        """Load what other threads write: in one order that all threads see, as the four below. Addresses must be multiples of the size."""
        return self.value(type, f"load atomic {type}, {pointer} seq_cst, align {type.size}")

    def store_shared(self, value: Value, pointer: Value) -> None:
        self.line(f"store atomic {value}, {pointer} seq_cst, align {value.type.size}")

    def add_shared(self, pointer: Value, value: Value) -> Value:
        """Add to an integer in memory that other threads may change too; gives what was there before."""
        return self.value(value.type, f"atomicrmw add {pointer}, {value} seq_cst")

    def exchange_shared(self, pointer: Value, value: Value) -> Value:
        """Store, and give what was there before, in one step."""
        return self.value(value.type, f"atomicrmw xchg {pointer}, {value} seq_cst")

    def replace_shared(self, pointer: Value, old: Value, new: Value) -> Value:
        """Store `new` where `old` is still there, in one step; gives whether it was."""
        pair = self._fresh("%pair")
        self.line(f"{pair} = cmpxchg {pointer}, {old}, {new} seq_cst seq_cst")
        return self.value(I1, f"extractvalue {{ {old.type}, i1 }} {pair}, 1")

    def load_masked(self, type: Type, pointer: Value, mask: Value) -> Value:
        """A vector of which only the lanes in the mask are read; the others are 0."""
        return self.intrinsic("masked.load", [type, POINTER], type, [pointer, self.constant(I32, 1), mask, self.constant(type, 0)])

    def store_masked(self, value: Value, pointer: Value, mask: Value) -> None:
        """Write only the lanes in the mask."""
        self.effect("masked.store", [value.type, POINTER], [value, pointer, self.constant(I32, 1), mask])

    def array(self, type: Type, count: int) -> Value:
        """Room for `count` values on the stack, its contents undefined."""
        place = self._fresh("%place")
        # In the entry block: made once per call, and only there can LLVM move it into registers.
        self._places.append(f"  {place} = alloca {type}, i64 {count}")
        return Value(self, POINTER, place)

    def variable(self, type: Type, start: Value | float) -> Variable:
        variable = Variable(self, type, self.array(type, 1))
        variable.set(start)
        return variable

    @contextmanager
    def range(self, start: Value | int, stop: Value, step: Value | int = 1) -> Iterator[Value]:
        """A loop; yields the index. Runs no turn when start >= stop."""
        before, head, body, after = self._block, self._fresh("head"), self._fresh("body"), self._fresh("after")
        index, following = Value(self, stop.type, self._fresh("%i")), self._fresh("%i")
        first = self.lift(start, stop.type)
        self.line(f"br label %{head}")
        self._open(head)
        head_at = len(self._lines)
        inside = index < stop
        self.line(f"br {inside}, label %{body}, label %{after}")
        self._open(body)
        yield index
        self.line(f"{following} = add nsw {index}, {self.lift(step, index.type).text}")
        self.line(f"br label %{head}")
        phi = f"  {index.text} = phi {stop.type} [{first.text}, %{before}], [{following}, %{self._block}]"
        self._lines.insert(head_at, phi)  # only now is it known from which block the loop comes back
        self._open(after)

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Statements that run only if the condition holds."""
        body, after = self._fresh("then"), self._fresh("after")
        self.line(f"br {condition}, label %{body}, label %{after}")
        self._open(body)
        yield
        self.line(f"br label %{after}")
        self._open(after)

    @contextmanager
    def repeat_while(self, condition: Callable[[], Value]) -> Iterator[None]:
        """A loop that runs as long as what `condition` writes holds; it is asked before every turn."""
        head, body, after = self._fresh("head"), self._fresh("body"), self._fresh("after")
        self.line(f"br label %{head}")
        self._open(head)
        self.line(f"br {condition()}, label %{body}, label %{after}")
        self._open(body)
        yield
        self.line(f"br label %{head}")
        self._open(after)

    def either(self, condition: Value, yes: Callable[[], object], no: Callable[[], object]) -> None:
        """Write the statements of `yes` for when the condition holds and those of `no` for when not."""
        first, second, after = self._fresh("then"), self._fresh("else"), self._fresh("after")
        self.line(f"br {condition}, label %{first}, label %{second}")
        for label, write in ((first, yes), (second, no)):
            self._open(label)
            write()
            self.line(f"br label %{after}")
        self._open(after)

    def address_of(self, name: str) -> Value:
        """The address of a function or of memory of this module."""
        return Value(self, POINTER, f"@{name}")

    def give_back(self, value: Value | float | None = None) -> None:
        """The function's last statement."""
        self.line("ret void" if self._result is None or value is None else f"ret {self.lift(value, self._result)}")

    def _open(self, label: str) -> None:
        self._lines.append(f"{label}:")
        self._block = label

    def _fresh(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"


def _vector_text(scalar: str, numbers: Sequence[int]) -> str:
    return "<" + ", ".join(f"{scalar} {number}" for number in numbers) + ">"


class Module:
    """A set of functions that are compiled together."""

    def __init__(self) -> None:
        self._functions: list[Function] = []
        self._declarations: dict[str, None] = {}

    def function(self, name: str, parameters: Sequence[tuple[str, Type]], result: Type | None = None) -> Function:
        function = Function(self, name, parameters, result)
        self._functions.append(function)
        return function

    def declare(self, declaration: str) -> None:
        self._declarations[declaration] = None

    def once(self, name: str, write: Callable[[Module, str], None]) -> str:
        """Have `write` write the function called `name`, unless the module has it; gives the name."""
        if all(function.name != name for function in self._functions):
            write(self, name)
        return name

    def memory(self, name: str, size: int) -> None:
        """`size` bytes that live as long as the code, zero at first; their address is `Function.address_of(name)`."""
        self.declare(f"@{name} = internal global [{size} x i8] zeroinitializer, align 64")

    def text(self) -> str:
        return "\n\n".join([*self._declarations, *(function.text() for function in self._functions)]) + "\n"
