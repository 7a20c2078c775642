"""Gradient clipping, flattening of parameters, fusion, calls with other parameters, modules without drawing."""
import math

import pytest

import saraph as torch
from saraph import nn
from saraph.nn import utils
from saraph.nn.utils import stateless


def with_grads(*values):
    parameters = []
    for value in values:
        p = nn.Parameter(torch.zeros(len(value)))
        p.grad = torch.tensor(value)
        parameters.append(p)
    return parameters


@pytest.mark.parametrize(("order", "total"), [(2, 5.0), (1, 7.0), (math.inf, 4.0)])
def test_clipping_by_norm(order, total):
    ps = with_grads([3.0], [0.0, 4.0])
    assert utils.clip_grad_norm_(ps, 1.0, order).item() == pytest.approx(total)
    assert ps[0].grad.item() == pytest.approx(3 / total) and ps[1].grad[1].item() == pytest.approx(4 / total)
    small = with_grads([0.1])
    utils.clip_grad_norm_(small, 1.0)
    assert small[0].grad.item() == pytest.approx(0.1)


def test_clipping_of_gradients_that_are_not_finite():
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        utils.clip_grad_norm_(with_grads([math.nan]), 1.0, error_if_nonfinite=True)
    assert math.isnan(utils.clip_grad_norm_(with_grads([math.nan]), 1.0).item())
    assert utils.clip_grad_norm_([nn.Parameter(torch.ones(1))], 1.0).item() == 0
    assert utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])]).item() == 5


def test_clipping_by_value():
    (p,) = with_grads([-3.0, 0.5, 2.0])
    utils.clip_grad_value_(p, 1.0)
    assert p.grad.tolist() == [-1, 0.5, 1]


def test_parameters_as_one_vector():
    m = nn.Linear(2, 2)
    vector = utils.parameters_to_vector(m.parameters())
    assert vector.shape == (6,) and torch.equal(vector[:4], m.weight.flatten())
    utils.vector_to_parameters(torch.arange(6.0), m.parameters())
    assert m.weight.tolist() == [[0, 1], [2, 3]] and m.bias.tolist() == [4, 5]


def trained(norm):
    with torch.no_grad():
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
        norm.weight.normal_()
        norm.bias.normal_()
    return norm.double().eval()


@pytest.mark.parametrize("bias", [True, False])
def test_fusion_with_batch_norm(bias):
    torch.manual_seed(0)
    x = torch.rand(2, 3, 5, 5, dtype=torch.float64)
    conv, norm = nn.Conv2d(3, 4, 2, bias=bias).double().eval(), trained(nn.BatchNorm2d(4))
    fused = utils.fuse_conv_bn_eval(conv, norm)
    assert torch.allclose(fused(x), norm(conv(x))) and fused is not conv and fused.bias is not None
    conv = nn.ConvTranspose2d(3, 4, 2, bias=bias).double().eval()
    assert torch.allclose(utils.fuse_conv_bn_eval(conv, norm, transpose=True)(x), norm(conv(x)))
    linear, norm = nn.Linear(5, 4, bias=bias).double().eval(), trained(nn.BatchNorm1d(4))
    rows = torch.rand(3, 5, dtype=torch.float64)
    assert torch.allclose(utils.fuse_linear_bn_eval(linear, norm)(rows), norm(linear(rows)))
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        utils.fuse_linear_bn_eval(linear.train(), norm)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight
        self.bn = nn.BatchNorm1d(2)

    def forward(self, x, scale=1):
        return self.b(self.a(x)) * scale + self.bn(x) * 0


def call(module, tensors, *args, **options):
    with pytest.warns(FutureWarning, match="functional_call"):
        return stateless.functional_call(module, tensors, *args, **options)


def test_calls_with_other_parameters():
    net, x = Net(), torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    before = {k: v.clone() for k, v in net.state_dict().items()}
    double = (2 * torch.eye(2)).requires_grad_()
    given = {"a.weight": double, "bn.num_batches_tracked": torch.tensor(5)}
    y = call(net, given, x, {"scale": 3})
    assert torch.equal(y, 12 * x)  # the tied weight is replaced too
    y.sum().backward()
    assert double.grad is not None and net.a.weight.grad is None and given["bn.num_batches_tracked"].item() == 6
    assert torch.equal(net.a.weight, before["a.weight"]) and net.bn.num_batches_tracked == 0
    assert torch.equal(call(net, given, x, tie_weights=False), 2 * net.a(x))


def test_refusals_of_calls():
    net, x, w = Net(), torch.ones(2, 2), torch.eye(2)
    with pytest.raises(ValueError, match="multiple values for keys"):
        call(net, {"a.weight": w, "b.weight": 2 * w}, x)
    with pytest.raises(RuntimeError, match="Missing key"):
        call(net, {"a.weight": w}, x, strict=True)
    with pytest.raises(RuntimeError, match="Unexpected key"):
        call(net, {"zz": w}, x, strict=True)
    with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
        call(net, ({"a.weight": w}, {"a.weight": w}), x)
    weight = net.a.weight
    with pytest.raises(RuntimeError):
        call(net, {"a.weight": torch.ones(3, 3)}, x)
    assert net.a.weight is weight


def test_skipping_initialisation_draws_nothing():
    torch.manual_seed(0)
    m = utils.skip_init(nn.Linear, 3, 4, dtype=torch.float64)
    assert m.weight.shape == (4, 3) and m.weight.dtype is torch.float64 and not m.weight.is_meta
    after = torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(1), after)
    with pytest.raises(RuntimeError, match="'device' arg"):
        utils.skip_init(nn.ReLU)


def test_memory_formats_of_weights():
    m = utils.convert_conv2d_weight_memory_format(nn.Sequential(nn.Conv2d(3, 4, 2)), torch.channels_last)
    assert m[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_data_parallel_without_devices_is_the_module():
    m = nn.Linear(2, 1)
    wrapped = nn.DataParallel(m)
    x = torch.rand(3, 2)
    assert torch.equal(wrapped(x), m(x)) and wrapped.module is m and list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        nn.parallel.DistributedDataParallel(m)
    with pytest.raises(RuntimeError, match="device type could not be determined"):
        nn.parallel.data_parallel(m, (x,))


def test_the_choice_of_attention():
    from saraph.nn.attention import SDPBackend, sdpa_kernel

    q = torch.rand(1, 2, 4)
    plain = nn.functional.scaled_dot_product_attention(q, q, q)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        assert torch.backends.cuda.flash_sdp_enabled() and not torch.backends.cuda.mem_efficient_sdp_enabled()
        assert torch.equal(nn.functional.scaled_dot_product_attention(q, q, q), plain)
    assert torch.backends.cuda.mem_efficient_sdp_enabled() and str(SDPBackend.MATH) == "SDPBackend.MATH"
    with pytest.raises(AssertionError, match="SDPBackend"):
        with sdpa_kernel(3):
            pass
