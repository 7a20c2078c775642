"""Rooms that are small: custom ops, nested tensors, profiler, hub, devices that are not there, counters."""
import pytest

import saraph as torch
from saraph import library, nested, profiler
from saraph.nn.attention import flex_attention as flex
from saraph.utils.flop_counter import FlopCounterMode
from saraph.utils.weak import WeakIdKeyDictionary


def test_custom_op_with_derivative_and_shapes():
    @library.custom_op("rooms::scale", mutates_args=())
    def scale(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
        return x * factor

    scale.register_autograd(lambda ctx, g: (g * ctx.factor, None), setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]))
    scale.register_fake(lambda x, factor=2.0: torch.empty_like(x))
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    torch.ops.rooms.scale(x).sum().backward()
    assert x.grad.tolist() == [2.0] * 3 and scale(torch.ones(2, device="meta")).device.type == "meta"
    assert library.opcheck(scale, (x, 3.0))["test_autograd_registration"] == "SUCCESS"
    assert library.infer_schema(scale._init_fn, mutates_args=()) == "(Tensor x, float factor=2.0) -> Tensor"


def test_nested_rows_and_gradients():
    a, b = torch.ones(2, 3, requires_grad=True), torch.ones(1, 3)
    nt = nested.as_nested_tensor([a, b])
    y = torch.nn.functional.linear(nt * 2, torch.ones(4, 3))
    assert [tuple(t.shape) for t in y.unbind()] == [(2, 4), (1, 4)] and nested.to_padded_tensor(nt, 0.0).shape == (2, 2, 3)
    y.sum().backward()
    assert a.grad.tolist() == [[8.0] * 3] * 2
    with pytest.raises(RuntimeError, match="only dim=-1"):
        nt.softmax(0)


def test_flex_attention_is_causal_attention():
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 5, 4) for _ in range(3))
    mask = flex.create_block_mask(lambda b, h, i, j: i >= j, None, None, 5, 5, BLOCK_SIZE=2)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(flex.flex_attention(q, k, v, block_mask=mask), expected, atol=1e-6)
    assert mask.to_dense().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]] and mask.kv_num_blocks.tolist() == [[[1, 1, 3]]]


def test_profiler_counts_calls():
    with profiler.profile() as prof, profiler.record_function("mine"):
        torch.ones(2).sin()
    assert {e.key: e.count for e in prof.key_averages()}["aten::sin"] == 1 and "mine" in prof.key_averages().table()


def test_flops_of_a_linear_layer_both_ways():
    layer = torch.nn.Linear(3, 4)
    with FlopCounterMode(display=False) as counter:
        layer(torch.ones(2, 3))
    assert counter.get_total_flops() == 2 * 2 * 3 * 4


def test_hub_from_a_folder(tmp_path):
    (tmp_path / "hubconf.py").write_text("dependencies = ['torch']\ndef double(x):\n    'Twice.'\n    return 2 * x\n")
    assert torch.hub.list(tmp_path, source="local") == ["double"] and torch.hub.help(tmp_path, "double", source="local") == "Twice."
    assert torch.hub.load(tmp_path, "double", 4, source="local") == 8


def test_devices_that_are_not_there():
    assert not torch.accelerator.is_available() and torch.accelerator.current_accelerator() is None and torch.xpu.device_count() == 0
    with pytest.raises(AssertionError, match="not compiled with XPU"):
        torch.xpu.get_device_name()
    with pytest.raises(RuntimeError, match="requires CUDA support"):
        torch.cuda.Stream()


def test_sparse_products():
    dense = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    x = torch.arange(6.0).reshape(3, 2)
    assert torch.sparse.mm(dense.to_sparse(), x).tolist() == [[8.0, 11.0], [0.0, 0.0]]
    assert torch.sparse.mm(dense.to_sparse_csr(), x, "amax").tolist() == [[8.0, 10.0], [0.0, 0.0]]
    assert torch.sparse.sum(dense.to_sparse()).item() == 3.0


def test_weak_keys_and_filled_diagonals():
    key = torch.ones(2)
    table = WeakIdKeyDictionary({key: 1})
    assert table[key] == 1 and torch.ones(2) not in table
    del key
    assert len(table) == 0
    assert torch.zeros(5, 2).fill_diagonal_(1, wrap=True).tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]]
