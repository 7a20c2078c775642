"""Losses, normalization, embeddings, recurrent cells, attention."""
import math

import numpy as np
import scipy.special as sp
from golden import M, P, Q, V, W, X, Y, case
from references import cells, ctc, sigmoid

F = "nn.functional."


# -- losses of numbers
def thrice(name, losses, *args, **options):
    """The losses one by one, their mean and their sum."""
    case(name, losses, *args, reduction="none", **options)
    case(name, losses.mean(), *args, **options)
    case(name, losses.sum(), *args, reduction="sum", **options)


SIGNS = np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]])
D = np.abs(X - Y)
thrice(F + "mse_loss", D ** 2, X, Y)
thrice(F + "l1_loss", D, X, Y)
thrice(F + "smooth_l1_loss", np.where(D < 1, D * D / 2, D - 0.5), X, Y)
case(F + "smooth_l1_loss", np.where(D < 2, D * D / 4, D - 1).mean(), X, Y, beta=2.0)
thrice(F + "huber_loss", np.where(D < 1.5, D * D / 2, 1.5 * (D - 0.75)), X, Y, delta=1.5)
_LOGS, _SHARES = sp.log_softmax(X, 1), sp.softmax(Y, 1)
_KL = sp.rel_entr(_SHARES, np.exp(_LOGS))
thrice(F + "kl_div", _KL, _LOGS, _SHARES)
case(F + "kl_div", _KL.sum() / 2, _LOGS, _SHARES, reduction="batchmean")
case(F + "kl_div", _KL, _LOGS, np.log(_SHARES), reduction="none", log_target=True)
thrice(F + "poisson_nll_loss", np.exp(X) - P * X, X, P)
case(F + "poisson_nll_loss", (P - Y * np.log(P + 1e-8)).mean(), P, Y, log_input=False)
_STIRLING = np.where(P > 1, P * np.log(P) - P + 0.5 * np.log(2 * math.pi * P), 0)
case(F + "poisson_nll_loss", np.exp(X) - P * X + _STIRLING, X, P, full=True, reduction="none", _fixed=(1,))
thrice(F + "gaussian_nll_loss", 0.5 * (np.log(P) + (X - Y) ** 2 / P), X, Y, P)
case(F + "gaussian_nll_loss", (0.5 * (np.log(P) + (X - Y) ** 2 / P + math.log(2 * math.pi))).mean(), X, Y, P, full=True)
_ONES = (SIGNS + 1) / 2
_BCE = -(_ONES * np.log(Q) + (1 - _ONES) * np.log(1 - Q))
thrice(F + "binary_cross_entropy", _BCE, Q, _ONES, _fixed=(1,))
case(F + "binary_cross_entropy", (_BCE * P).mean(), Q, _ONES, P, _fixed=(1, 2))
_FROM_LOGITS = np.logaddexp(0, X) - X * Q
thrice(F + "binary_cross_entropy_with_logits", _FROM_LOGITS, X, Q)
case(F + "binary_cross_entropy_with_logits", (Q * V * V * np.logaddexp(0, -X) + (1 - Q) * np.logaddexp(0, X)).sum(), X, Q, reduction="sum",
     pos_weight=V * V, _fixed=(1,))
thrice(F + "soft_margin_loss", np.log1p(np.exp(-SIGNS * X)), X, SIGNS, _fixed=(1,))
thrice(F + "hinge_embedding_loss", np.where(SIGNS > 0, X, np.maximum(0, 1 - X)), X, SIGNS, _fixed=(1,))
thrice(F + "margin_ranking_loss", np.maximum(0, -SIGNS * (X - Y) + 0.5), X, Y, SIGNS, margin=0.5, _fixed=(2,))
_COS = (X * Y).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1)
thrice(F + "cosine_embedding_loss", np.array([1 - _COS[0], max(0, _COS[1] + 0.9)]), X, Y, np.array([1, -1]), margin=-0.9)
_NEAR, _FAR = np.linalg.norm(X - Y + 1e-6, axis=1), np.linalg.norm(X - P + 1e-6, axis=1)
thrice(F + "triplet_margin_loss", np.maximum(_NEAR - _FAR + 3, 0), X, Y, P, margin=3.0)
_SWAPPED = np.minimum(_FAR, np.linalg.norm(Y - P + 1e-6, axis=1))
case(F + "triplet_margin_loss", np.maximum(_NEAR - _SWAPPED + 3, 0).mean(), X, Y, P, margin=3.0, swap=True)
thrice(F + "triplet_margin_with_distance_loss", np.maximum(_NEAR - _FAR + 3, 0), X, Y, P, margin=3.0)
case(F + "triplet_margin_with_distance_loss", np.maximum(D.sum(1) - np.abs(X - P).sum(1) + 3, 0), X, Y, P, margin=3.0, reduction="none",
     distance_function=lambda a, b: (a - b).abs().sum(1))

