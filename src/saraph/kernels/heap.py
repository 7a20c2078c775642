"""The heap that large arrays live in, as native code: NumPy calls it for every array it makes (blocks.py tells it to).

A block is a mapping of its own: a page with its header, then the memory, aligned to a huge page where it is that large. Sizes come in classes,
eight per doubling, so that at most an eighth is wasted. A block that is given back waits in the list of its class, ready for the next array;
what waits longest is unmapped when more waits than the limit allows, which is never more than was in use at once (FLOOR apart). Requests below
THRESHOLD go to NumPy's own heap. Whoever calls holds Python's lock, so a fork, which holds it too, never comes in the middle of a call; a lock of
our own, held for moments, is for callers that should not.
"""
from __future__ import annotations

import sys

from saraph.kernels.ir import I1, I32, I64, POINTER, Function, Module, Value
from saraph.kernels.waiting import release, take

THRESHOLD = 1 << 18  #: bytes from which on arrays live here; what is smaller, the C library reuses by itself
FLOOR = 1 << 27  #: bytes that may wait, whatever was in use

_FIRST = 17  # the smallest class holds 2^17 bytes
_CLASSES = 8 * (48 - _FIRST)
_HUGE, _PAGE = 1 << 21, 1 << 14  # pages may have 16 KB (Apple) or less
_HEAD = 64  # bytes of a header, just before the memory
_LARGEST = 1 << 47  # bytes; more than any system gives
_MAGIC = 0x5A7A6B10C4
_ANONYMOUS = 0x22 if sys.platform == "linux" else 0x1002
_WANT_HUGE, _DROP = 14, 4  # advice
_MEMSET_MOST = 1 << 25  # bytes up to which a block that must be zero is written; pages of larger ones are dropped: they come back as zeros

#: Words of the heap's memory, from its beginning.
WORDS = ("lock", "limit", "malloc", "calloc", "realloc", "free", "context", "live", "peak", "cached", "held", "peak_held",
         "allocations", "reused", "released", "blocks", "newest", "oldest", "living")
_PLACE = {name: 8 * number for number, name in enumerate(WORDS)}
_HEADS = 256
# Words of a header.
_SEAL, _CLASS, _CAPACITY, _ASKED, _NEXT, _BEFORE, _NEWER, _OLDER = range(-_HEAD, 0, 8)


def text() -> str:
    """The module's IR."""
    module = Module()
    module.memory("heap", _HEADS + 8 * _CLASSES)
    for line in ("ptr @mmap(ptr, i64, i32, i32, i32, i64)", "i32 @munmap(ptr, i64)", "i32 @madvise(ptr, i64, i32)", "i32 @sched_yield()",
                 "ptr @memset(ptr, i32, i64)", "ptr @memcpy(ptr, ptr, i64)"):
        module.declare(f"declare {line}")
    module.function("state", (), POINTER).line("ret ptr @heap")
    _write_link(module.function("link", (("block", POINTER), ("list", POINTER), ("next", I64), ("before", I64))))
    _write_unlink(module.function("unlink", (("block", POINTER), ("list", POINTER), ("next", I64), ("before", I64))))
    _write_forget(module.function("forget", (("block", POINTER),)))
    _write_map(module.function("map", (("capacity", I64),), POINTER))
    _write_count(module.function("count", (("block", POINTER), ("asked", I64))))
    _write_obtain(module.function("obtain", (("size", I64), ("zero", I1)), POINTER))
    _write_trim(module.function("trim", (("limit", I64),)))
    _write_give_back(module.function("give_back", (("block", POINTER),)))
    _write_malloc(module.function("malloc_array", (("context", POINTER), ("size", I64)), POINTER))
    _write_calloc(module.function("calloc_array", (("context", POINTER), ("count", I64), ("each", I64)), POINTER))
    _write_free(module.function("free_array", (("context", POINTER), ("block", POINTER), ("size", I64))))
    _write_find(module.function("find", (("block", POINTER),), I1))
    _write_realloc(module.function("realloc_array", (("context", POINTER), ("block", POINTER), ("size", I64)), POINTER))
    unlock = module.function("unlock", ())
    release(unlock, _word(unlock, "lock"))
    unlock.give_back()
    return module.text()


