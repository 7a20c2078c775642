"""The threads of the pool, as native code: they sleep until a job is there, then take units of it in grains until none is left.
Each begins with a part of its own, the same for every job of that size: what a thread has read or written lies in the caches of its core.

There is one job at a time. Whoever calls while there is one (a task that calls, another thread) does its own work alone, grain by grain, and
gets the threads as soon as they are free. A job lets in at most its team, whoever comes first: nobody waits for a thread that is late.
No thread ever needs Python: it may end, or be in the middle of anything, while they work. They are POSIX threads, made when a job wants them.
"""
from __future__ import annotations

import sys

from saraph.kernels.flags import control, flags_kept, set_control
from saraph.kernels.ir import I32, I64, POINTER, Function, Module, Value
from saraph.kernels.waiting import Sleep

MOST = 1024  #: threads of a team at most
STACK = 4 << 20  #: bytes; a page of it takes memory once it is used
WOKEN = 2  #: threads that the caller, and then each thread that comes, wakes

# Places in the pool's memory, in bytes; what different threads write lies in different cache lines.
_BUSY, _WANTED, _STARTED, _STOP = 0, 4, 8, 12
_BELL, _SLEEPERS = 128, 132
_ROOM = 256
_LEFT, _WAITING = 512, 516
_JOB, _ARGS, _GRAIN, _CONTROL, _TEAM = range(640, 680, 8)
_THREADS = 768
_SHARES, _SHARE, _END = _THREADS + 8 * MOST, 64, 8  # of every slot: the next unit of its part of the job, and the part's end
SIZE = _SHARES + _SHARE * MOST

# Signals are the business of the program's own threads, but for those that an instruction raises: ILL, TRAP, ABRT, BUS, FPE, SEGV.
_LINUX = sys.platform == "linux"
_SIGNALS = ~sum(1 << signal - 1 for signal in ((4, 5, 6, 7, 8, 11) if _LINUX else (4, 5, 6, 8, 10, 11)))
_BLOCK = 0 if _LINUX else 1


def text(futex: bool | None = None) -> str:
    """The module's IR. Without futex, threads sleep as on systems that have none."""
    module = Module()
    module.memory("pool", SIZE)
    for name, operands in (("attr_init", "ptr"), ("attr_setstacksize", "ptr, i64"), ("attr_destroy", "ptr"),
                           ("create", "ptr, ptr, ptr, ptr"), ("join", "ptr, ptr"), ("sigmask", "i32, ptr, ptr")):
        module.declare(f"declare i32 @pthread_{name}({operands})")
    sleep = Sleep(module, futex)
    _write_drain(module.function("drain", (("slot", I64),)))
    _write_worker(module.function("worker", (("unused", POINTER),), POINTER), sleep)
    _write_grow(module.function("grow", (("count", I32),)))
    _write_share(module.function("share", (("task", POINTER), ("args", POINTER), ("begin", I64), ("units", I64), ("grain", I64))), sleep)
    _write_parallel(module.function("saraph_parallel", (("task", POINTER), ("args", POINTER), ("units", I64), ("grain", I64))))
    _write_call(module.function("call", (("driver", POINTER), ("args", POINTER))))
    _write_stop(module.function("stop", ()), sleep)
    _write_reset(module.function("reset", ()))
    _write_set_threads(module.function("set_threads", (("count", I64),)))
    return module.text()


def _at(function: Function, place: int) -> Value:
    return function.offset(function.address_of("pool"), place)


def _one(function: Function) -> Value:
    return function.constant(I32, 1)


def _smaller(function: Function, a: Value, b: Value | int) -> Value:
    return function.select(a < b, a, b)


