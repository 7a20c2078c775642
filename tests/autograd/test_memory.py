"""Training does not grow: memory, nodes, and the speed of hooks' bookkeeping stay where they were."""
from __future__ import annotations

import gc
import resource

import saraph as torch
from saraph import nn
from saraph.tensor.node import Node
from saraph.tensor.state import state


def resident():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_training_steps_do_not_leak():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.LayerNorm(32), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(net.parameters())
    x, y = torch.rand(8, 16), torch.randint(0, 4, (8,))

    def steps(n):
        for _ in range(n):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()

    gc.disable()  # nothing may need the collector: there are no cycles
    try:
        steps(300)
        before, objects = resident(), len(gc.get_objects())
        steps(1500)
        grown, more = resident() - before, len(gc.get_objects()) - objects
    finally:
        gc.enable()
    assert grown < 5 and more < 200


def test_graphs_are_freed_without_the_collector():
    x = torch.ones(3, requires_grad=True)
    gc.collect()
    gc.disable()
    try:
        for build in (lambda: (x.exp() * x).sum(), lambda: x.sigmoid().tanh().softmax(0).sum(), lambda: torch.cat([x, x * 2]).sort()[0].sum(),
                      lambda: (x * 1).mul_(2)[1:].sum()):
            y = build()
            y.backward()
            z = build()
            del y, z
        assert not [o for o in gc.get_objects() if isinstance(o, Node) and o.name() != "AccumulateGrad"]
    finally:
        gc.enable()


def test_modes_are_switched_off_behind_them():
    before = state.active  # a subclass of Tensor that was made earlier counts for good
    with torch.autograd.set_detect_anomaly(True), torch.autocast("cpu"), torch.autograd.graph.save_on_cpu():
        assert state.active > before
        torch.ones(2, requires_grad=True).exp().sum().backward()
    assert state.active == before