def _word(function: Function, name: str) -> Value:
    return function.offset(function.address_of("heap"), _PLACE[name])


def _get(function: Function, name: str) -> Value:
    return function.load(I64, _word(function, name))


def _add(function: Function, name: str, amount: Value | int) -> Value:
    total = _get(function, name) + amount
    function.store(total, _word(function, name))
    return total


def _raise(function: Function, name: str, value: Value) -> None:
    before = _get(function, name)
    function.store(function.select(value > before, value, before), _word(function, name))


def _head(function: Function, block: Value, word: int) -> Value:
    return function.load(I64, function.offset(block, word))


def _number(function: Function, pointer: Value) -> Value:
    return function.convert("ptrtoint", pointer, I64)


def _pointer(function: Function, number: Value) -> Value:
    return function.convert("inttoptr", number, POINTER)


def _null(function: Function) -> Value:
    return Value(function, POINTER, "null")


def _list_of(function: Function, number: Value) -> Value:
    return function.offset(function.address_of("heap"), number * 8 + _HEADS)


def _write_link(function: Function) -> None:
    """Put a block at the front of a list, whose links are at two places of the headers."""
    block, place, following, before = function.parameters
    front = function.load(I64, place)
    function.store(front, function.offset(block, following))
    function.store(function.constant(I64, 0), function.offset(block, before))
    with function.when(front.differs(0)):
        function.store(_number(function, block), function.offset(_pointer(function, front), before))
    function.store(_number(function, block), place)
    function.give_back()


def _write_unlink(function: Function) -> None:
    block, place, following, before = function.parameters
    behind = function.load(I64, function.offset(block, following))
    ahead = function.load(I64, function.offset(block, before))
    with function.when(behind.differs(0)):
        function.store(ahead, function.offset(_pointer(function, behind), before))
    at = function.select(ahead.equals(0), place, function.offset(_pointer(function, ahead), following))
    function.store(behind, at)
    function.give_back()


def _links(function: Function, *places: int) -> list[Value]:
    return [function.constant(I64, place) for place in places]


def _write_forget(function: Function) -> None:
    """Take a waiting block out of the lists."""
    block, = function.parameters
    function.call("unlink", [block, _list_of(function, _head(function, block, _CLASS)), *_links(function, _NEXT, _BEFORE)])
    with function.when(_get(function, "oldest").equals(_number(function, block))):
        function.store(_head(function, block, _NEWER), _word(function, "oldest"))
    function.call("unlink", [block, _word(function, "newest"), *_links(function, _OLDER, _NEWER)])
    _add(function, "cached", 0 - _head(function, block, _CAPACITY))
    function.give_back()


def _write_map(function: Function) -> None:
    """A new block from the system; null where there is no memory."""
    capacity, = function.parameters
    huge = capacity >= _HUGE
    align = function.select(huge, function.constant(I64, _HUGE), _PAGE)
    total = capacity + align + _PAGE
    word = [function.constant(I32, number) for number in (3, _ANONYMOUS, -1)]
    start = _number(function, function.call("mmap", [_null(function), total, *word, function.constant(I64, 0)], POINTER))
    result = function.variable(POINTER, _null(function))
    with function.when(start.differs(-1)):
        data = (start + (align + _PAGE - 1)) & (0 - align)
        block = _pointer(function, data)
        front, back = data - _PAGE - start, start + total - (data + capacity)
        with function.when(front > 0):
            function.call("munmap", [_pointer(function, start), front], I32)
        with function.when(back > 0):
            function.call("munmap", [_pointer(function, data + capacity), back], I32)
        if sys.platform == "linux":
            with function.when(huge):
                function.call("madvise", [block, capacity, function.constant(I32, _WANT_HUGE)], I32)
        function.store(data ^ _MAGIC, function.offset(block, _SEAL))
        function.store(capacity, function.offset(block, _CAPACITY))
        result.set(block)
    function.give_back(result.get())


