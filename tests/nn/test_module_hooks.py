"""Hooks of modules: every kind, their order, what they may change, and that they can be removed."""
import pytest

import saraph as torch
from saraph import nn
from saraph.nn.modules import module as modules


class Double(nn.Module):
    def forward(self, x, plus=0.0):
        return 2 * x + plus


def ones(*shape, grad=False):
    return torch.ones(*shape, requires_grad=grad)


def test_forward_pre_hooks_change_arguments():
    m, x = Double(), ones(2)
    one = m.register_forward_pre_hook(lambda m, args: args[0] + 1)  # a bare value counts as the only argument
    assert m(x).tolist() == [4, 4]
    keywords = m.register_forward_pre_hook(lambda m, args, kwargs: (args, {"plus": kwargs.get("plus", 0) + 10}), with_kwargs=True)
    assert m(x, plus=1.0).tolist() == [15, 15]
    keywords.remove()
    m.register_forward_pre_hook(lambda m, args, kwargs: 5, with_kwargs=True)
    with pytest.raises(RuntimeError, match="forward pre-hook must return None or a tuple"):
        m(x)
    one.remove()
    one.remove()  # harmless


def test_forward_hooks_run_in_order_and_change_the_output():
    m, seen = Double(), []
    m.register_forward_hook(lambda m, args, out: seen.append("second") or out + 1)
    m.register_forward_hook(lambda m, args, out: seen.append("first") or out * 10, prepend=True)
    m.register_forward_hook(lambda m, args, kwargs, out: seen.append(kwargs), with_kwargs=True)
    assert m(ones(1), plus=0.5).tolist() == [26] and seen == ["first", "second", {"plus": 0.5}]


def test_always_called_hooks_see_failures():
    class Fails(nn.Module):
        def forward(self, x):
            raise KeyError("inside")

    m, seen = Fails(), []
    m.register_forward_hook(lambda m, args, out: seen.append("plain"))
    m.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    with pytest.raises(KeyError, match="inside"):
        m(ones(1))
    assert seen == [None]

    def broken(m, args, out):
        raise ValueError("hook")

    m.register_forward_hook(broken, always_call=True)
    with pytest.warns(UserWarning, match="always_call"), pytest.raises(KeyError):
        m(ones(1))


def test_full_backward_hooks_see_and_replace_gradients():
    m, seen, x = nn.Linear(2, 1, bias=False), [], ones(1, 2, grad=True)
    with torch.no_grad():
        m.weight.copy_(torch.tensor([[3.0, 5.0]]))
    before = m.register_full_backward_pre_hook(lambda m, grad_output: (grad_output[0] * 2,))
    after = m.register_full_backward_hook(lambda m, grad_input, grad_output: seen.append((grad_input[0].tolist(), grad_output[0].tolist()))
                                          or (grad_input[0] * 10,))
    m(x).backward()
    assert seen == [([[6.0, 10.0]], [[2.0]])] and x.grad.tolist() == [[60.0, 100.0]] and m.weight.grad.tolist() == [[2.0, 2.0]]
    before.remove()
    after.remove()
    x.grad = None
    m(x).backward()
    assert x.grad.tolist() == [[3.0, 5.0]] and len(seen) == 1


def test_a_full_backward_hook_without_inputs_that_need_gradients():
    m, seen = nn.Linear(2, 1), []
    m.register_full_backward_hook(lambda m, grad_input, grad_output: seen.append((grad_input, grad_output[0].tolist())))
    m(ones(1, 2)).backward()
    assert seen == [((None,), [[1.0]])]


def test_wrong_number_of_gradients_from_a_hook():
    m = Double()
    m.register_full_backward_hook(lambda m, grad_input, grad_output: (grad_input[0], grad_input[0]))
    with pytest.raises(RuntimeError, match="invalid number of grad_input"):
        m(ones(2, grad=True)).sum().backward()