# -- losses of classes
_CLASS = np.array([2, 0])
_NLL = -_LOGS[[0, 1], _CLASS]
_WEIGHT = np.array([0.5, 2.0, 1.5])
case(F + "nll_loss", _NLL.mean(), _LOGS, _CLASS)
case(F + "nll_loss", (_NLL * _WEIGHT[_CLASS]).sum() / _WEIGHT[_CLASS].sum(), _LOGS, _CLASS, _WEIGHT, _fixed=(2,))
case(F + "nll_loss", np.array([_NLL[0], 0.0]), _LOGS, np.array([2, -100]), reduction="none")
case(F + "cross_entropy", _NLL.mean(), X, _CLASS)
case(F + "cross_entropy", _NLL[0], X, np.array([2, -100]))
case(F + "cross_entropy", (_NLL * _WEIGHT[_CLASS]).sum() / _WEIGHT[_CLASS].sum(), X, _CLASS, _WEIGHT, _fixed=(2,))
case(F + "cross_entropy", -(_SHARES * _LOGS).sum(1).mean(), X, _SHARES)
case(F + "cross_entropy", (0.9 * _NLL - 0.1 * _LOGS.mean(1)).sum(), X, _CLASS, reduction="sum", label_smoothing=0.1)
_LINEAR = sp.log_softmax(X @ M.T + V, 1)
case(F + "linear_cross_entropy", -_LINEAR[[0, 1], _CLASS].mean(), X, M, _CLASS, linear_bias=V)
_GAPS = np.array([[1 - X[0, 2] + X[0, 0], 1 - X[0, 2] + X[0, 1]], [1 - X[1, 0] + X[1, 1], 1 - X[1, 0] + X[1, 2]]])
case(F + "multi_margin_loss", np.maximum(_GAPS, 0).sum(1).mean() / 3, X, _CLASS)
_GAPS = _GAPS + 1
case(F + "multi_margin_loss", (np.maximum(_GAPS, 0) ** 2).sum(1) / 3 * _WEIGHT[_CLASS], X, _CLASS, p=2, margin=2.0, weight=_WEIGHT, reduction="none")
_MULTI = [sum(max(0, 1 - (X[0, t] - X[0, c])) for t in (2, 0) for c in (1,)) / 3, sum(max(0, 1 - (X[1, 1] - X[1, c])) for c in (0, 2)) / 3]
case(F + "multilabel_margin_loss", np.array(_MULTI), X, np.array([[2, 0, -1], [1, -1, 0]]), reduction="none")
_SOFT = (np.logaddexp(0, X) - X * _ONES).mean(1)
thrice(F + "multilabel_soft_margin_loss", _SOFT, X, _ONES, _fixed=(1,))
_PATHS = sp.log_softmax(np.sin(np.arange(24.0) * 1.7).reshape(4, 2, 3), 2)


def normalized(log_probs, *rest):
    """Its gradient is that of probabilities which add up to 1."""
    return (log_probs.log_softmax(2), *rest)


_CTC = np.array([ctc(_PATHS[:, 0], [1, 2]), ctc(_PATHS[:3, 1], [2])])
case(F + "ctc_loss", _CTC, _PATHS, np.array([[1, 2], [2, 0]]), np.array([4, 3]), np.array([2, 1]), reduction="none",
     _before=normalized)
case(F + "ctc_loss", (_CTC / [2, 1]).mean(), _PATHS, np.array([[1, 2], [2, 0]]), np.array([4, 3]), np.array([2, 1]), _before=normalized)

# -- normalization
N = np.sin(np.arange(24.0) * 2.3 + 0.7).reshape(2, 4, 3)
_SCALE, _SHIFT = np.array([0.5, 1.5, -1.0, 2.0]), np.array([0.1, -0.2, 0.3, 0.4])
_A, _B = _SCALE[:, None], _SHIFT[:, None]


def standard(x, axes, eps=1e-5):
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps)