def _write_count(function: Function) -> None:
    """A block goes into use."""
    block, asked = function.parameters
    function.store(asked, function.offset(block, _ASKED))
    function.call("link", [block, _word(function, "living"), *_links(function, _NEXT, _BEFORE)])
    _add(function, "allocations", 1)
    _add(function, "blocks", 1)
    _raise(function, "peak", _add(function, "live", asked))
    function.give_back()


def _write_obtain(function: Function) -> None:
    """A block of at least `size` bytes; null where there is no memory."""
    size, zero = function.parameters
    last = size - 1
    power = 63 - function.intrinsic("ctlz", [I64], I64, [last, function.constant(I1, 0)])
    shift = power - 3
    eighth = last.shift_in_zeros(shift) & 7
    capacity, kind = (eighth + 9) << shift, (power - _FIRST) * 8 + eighth
    result, waiting = function.variable(POINTER, _null(function)), function.variable(I64, 0)
    take(function, _word(function, "lock"))
    waiting.set(function.load(I64, _list_of(function, kind)))
    with function.when(waiting.get().differs(0)):
        block = _pointer(function, waiting.get())
        function.call("forget", [block])
        _add(function, "reused", 1)
        function.call("count", [block, size])
        result.set(block)
    release(function, _word(function, "lock"))

    def clear() -> None:
        with function.when(zero):
            block = result.get()
            dropped = function.constant(I32, -1)
            done = function.variable(I32, dropped)
            if sys.platform == "linux":
                with function.when(size > _MEMSET_MOST):
                    done.set(function.call("madvise", [block, capacity, function.constant(I32, _DROP)], I32))
            with function.when(done.get().differs(0)):
                function.call("memset", [block, function.constant(I32, 0), size], POINTER)

    def fresh() -> None:
        result.set(function.call("map", [capacity], POINTER))
        with function.when(_number(function, result.get()).equals(0)):
            function.call("trim", [function.constant(I64, 0)])
            result.set(function.call("map", [capacity], POINTER))
        with function.when(_number(function, result.get()).differs(0)):
            function.store(kind, function.offset(result.get(), _CLASS))
            take(function, _word(function, "lock"))
            _raise(function, "peak_held", _add(function, "held", capacity))
            function.call("count", [result.get(), size])
            release(function, _word(function, "lock"))

    function.either(waiting.get().differs(0), clear, fresh)
    function.give_back(result.get())


def _write_trim(function: Function) -> None:
    """Unmap the blocks that wait longest, until no more than `limit` bytes wait. The lock is not held."""
    limit, = function.parameters
    chain = function.variable(I64, 0)
    take(function, _word(function, "lock"))
    with function.repeat_while(lambda: (_get(function, "cached") > limit) & _get(function, "oldest").differs(0)):
        block = _pointer(function, _get(function, "oldest"))
        function.call("forget", [block])
        _add(function, "released", 1)
        _add(function, "held", 0 - _head(function, block, _CAPACITY))
        function.store(chain.get(), function.offset(block, _NEXT))
        chain.set(_number(function, block))
    release(function, _word(function, "lock"))
    with function.repeat_while(lambda: chain.get().differs(0)):
        block = _pointer(function, chain.get())
        chain.set(_head(function, block, _NEXT))
        function.call("munmap", [function.offset(block, -_PAGE), _head(function, block, _CAPACITY) + _PAGE], I32)
    function.give_back()


def _write_give_back(function: Function) -> None:
    """A block goes out of use: it waits for the next array of its class."""
    block, = function.parameters
    take(function, _word(function, "lock"))
    _add(function, "live", 0 - _head(function, block, _ASKED))
    _add(function, "blocks", -1)
    function.call("unlink", [block, _word(function, "living"), *_links(function, _NEXT, _BEFORE)])
    function.call("link", [block, _list_of(function, _head(function, block, _CLASS)), *_links(function, _NEXT, _BEFORE)])
    function.call("link", [block, _word(function, "newest"), *_links(function, _OLDER, _NEWER)])
    with function.when(_get(function, "oldest").equals(0)):
        function.store(_number(function, block), _word(function, "oldest"))
    cached, peak, most = _add(function, "cached", _head(function, block, _CAPACITY)), _get(function, "peak"), _get(function, "limit")
    # Sizes are rounded up by as much as an eighth: what was in use at once may all wait.
    wanted = function.select(peak > FLOOR, peak, FLOOR)
    wanted = wanted + (wanted >> 3)
    limit = function.select(wanted < most, wanted, most)
    release(function, _word(function, "lock"))
    with function.when(cached > limit):
        function.call("trim", [limit])
    function.give_back()