def test_old_backward_hooks_and_full_ones_do_not_mix():
    m, seen = Double(), []
    m.register_backward_hook(lambda m, grad_input, grad_output: seen.append(grad_output[0].tolist()))
    m(ones(2, grad=True)).sum().backward()
    assert seen == [[1.0, 1.0]]
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        m.register_full_backward_hook(lambda *a: None)
    other = Double()
    other.register_full_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="Cannot use both"):
        other.register_backward_hook(lambda *a: None)


def test_hooks_on_several_outputs_and_inputs():
    class Pair(nn.Module):
        def forward(self, a, b):
            return a * b, a + b

    m, seen = Pair(), []
    m.register_full_backward_hook(lambda m, gi, go: seen.append(([g.item() for g in gi], [None if g is None else g.item() for g in go])))
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    p, s = m(a, b)
    (p + 10 * s).backward()
    assert seen == [([13.0, 12.0], [1.0, 10.0])]


def test_global_hooks_apply_to_every_module_until_removed():
    seen = []
    handles = [modules.register_module_forward_pre_hook(lambda m, args: seen.append("pre")),
               modules.register_module_forward_hook(lambda m, args, out: seen.append("forward")),
               modules.register_module_full_backward_pre_hook(lambda m, go: seen.append("backward pre")),
               modules.register_module_full_backward_hook(lambda m, gi, go: seen.append("backward"))]
    try:
        Double()(ones(1, grad=True)).backward()
    finally:
        for handle in handles:
            handle.remove()
    assert seen == ["pre", "forward", "backward pre", "backward"]
    Double()(ones(1))
    assert len(seen) == 4


def test_registration_hooks_see_and_replace_what_is_registered():
    seen = []
    handles = [modules.register_module_parameter_registration_hook(lambda m, name, p: seen.append(name)),
               modules.register_module_buffer_registration_hook(lambda m, name, b: b + 1 if b is not None else None),
               modules.register_module_module_registration_hook(lambda m, name, child: nn.Identity() if isinstance(child, nn.Dropout) else None)]
    try:
        m = nn.Module()
        m.w = nn.Parameter(ones(1))
        m.register_buffer("b", torch.zeros(1))
        m.drop = nn.Dropout()
        m.fc = nn.Linear(1, 1)
    finally:
        for handle in handles:
            handle.remove()
    assert seen == ["w", "weight", "bias"] and m.b.item() == 1 and type(m.drop) is nn.Identity and type(m.fc) is nn.Linear


def test_state_dict_hooks():
    m, seen = nn.Sequential(nn.Linear(1, 1)), []
    pre = m.register_state_dict_pre_hook(lambda m, prefix, keep_vars: seen.append((prefix, keep_vars)))
    post = m[0].register_state_dict_post_hook(lambda m, state, prefix, metadata: state.pop(prefix + "bias") and None)
    assert list(m.state_dict(prefix="net.", keep_vars=True)) == ["net.0.weight"] and seen == [("net.", True)]
    pre.remove()
    post.remove()
    assert list(m.state_dict()) == ["0.weight", "0.bias"] and len(seen) == 1
    m.register_state_dict_post_hook(lambda *a: {})
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        m.state_dict()


def test_loading_hooks():
    m, seen = nn.Linear(1, 1, bias=False), []

    def rename(module, state, prefix, metadata, strict, missing, unexpected, errors):
        state[prefix + "weight"] = state.pop(prefix + "kernel")

    pre = m.register_load_state_dict_pre_hook(rename)
    m.register_load_state_dict_post_hook(lambda module, keys: seen.append(list(keys.missing_keys)))
    m.load_state_dict({"kernel": torch.full((1, 1), 7.0)})
    assert m.weight.item() == 7 and seen == [[]]
    pre.remove()
    m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    assert repr(m.load_state_dict({})) == "<All keys matched successfully>"
    m.register_load_state_dict_post_hook(lambda module, keys: keys)
    with pytest.raises(RuntimeError, match="not expected to return new values"):
        m.load_state_dict({"weight": torch.ones(1, 1)})


def test_hooks_are_copied_with_a_module_and_called_as_contexts():
    m, seen = Double(), []
    with m.register_forward_hook(lambda m, args, out: seen.append(1)):
        m(ones(1))
    m(ones(1))
    assert seen == [1]