def _write_drain(function: Function) -> None:
    """Do grains of the job until none is left: first those of the slot's own part, so that a thread finds in its caches what it had there, then others'."""
    slot, = function.parameters
    task, args = (function.load(POINTER, _at(function, place)) for place in (_JOB, _ARGS))
    grain, team = (function.load(I64, _at(function, place)) for place in (_GRAIN, _TEAM))
    with function.range(0, team) as turn:
        owner = slot + turn
        owner = owner - function.select(owner < team, function.constant(I64, 0), team)
        share = function.offset(function.address_of("pool"), owner * _SHARE + _SHARES)
        end = function.load(I64, function.offset(share, _END))
        begin = function.variable(I64, function.add_shared(share, grain))
        with function.repeat_while(lambda: begin.get() < end):
            first = begin.get()
            function.call_at(task, [args, first, _smaller(function, first + grain, end), slot])
            begin.set(function.add_shared(share, grain))
    function.give_back()


def _write_worker(function: Function, sleep: Sleep) -> None:
    signals = function.array(I64, 16)
    for word in range(16):
        function.store(function.constant(I64, _SIGNALS if word == 0 else -1), function.offset(signals, 8 * word))
    function.call("pthread_sigmask", [function.constant(I32, _BLOCK), signals, Value(function, POINTER, "null")], I32)
    bell, sleepers, room = (_at(function, place) for place in (_BELL, _SLEEPERS, _ROOM))

    def enter() -> None:
        set_control(function, function.load(I64, _at(function, _CONTROL)))
        with function.when(function.load_shared(I32, room) > 0):
            sleep.wake(function, bell, WOKEN, sleepers)
        function.call("drain", [number.get()])
        function.add_shared(_at(function, _LEFT), _one(function))
        sleep.wake(function, _at(function, _LEFT), 1, _at(function, _WAITING))

    number = function.variable(I64, 0)
    with function.repeat_while(lambda: function.load_shared(I32, _at(function, _STOP)).equals(0)):
        seen = function.load_shared(I32, bell)
        left = function.variable(I32, function.load_shared(I32, room))
        inside = function.variable(I32, 0)
        with function.repeat_while(lambda: (left.get() > 0) & inside.get().equals(0)):
            got = function.replace_shared(room, left.get(), left.get() - 1)

            def in_the_team() -> None:
                number.set(function.load(I64, _at(function, _TEAM)) - function.convert("sext", left.get(), I64))
                inside.set(1)

            function.either(got, in_the_team, lambda: left.set(function.load_shared(I32, room)))
        with function.when(inside.get() > 0):
            enter()
        with function.when(function.load_shared(I32, _at(function, _STOP)).equals(0)):
            sleep.until(function, bell, seen, sleepers)
    function.line("ret ptr null")


def _write_grow(function: Function) -> None:
    """Have so many threads, with the pool taken; fewer where the system gives no more."""
    count, = function.parameters
    started, null = _at(function, _STARTED), Value(function, POINTER, "null")
    with function.when(function.load(I32, started) < count):
        attributes, failed = function.array(I64, 32), function.variable(I32, 0)
        function.call("prepare", [])
        function.call("pthread_attr_init", [attributes], I32)
        function.call("pthread_attr_setstacksize", [attributes, function.constant(I64, STACK)], I32)
        with function.repeat_while(lambda: (function.load(I32, started) < count) & failed.get().equals(0)):
            made = function.load(I32, started)
            place = function.offset(_at(function, _THREADS), function.convert("sext", made, I64) * 8)
            failed.set(function.call("pthread_create", [place, attributes, function.address_of("worker"), null], I32))
            with function.when(failed.get().equals(0)):
                function.store(made + 1, started)
            with function.when(failed.get().differs(0)):
                function.store_shared(made + 1, _at(function, _WANTED))
        function.call("pthread_attr_destroy", [attributes], I32)
    function.give_back()