def spread(x, axes, eps=1e-5):
    return 1 / np.sqrt(x.var(axes) + eps)


case(F + "layer_norm", standard(N, 2), N, (3,))
case(F + "layer_norm", standard(N, (1, 2), 0.1) * N[0] + N[1], N, (4, 3), N[0].copy(), N[1].copy(), 0.1)
case("native_layer_norm", (standard(N, 2) * V + W, N.mean(2, keepdims=True), spread(N, 2)[..., None]), N, (3,), V, W, 1e-5)
case(F + "rms_norm", N / np.sqrt((N ** 2).mean(2, keepdims=True) + 0.1) * V, N, (3,), V, 0.1)
_MEAN, _VAR = np.array([0.1, -0.1, 0.2, 0.0]), np.array([0.9, 1.1, 0.5, 2.0])
_TRAINED = standard(N, (0, 2)) * _A + _B
_FIXED_STATS = (N - _MEAN[:, None]) / np.sqrt(_VAR[:, None] + 1e-5) * _A + _B
case(F + "batch_norm", _TRAINED, N, None, None, _SCALE, _SHIFT, True)
case(F + "batch_norm", _FIXED_STATS, N, _MEAN, _VAR, _SCALE, _SHIFT, _fixed=(1, 2))
case("batch_norm", _TRAINED, N, _SCALE, _SHIFT, None, None, True, 0.1, 1e-5)
case("batch_norm", _FIXED_STATS, N, _SCALE, _SHIFT, _MEAN, _VAR, False, 0.1, 1e-5, True, _fixed=(3, 4))
for _name in ("native_batch_norm", "_native_batch_norm_legit"):
    case(_name, (_TRAINED, N.mean((0, 2)), spread(N, (0, 2))), N, _SCALE, _SHIFT, _MEAN, _VAR, True, 0.1, 1e-5,
         _grad="running statistics are written")
case("native_batch_norm", (_TRAINED, N.mean((0, 2)), spread(N, (0, 2))), N, _SCALE, _SHIFT, None, None, True, 0.1, 1e-5, _through=lambda r: r[0])
case("_native_batch_norm_legit", (_TRAINED, N.mean((0, 2)), spread(N, (0, 2))), N, _SCALE, _SHIFT, True, 0.1, 1e-5, _through=lambda r: r[0])
_INSTANCE = standard(N, 2) * _A + _B
case(F + "instance_norm", _INSTANCE, N, None, None, _SCALE, _SHIFT)
case(F + "instance_norm", _FIXED_STATS, N, _MEAN, _VAR, _SCALE, _SHIFT, False, _fixed=(1, 2))
case("instance_norm", _INSTANCE, N, _SCALE, _SHIFT, None, None, True, 0.1, 1e-5)
_PAIRS = N.reshape(2, 2, 2, 3)
_GROUPS = standard(_PAIRS, (2, 3)).reshape(N.shape) * _A + _B
case(F + "group_norm", _GROUPS, N, 2, _SCALE, _SHIFT)
case("group_norm", _GROUPS, N, 2, _SCALE, _SHIFT)
case("native_group_norm", (_GROUPS, _PAIRS.mean((2, 3)), spread(_PAIRS, (2, 3))), N, _SCALE, _SHIFT, 2, 4, 3, 2, 1e-5)
_SQUARES = np.pad(N ** 2, ((0, 0), (1, 1), (0, 0)))
case(F + "local_response_norm", N / (1 + 0.3 * sum(_SQUARES[:, i: i + 4] for i in range(3)) / 3) ** 0.75, N, 3, 0.3)
case(F + "normalize", X / np.linalg.norm(X, axis=1, keepdims=True), X)
case(F + "normalize", X / np.abs(X).sum(0), X, 1.0, 0)

# -- embeddings
_AT = np.array([[2, 0], [1, 2]])
case(F + "embedding", M[_AT], _AT, M)
case("embedding", M[_AT], M, _AT)
_BAGS = np.array([2, 0, 1, 2, 2])
case(F + "embedding_bag", np.stack([M[[2, 0]].mean(0), M[[1, 2, 2]].mean(0)]), _BAGS, M, np.array([0, 2]))
case(F + "embedding_bag", M[_AT].sum(1), _AT, M, mode="sum")
case(F + "embedding_bag", M[_AT].max(1), _AT, M, mode="max")
case(F + "embedding_bag", (M[_AT] * Q[:, :2, None]).sum(1), _AT, M, None, None, 2, False, "sum", False, Q[:, :2].copy())

