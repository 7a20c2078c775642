"""How native threads wait for one another, as IR: turns of the processor first, then sleep until another thread wakes them."""
from __future__ import annotations

import sys

from saraph.kernels import jit
from saraph.kernels.ir import I1, I32, I64, POINTER, Function, Module, Value

#: Turns of waiting before a thread sleeps, 10 to 40 ns each: longer than the pause between the ops of a busy program.
TURNS = 2000

_FUTEX = {"x86_64": 202, "aarch64": 98, "arm64": 98, "riscv64": 98}  # number of the system call on Linux
_WAIT, _WAKE = 128, 129  # private to the process
_ROOM = 128  # bytes of a mutex or a condition of any system, or more


def pause(function: Function) -> None:
    """Tell the processor that this is a turn of waiting."""
    architecture = jit.host().architecture
    if architecture == "x86_64":
        function.effect("x86.sse2.pause", [], [])
    elif architecture in ("aarch64", "arm64"):
        function.effect("aarch64.hint", [], [function.constant(I32, 1)])


class Sleep:
    """Writes the functions that sleep and wake: by futex on Linux, by a mutex and a condition of POSIX threads elsewhere.

    `prepare` must have run, once per process, before any thread sleeps.
    """

    def __init__(self, module: Module, futex: bool | None = None) -> None:
        self.number = _FUTEX.get(jit.host().architecture, 0) if sys.platform == "linux" and futex is not False else 0
        write_prepare, write_sleep, write_wake = (
            (_nothing, self._futex_sleep, self._futex_wake) if self.number else (self._prepare, self._sleep, self._wake))
        if self.number:
            module.declare("declare i64 @syscall(i64, ...)")
        else:
            module.memory("mutex", _ROOM)
            module.memory("condition", _ROOM)
            for name, operands in (("mutex_init", 2), ("cond_init", 2), ("mutex_lock", 1), ("mutex_unlock", 1), ("cond_wait", 2), ("cond_broadcast", 1)):
                module.declare(f"declare i32 @pthread_{name}({', '.join(['ptr'] * operands)})")
        write_prepare(module.function("prepare", ()))
        write_sleep(module.function("sleep", (("word", POINTER), ("seen", I32))))
        write_wake(module.function("wake", (("word", POINTER), ("count", I32))))

    def until(self, function: Function, word: Value, seen: Value, sleepers: Value) -> None:
        """Wait as long as the 32-bit word is what was seen. The word at `sleepers` counts the threads that may have to be woken."""
        turn = function.variable(I32, 0)

        def waiting() -> Value:
            return (turn.get() < TURNS) & function.load_shared(I32, word).equals(seen)

        with function.repeat_while(waiting):
            pause(function)
            turn.set(turn.get() + 1)
        with function.when(function.load_shared(I32, word).equals(seen)):
            function.add_shared(sleepers, function.constant(I32, 1))
            with function.repeat_while(lambda: function.load_shared(I32, word).equals(seen)):
                function.call("sleep", [word, seen])
            function.add_shared(sleepers, function.constant(I32, -1))

    def wake(self, function: Function, word: Value, count: Value | int, sleepers: Value) -> None:
        """After the word was changed: wake up to `count` threads that sleep for it, if any do."""
        with function.when(function.load_shared(I32, sleepers) > 0):
            function.call("wake", [word, function.lift(count, I32)])

    def _futex(self, function: Function, operation: int, word: Value, number: Value) -> None:
        function.value(I64, f"call i64 (i64, ...) @syscall(i64 {self.number}, {word}, i32 {operation}, {number}, ptr null, ptr null, i32 0)")

    def _futex_sleep(self, function: Function) -> None:
        word, seen = function.parameters
        self._futex(function, _WAIT, word, seen)  # returns at once where the word has changed; a signal may end it
        function.give_back()

    def _futex_wake(self, function: Function) -> None:
        word, count = function.parameters
        self._futex(function, _WAKE, word, count)
        function.give_back()

    def _prepare(self, function: Function) -> None:
        for name, place in (("mutex_init", "mutex"), ("cond_init", "condition")):
            function.call(f"pthread_{name}", [function.address_of(place), Value(function, POINTER, "null")], I32)
        function.give_back()

    def _sleep(self, function: Function) -> None:
        word, seen = function.parameters
        mutex = function.address_of("mutex")
        function.call("pthread_mutex_lock", [mutex], I32)
        with function.repeat_while(lambda: function.load_shared(I32, word).equals(seen)):
            function.call("pthread_cond_wait", [function.address_of("condition"), mutex], I32)
        function.call("pthread_mutex_unlock", [mutex], I32)
        function.give_back()

    def _wake(self, function: Function) -> None:
        mutex = function.address_of("mutex")
        function.call("pthread_mutex_lock", [mutex], I32)  # a thread that has looked but does not sleep yet holds it
        function.call("pthread_cond_broadcast", [function.address_of("condition")], I32)
        function.call("pthread_mutex_unlock", [mutex], I32)
        function.give_back()


def _nothing(function: Function) -> None:
    function.give_back()


def take(function: Function, place: Value) -> None:
    """Take a lock that is held for moments only: a 32-bit word, 0 where it is free."""
    one, got = function.constant(I32, 1), function.variable(I1, 0)
    with function.repeat_while(lambda: got.get() ^ 1):
        got.set(function.exchange_shared(place, one).equals(0))
        with function.when(got.get() ^ 1):
            turn = function.variable(I32, 0)
            with function.repeat_while(lambda: (turn.get() < TURNS) & function.load_shared(I32, place).differs(0)):
                pause(function)
                turn.set(turn.get() + 1)
            with function.when(turn.get().equals(TURNS)):  # its holder waits for a processor
                function.call("sched_yield", [], I32)


def release(function: Function, place: Value) -> None:
    """Give back a lock that `take` took."""
    function.store_shared(function.constant(I32, 0), place)