def _write_share(function: Function, sleep: Sleep) -> None:
    """A job for the team, with the pool taken."""
    task, args, begin, units, grain = function.parameters
    wanted = function.load_shared(I32, _at(function, _WANTED))
    grains = _smaller(function, (units - begin + grain - 1) / grain, MOST)
    wanted = _smaller(function, wanted, function.convert("trunc", grains, I32))
    function.call("grow", [wanted - 1])
    team = _smaller(function, wanted, function.load(I32, _at(function, _STARTED)) + 1)
    count = function.convert("sext", team, I64)
    for value, place in ((task, _JOB), (args, _ARGS), (grain, _GRAIN), (control(function), _CONTROL), (count, _TEAM)):
        function.store(value, _at(function, place))
    each = ((units - begin + grain - 1) / grain + count - 1) / count * grain
    with function.range(0, count) as slot:
        share, first = function.offset(function.address_of("pool"), slot * _SHARE + _SHARES), begin + slot * each
        function.store_shared(first, share)
        function.store(_smaller(function, first + each, units), function.offset(share, _END))
    zero = function.constant(I32, 0)
    function.store_shared(zero, _at(function, _LEFT))
    room, left = _at(function, _ROOM), _at(function, _LEFT)
    function.store_shared(team - 1, room)
    function.add_shared(_at(function, _BELL), _one(function))
    sleep.wake(function, _at(function, _BELL), _smaller(function, team - 1, WOKEN), _at(function, _SLEEPERS))
    function.call("drain", [function.constant(I64, 0)])
    came = team - 1 - function.exchange_shared(room, zero)
    gone = function.variable(I32, function.load_shared(I32, left))
    with function.repeat_while(lambda: gone.get() < came):
        sleep.until(function, left, gone.get(), _at(function, _WAITING))
        gone.set(function.load_shared(I32, left))
    function.give_back()


def _write_parallel(function: Function) -> None:
    task, args, units, grain = function.parameters
    grain = function.select(grain < 1, 1, grain)
    zero, busy = function.constant(I64, 0), _at(function, _BUSY)
    wanted = function.load_shared(I32, _at(function, _WANTED))
    begin = function.variable(I64, 0)

    def alone() -> None:
        with function.when(units > 0):
            function.call_at(task, [args, zero, units, zero])

    def together() -> None:
        function.call("share", [task, args, begin.get(), units, grain])
        function.store_shared(function.constant(I32, 0), busy)
        begin.set(units)

    def one_grain() -> None:
        first = begin.get()
        end = _smaller(function, first + grain, units)
        function.call_at(task, [args, first, end, zero])
        begin.set(end)

    def shared() -> None:
        with function.repeat_while(lambda: begin.get() < units):
            free = function.variable(I32, function.load_shared(I32, busy))
            with function.when(free.get().equals(0)):
                free.set(function.exchange_shared(busy, _one(function)))
            function.either(free.get().equals(0), together, one_grain)

    with flags_kept(function):
        function.either((units <= grain) | (wanted <= 1), alone, shared)
    function.give_back()


def _write_call(function: Function) -> None:
    driver, args = function.parameters
    with flags_kept(function):
        function.call_at(driver, [args])
    function.give_back()


def _write_stop(function: Function, sleep: Sleep) -> None:
    """End the threads, unless they are at work: as the process is about to fork. A later job makes new ones."""
    busy, stop, zero = _at(function, _BUSY), _at(function, _STOP), function.constant(I32, 0)
    with function.when(function.exchange_shared(busy, _one(function)).equals(0)):
        started = function.load(I32, _at(function, _STARTED))
        with function.when(started > 0):
            function.store_shared(_one(function), stop)
            function.add_shared(_at(function, _BELL), _one(function))
            sleep.wake(function, _at(function, _BELL), MOST, _at(function, _SLEEPERS))
            with function.range(0, started) as number:
                place = function.offset(_at(function, _THREADS), function.convert("sext", number, I64) * 8)
                function.call("pthread_join", [function.load(POINTER, place), Value(function, POINTER, "null")], I32)
            function.store(zero, _at(function, _STARTED))
            function.store_shared(zero, stop)
        function.store_shared(zero, busy)
    function.give_back()


def _write_reset(function: Function) -> None:
    """As if no thread and no job had ever been: in a process that a fork has made, where there are none."""
    with function.range(0, function.constant(I64, SIZE), 8) as place:
        function.store(function.constant(I64, 0), function.offset(function.address_of("pool"), place))
    function.give_back()


def _write_set_threads(function: Function) -> None:
    count, = function.parameters
    count = _smaller(function, count, MOST)
    function.store_shared(function.convert("trunc", count, I32), _at(function, _WANTED))
    function.give_back()
