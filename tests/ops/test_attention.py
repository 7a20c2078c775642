"""scaled_dot_product_attention: masks, scale, grouped heads, 16-bit numbers, gradients, refusals."""
import math

import numpy as np
import pytest

import saraph as torch
from saraph.nn import functional as F

RNG = np.random.default_rng(6)


def doubles(*shape):
    return torch.from_numpy(RNG.standard_normal(shape))


def by_hand(q, k, v, mask=None, scale=None):
    q, k, v = (t.numpy() for t in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    scores = scores if mask is None else scores + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


Q, K, V = doubles(2, 4, 5, 3), doubles(2, 4, 6, 3), doubles(2, 4, 6, 7)


def test_masks_scales_and_shapes():
    added = torch.from_numpy(RNG.standard_normal((5, 6)))
    np.testing.assert_allclose(F.scaled_dot_product_attention(Q, K, V, added).numpy(), by_hand(Q, K, V, added.numpy()))
    kept = torch.from_numpy(RNG.random((2, 1, 5, 6)) < 0.8)
    kept[..., 0] = True
    np.testing.assert_allclose(F.scaled_dot_product_attention(Q, K, V, kept).numpy(), by_hand(Q, K, V, np.where(kept.numpy(), 0, -np.inf)))
    causal = np.where(np.tril(np.ones((5, 6))) > 0, 0, -np.inf)
    np.testing.assert_allclose(F.scaled_dot_product_attention(Q, K, V, is_causal=True).numpy(), by_hand(Q, K, V, causal))
    for scale in (0.3, 0.0, -2.0):
        np.testing.assert_allclose(F.scaled_dot_product_attention(Q, K, V, scale=scale).numpy(), by_hand(Q, K, V, scale=scale))
    assert F.scaled_dot_product_attention(Q[0, 0], K[0, 0], V[0, 0]).shape == (5, 7)
    assert F.scaled_dot_product_attention(Q, K[:, :1], V[:, :1]).shape == (2, 4, 5, 7)


def test_rows_that_see_nothing_are_zero():
    kept = torch.ones(5, 6, dtype=torch.bool)
    kept[2] = False
    for mask in (kept, torch.zeros(5, 6, dtype=torch.float64).masked_fill(~kept, -math.inf)):
        y = F.scaled_dot_product_attention(Q, K, V, mask)
        assert y[..., 2, :].abs().sum() == 0 and y.isfinite().all()
        np.testing.assert_allclose(y[..., 0, :].numpy(), by_hand(Q, K, V)[..., 0, :])


def test_grouped_heads_share_keys_and_values():
    k, v = doubles(2, 2, 6, 3), doubles(2, 2, 6, 7)
    found = F.scaled_dot_product_attention(Q, k, v, enable_gqa=True)
    np.testing.assert_allclose(found.numpy(), by_hand(Q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)))
    with pytest.raises(RuntimeError, match="must divide the number of heads"):
        F.scaled_dot_product_attention(Q, doubles(2, 3, 6, 3), doubles(2, 3, 6, 7), enable_gqa=True)


def test_gradients(check_gradients):
    check_gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), Q[0, :2].numpy(), K[0, :2].numpy(), V[0, :2].numpy())
    check_gradients(lambda q, m: F.scaled_dot_product_attention(q, K[0, 0], V[0, 0], m), Q[0, 0].numpy(), RNG.standard_normal((5, 6)))


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_16_bit_results_are_rounded_once(kind):
    q, k, v = (t.to(kind) for t in (Q, K, V))
    found = F.scaled_dot_product_attention(q, k, v)
    assert found.dtype is kind
    np.testing.assert_allclose(found.double().numpy(), by_hand(q.double(), k.double(), v.double()), rtol=1e-2, atol=1e-3)


def test_dropout_of_weights_keeps_the_mean():
    torch.manual_seed(0)
    v = torch.ones(1, 2000, 1)
    y = F.scaled_dot_product_attention(torch.zeros(1, 50, 4), torch.zeros(1, 2000, 4), v, dropout_p=0.5)
    assert y.mean().item() == pytest.approx(1, abs=0.05) and not torch.equal(y, torch.ones_like(y))


@pytest.mark.parametrize(("arguments", "options", "text"), [
    ((Q[0, 0, 0], K, V), {}, "at least 2 dimensional"),
    ((Q.float(), K, V), {}, "same dtype"),
    ((Q, K, V, torch.ones(5, 6)), {}, "attn_mask dtype to be bool or float or to match query dtype"),
    ((Q, K, V, torch.ones(5, 6, dtype=torch.bool)), {"is_causal": True}, "should not be set when is_causal=True"),
])
def test_refusals(arguments, options, text):
    with pytest.raises(RuntimeError, match=text):
        F.scaled_dot_product_attention(*arguments, **options)


def test_second_derivatives_and_grouped_heads():
    q, k, v = (torch.from_numpy(RNG.standard_normal(shape)).requires_grad_() for shape in ((1, 4, 3, 2), (1, 2, 4, 2), (1, 2, 4, 2)))
    kept = torch.from_numpy(RNG.random((3, 4)) < 0.7)
    assert torch.autograd.gradcheck(lambda *x: F.scaled_dot_product_attention(*x, kept, enable_gqa=True), (q, k, v))
    assert torch.autograd.gradgradcheck(lambda *x: F.scaled_dot_product_attention(*x, kept, enable_gqa=True), (q, k, v))


def test_a_mask_that_is_learned_gets_a_gradient():
    bias = doubles(5, 6).requires_grad_()
    F.scaled_dot_product_attention(Q, K, V, bias).sum().backward()
    assert bias.grad.shape == (5, 6)


def test_shapes_without_values():
    q, k = torch.empty(2, 4, 5, 8, device="meta", requires_grad=True), torch.empty(2, 4, 7, 8, device="meta")
    y = F.scaled_dot_product_attention(q, k, k)
    y.sum().backward()
    assert y.shape == (2, 4, 5, 8) and q.grad.shape == q.shape


@pytest.mark.parametrize("batch_first", [False, True])
def test_multi_head_attention_with_and_without_weights_is_the_same(batch_first):
    torch.manual_seed(4)
    layer = torch.nn.MultiheadAttention(12, 3, batch_first=batch_first, dtype=torch.float64)
    x = doubles(4, 5, 12).requires_grad_()
    batch, length = (4, 5) if batch_first else (5, 4)
    padding = torch.zeros(batch, length, dtype=torch.bool)
    padding[1, -2:] = True
    mask = torch.ones(length, length).triu(1).bool()
    results = []
    for weights in (False, True):
        y, _ = layer(x, x, x, key_padding_mask=padding, attn_mask=mask, need_weights=weights)
        results.append((y, *torch.autograd.grad(y.sin().sum(), [x, *layer.parameters()])))
    for a, b in zip(*results):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 1e-9, 1e-12)