# -- recurrent cells: gates in PyTorch's documented order
_H = Y[:, :2] * 0.5
_RNN = [X, _H, M[:2].copy(), M[:2, :2].copy(), V[:2].copy(), W[:2].copy()]
_GATES = sum(cells(*_RNN))
case("rnn_tanh_cell", np.tanh(_GATES), *_RNN)
case("rnn_relu_cell", np.maximum(_GATES, 0), *_RNN)
_WIDE, _DEEP = np.concatenate([M, M[::-1] * 0.5, -M[:2]]), np.concatenate([M, M[::-1] * 0.5, -M[:2]])[:, :2]
_BIAS = np.linspace(-0.4, 0.6, 8)
_IN, _FORGET, _NEW, _OUT = np.split(sum(cells(X, _H, _WIDE, _DEEP, _BIAS, -_BIAS * 2)), 4, 1)
_CELL = sigmoid(_FORGET) * Y[:, 1:] + sigmoid(_IN) * np.tanh(_NEW)
case("lstm_cell", (sigmoid(_OUT) * np.tanh(_CELL), _CELL), X, [_H, Y[:, 1:].copy()], _WIDE, _DEEP, _BIAS, -_BIAS * 2)
_ONE, _TWO = cells(X, _H, _WIDE[:6], _DEEP[:6], _BIAS[:6], -_BIAS[:6] * 2)
_RESET, _UPDATE = sigmoid(_ONE[:, :2] + _TWO[:, :2]), sigmoid(_ONE[:, 2:4] + _TWO[:, 2:4])
_NEW = np.tanh(_ONE[:, 4:] + _RESET * _TWO[:, 4:])
case("gru_cell", (1 - _UPDATE) * _NEW + _UPDATE * _H, X, _H, _WIDE[:6].copy(), _DEEP[:6].copy(), _BIAS[:6].copy(), -_BIAS[:6] * 2)

# -- attention
_QUERY, _KEY, _VALUE = (np.sin(np.arange(24.0) * f).reshape(2, 3, 4) for f in (1.3, 2.1, 0.7))


def attention(q, k, v, bias=0.0, scale=None):
    scores = q @ np.swapaxes(k, -1, -2) * (scale or 1 / math.sqrt(q.shape[-1])) + bias
    return sp.softmax(scores, -1) @ v


case(F + "scaled_dot_product_attention", attention(_QUERY, _KEY, _VALUE), _QUERY, _KEY, _VALUE)
case(F + "scaled_dot_product_attention", attention(_QUERY, _KEY, _VALUE, np.triu(np.full((3, 3), -np.inf), 1)), _QUERY, _KEY, _VALUE, is_causal=True)
case(F + "scaled_dot_product_attention", attention(_QUERY, _KEY, _VALUE, M, 0.3), _QUERY, _KEY, _VALUE, M, scale=0.3)
_LET = np.array([[True, False, True], [True, True, True], [False, True, False]])
case(F + "scaled_dot_product_attention", attention(_QUERY, _KEY, _VALUE, np.where(_LET, 0, -np.inf)), _QUERY, _KEY, _VALUE, _LET)
_INTO = np.cos(np.arange(48.0) * 1.9).reshape(12, 4)
_BEYOND = np.cos(np.arange(16.0) * 0.9).reshape(4, 4)
_STEPS = [np.swapaxes(x, 0, 1) for x in (_QUERY, _KEY, _VALUE)]  # (length, batch, features)
_HEADS = []
for _h in range(2):
    _part = [x @ _INTO[4 * i + 2 * _h: 4 * i + 2 * _h + 2].T + _BIAS[2 * _h: 2 * _h + 2] for i, x in enumerate((_QUERY, _KEY, _VALUE))]
    _scores = sp.softmax(_part[0] @ np.swapaxes(_part[1], 1, 2) / math.sqrt(2), -1)
    _HEADS.append((_scores @ _part[2], _scores))
_MIXED = np.concatenate([h for h, _ in _HEADS], -1) @ _BEYOND.T + _SHIFT
case(F + "multi_head_attention_forward", (np.swapaxes(_MIXED, 0, 1), (_HEADS[0][1] + _HEADS[1][1]) / 2), *(np.ascontiguousarray(x) for x in _STEPS),
     4, 2, _INTO, np.tile(_BIAS[:4], 3), None, None, False, 0.0, _BEYOND, _SHIFT)