def _numpy(function: Function, name: str, arguments: list[Value], returns: bool = True) -> Value:
    """Call NumPy's own heap."""
    address, context = (function.load(POINTER, _word(function, word)) for word in (name, "context"))
    return function.call_at(address, [context, *arguments], POINTER if returns else None)


def _elsewhere(size: Value) -> Value:
    """Whether memory of a size is for NumPy's own heap to give."""
    return (size - THRESHOLD).below(_LARGEST - THRESHOLD) ^ 1


def _write_malloc(function: Function) -> None:
    _, size = function.parameters
    result = function.variable(POINTER, _null(function))
    function.either(_elsewhere(size), lambda: result.set(_numpy(function, "malloc", [size])),
                    lambda: result.set(function.call("obtain", [size, function.constant(I1, 0)], POINTER)))
    function.give_back(result.get())


def _write_calloc(function: Function) -> None:
    _, count, each = function.parameters
    size = count * each
    result = function.variable(POINTER, _null(function))
    function.either(_elsewhere(size), lambda: result.set(_numpy(function, "calloc", [count, each])),
                    lambda: result.set(function.call("obtain", [size, function.constant(I1, 1)], POINTER)))
    function.give_back(result.get())


def _write_free(function: Function) -> None:
    _, block, size = function.parameters
    own = function.variable(I1, 0)
    address = _number(function, block)
    with function.when((size >= THRESHOLD) & (address & (_PAGE - 1)).equals(0) & address.differs(0)):
        own.set((_head(function, block, _SEAL) ^ _MAGIC).equals(address))
    function.either(own.get(), lambda: function.call("give_back", [block]), lambda: _numpy(function, "free", [block, size], False))
    function.give_back()


def _write_find(function: Function) -> None:
    """Whether a block in use lies at an address."""
    block, = function.parameters
    wanted, found = _number(function, block), function.variable(I1, 0)
    take(function, _word(function, "lock"))
    at = function.variable(I64, _get(function, "living"))
    with function.repeat_while(lambda: at.get().differs(0) & (found.get() ^ 1)):
        found.set(at.get().equals(wanted))
        at.set(_head(function, _pointer(function, at.get()), _NEXT))
    release(function, _word(function, "lock"))
    function.give_back(found.get())


def _write_realloc(function: Function) -> None:
    """Larger or smaller; what NumPy asks for rarely. On failure the old memory stays as it was, and null is given."""
    context, block, size = function.parameters
    result = function.variable(POINTER, _null(function))

    def from_here() -> None:
        asked = _head(function, block, _ASKED)
        result.set(function.call("malloc_array", [context, size], POINTER))
        with function.when(_number(function, result.get()).differs(0)):
            function.call("memcpy", [result.get(), block, function.select(asked < size, asked, size)], POINTER)
            function.call("give_back", [block])

    def from_numpy() -> None:
        function.either(_elsewhere(size), lambda: result.set(_numpy(function, "realloc", [block, size])), into_here)

    def into_here() -> None:
        target = function.call("obtain", [size, function.constant(I1, 0)], POINTER)
        with function.when(_number(function, target).differs(0)):
            # how much there was to copy is not known: NumPy's heap must make room for all of it first
            source = _numpy(function, "realloc", [block, size])
            function.either(_number(function, source).differs(0), lambda: moved(target, source), lambda: function.call("give_back", [target]))

    def moved(target: Value, source: Value) -> None:
        function.call("memcpy", [target, source, size], POINTER)
        _numpy(function, "free", [source, size], False)
        result.set(target)

    function.either(function.call("find", [block], I1), from_here, from_numpy)
    function.give_back(result.get())
