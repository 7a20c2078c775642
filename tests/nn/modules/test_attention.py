"""MultiheadAttention and Transformer layers: golden numbers, masks, layouts."""
import math

import numpy as np
import pytest

import saraph as torch
from saraph import nn


def filled(module):
    """The module in double, its parameters half sines of 0, 1, 2, ..."""
    module.double()
    start = 0
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.sin(torch.arange(start, start + p.numel(), dtype=p.dtype)).reshape(p.shape) * 0.5)
            start += p.numel()
    return module


def cosines(*shape):
    return torch.cos(torch.arange(math.prod(shape), dtype=torch.float64)).reshape(shape)


def flat(t):
    return t.detach().flatten().tolist()


X = cosines(3, 2, 4)


def by_hand(m, q, k, v, mask=None):
    """Attention of (length, width) arrays, one head after the other, in NumPy."""
    weight, bias, width, heads = m.in_proj_weight.detach().numpy(), m.in_proj_bias.detach().numpy(), m.embed_dim, m.num_heads
    q, k, v = (x @ weight[i * width:(i + 1) * width].T + bias[i * width:(i + 1) * width] for i, x in enumerate((q, k, v)))
    size, rows, shares = width // heads, [], []
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        scores = q[:, part] @ k[:, part].T / math.sqrt(size)
        scores = scores if mask is None else np.where(mask, -np.inf, scores)
        share = np.exp(scores - scores.max(1, keepdims=True))
        share /= share.sum(1, keepdims=True)
        rows.append(share @ v[:, part])
        shares.append(share)
    return np.concatenate(rows, 1) @ m.out_proj.weight.detach().numpy().T + m.out_proj.bias.detach().numpy(), np.stack(shares)


@pytest.mark.parametrize("masked", [False, True])
def test_attention_by_hand(masked):
    m, mask = filled(nn.MultiheadAttention(4, 2)), np.triu(np.ones((3, 3), bool), 1) if masked else None
    out, weights = m(X, X, X, attn_mask=None if mask is None else torch.from_numpy(mask), average_attn_weights=False)
    for b in range(2):
        expected, shares = by_hand(m, *[X[:, b].numpy()] * 3, mask)
        np.testing.assert_allclose(out[:, b].detach().numpy(), expected)
        np.testing.assert_allclose(weights[b].detach().numpy(), shares, atol=1e-15)
    without, nothing = m(X, X, X, attn_mask=None if mask is None else torch.from_numpy(mask), need_weights=False)
    assert nothing is None and torch.allclose(without, out)


def test_every_extra_at_once():
    m = filled(nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True))
    assert m.in_proj_weight is None and m.q_proj_weight.shape == (4, 4) and m.k_proj_weight.shape == (4, 3) and m.v_proj_weight.shape == (4, 5)
    k, v = cosines(3, 2, 3), torch.sin(torch.arange(30, dtype=torch.float64)).reshape(3, 2, 5)
    out, weights = m(X, k, v, key_padding_mask=torch.tensor([[False, True, False], [False, False, False]]))
    assert weights.shape == (2, 3, 5)
    assert flat(out[0]) == pytest.approx([0.656004, -0.608295, -0.071013, -0.401431, 0.563175, -0.257734, -0.436467, -0.274237], abs=1e-6)
    assert flat(weights[0]) == pytest.approx([0.225039, 0.0, 0.157639, 0.332339, 0.284982, 0.235933, 0.0, 0.27356, 0.251943, 0.238564, 0.208931, 0.0,
                                              0.311359, 0.261012, 0.218698], abs=1e-6)


def test_layouts_agree():
    m = filled(nn.MultiheadAttention(4, 2))
    first = filled(nn.MultiheadAttention(4, 2, batch_first=True))
    out, weights = m(X, X, X)
    turned, same = first(X.transpose(0, 1), X.transpose(0, 1), X.transpose(0, 1))
    assert torch.allclose(turned.transpose(0, 1), out) and torch.allclose(weights, same)
    alone, share = m(X[:, 0], X[:, 0], X[:, 0])
    assert alone.shape == (3, 4) and share.shape == (3, 3) and torch.allclose(alone, out[:, 0])
    causal = torch.ones(3, 3, dtype=torch.bool).triu(1)
    added = torch.zeros(3, 3, dtype=torch.float64).masked_fill(causal, -math.inf)
    one, two = m(X, X, X, attn_mask=causal)[0], m(X, X, X, attn_mask=added)[0]
    assert torch.allclose(one, two) and torch.allclose(m(X, X, X, attn_mask=causal, is_causal=True, need_weights=False)[0], one)


def test_wrong_shapes_are_named():
    m = nn.MultiheadAttention(4, 2)
    with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
        nn.MultiheadAttention(5, 2)
    x = torch.rand(3, 2, 4)
    with pytest.raises(AssertionError, match="embedding dimension of 4, but got 6"):
        m(torch.rand(3, 2, 6), x, x)
    with pytest.raises(RuntimeError, match=r"2D attn_mask"):
        m(x, x, x, attn_mask=torch.zeros(2, 3))
    with pytest.raises(AssertionError, match="unbatched 2D or batched 3D"):
        m(x[0, 0], x, x)
    with pytest.raises(RuntimeError, match="Need attn_mask if specifying the is_causal hint"):
        m(x, x, x, is_causal=True)


@pytest.mark.parametrize(("options", "encoded", "decoded"), [
    ({}, [-0.197776, -0.094499, 0.229764, 0.882697, -0.030299, -0.52626, 0.179348, 0.761182],
     [-0.385719, -0.885435, 0.514217, 0.643017, -0.549949, -0.733602, 0.567509, 0.646522]),
    ({"norm_first": True, "activation": "gelu"}, [1.262975, 0.843352, 0.615947, -1.800881, -0.394324, 0.593877, 2.016789, -0.090998],
     [0.168987, 0.844524, 1.211943, -0.508846, -2.008876, 0.358121, 3.450385, 0.362235])])
def test_golden_transformer_layers(options, encoded, decoded):
    layer = filled(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, **options))
    assert flat(layer(X)[0]) == pytest.approx(encoded, abs=1e-6)
    layer = filled(nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, **options))
    assert flat(layer(X, X[:2] * 2)[0]) == pytest.approx(decoded, abs=1e-6)


def test_golden_transformer():
    m = filled(nn.Transformer(4, 2, 1, 1, 8, dropout=0.0))
    out = m(X, X[:2], tgt_mask=nn.Transformer.generate_square_subsequent_mask(2, dtype=torch.float64))
    assert flat(out) == pytest.approx([-0.404168, -0.261546, -0.740227, 0.372435, -0.408981, -0.249252, -0.736491, 0.372099, -0.39808, -0.303807, -0.73834,
                                       0.372119, -0.418738, -0.189862, -0.732524, 0.372586], abs=1e-6)
    with pytest.raises(RuntimeError, match="batch number of src and tgt must be equal"):
        m(X, X[:, :1])
    with pytest.raises(RuntimeError, match="feature number of src and tgt must be equal to d_model"):
        m(cosines(3, 2, 6), cosines(3, 2, 6))


def test_the_causal_mask():
    assert nn.Transformer.generate_square_subsequent_mask(3).tolist() == [[0, -math.inf, -math.inf], [0, 0, -math.inf], [0, 0, 0]]


def test_stacks_copy_their_layer_and_later_positions_do_not_matter():
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True).double()
    stack = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(4).double())
    assert stack.layers[0].linear1.weight is not stack.layers[1].linear1.weight
    assert torch.equal(stack.layers[0].linear1.weight, stack.layers[1].linear1.weight)
    mask, x = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64), torch.rand(2, 5, 4, dtype=torch.float64)
    changed = x.clone()
    changed[:, 3:] += 1
    assert torch.allclose(stack(x, mask=mask, is_causal=True)[:, :3], stack(changed, mask=mask)[:, :3])
