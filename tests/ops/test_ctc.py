"""CTC against the sum over all alignments, and its gradient, which is that of log_softmax's input."""
import itertools
import math

import numpy as np
import pytest

import saraph as torch
from saraph.nn import functional as F


def collapsed(path, blank):
    return [label for label, _ in itertools.groupby(path) if label != blank]


def all_alignments(probabilities, labels, blank):
    """-log of the probability of every path that says `labels`."""
    time, classes = probabilities.shape
    total = sum(math.prod(probabilities[t, k] for t, k in enumerate(path)) for path in itertools.product(range(classes), repeat=time)
                if collapsed(path, blank) == labels)
    return -math.log(total) if total else math.inf


LOGITS = np.random.default_rng(1).standard_normal((5, 4, 3))
LABELS, INPUTS, TARGETS = [[1, 2], [1, 1], [], [2, 1, 2]], (5, 3, 4, 5), (2, 2, 0, 3)


@pytest.mark.parametrize("blank", [0, 2])
def test_the_loss_is_the_sum_over_alignments(blank):
    labels = [[2 - x if blank == 2 else x for x in row] for row in LABELS]
    logs = torch.from_numpy(LOGITS).log_softmax(2)
    padded = torch.tensor([row + [0] * (3 - len(row)) for row in labels])
    joined = torch.tensor([x for row in labels for x in row])
    expected = [all_alignments(logs[:n, b].exp().numpy(), labels[b], blank) for b, n in enumerate(INPUTS)]
    for targets in (padded, joined):
        found = F.ctc_loss(logs, targets, INPUTS, TARGETS, blank=blank, reduction="none")
        np.testing.assert_allclose(found.numpy(), expected)
    mean = F.ctc_loss(logs, padded, torch.tensor(INPUTS), torch.tensor(TARGETS), blank=blank)
    assert mean.item() == pytest.approx(np.mean(np.array(expected) / np.maximum(TARGETS, 1)))
    assert F.ctc_loss(logs[:, 0], padded[0, :2], (5,), (2,), blank=blank, reduction="sum").item() == pytest.approx(expected[0])


def test_gradients_of_the_logits_by_differences(check_gradients):
    targets = torch.tensor([[1, 2, 0], [1, 1, 0], [0, 0, 0], [2, 1, 2]])
    check_gradients(lambda x: F.ctc_loss(x.log_softmax(2), targets, INPUTS, TARGETS, reduction="none"), LOGITS)


def test_impossible_targets():
    logs = torch.from_numpy(LOGITS).log_softmax(2).requires_grad_()
    targets, inputs = torch.tensor([[1, 1], [1, 2], [1, 1], [1, 1]]), (2, 0, 5, 5)
    loss = F.ctc_loss(logs, targets, inputs, (2, 2, 2, 0), reduction="none")
    assert loss[:2].tolist() == [math.inf, math.inf] and loss[2:].isfinite().all()
    zeroed = F.ctc_loss(logs, targets, inputs, (2, 2, 2, 0), reduction="none", zero_infinity=True)
    assert zeroed[:2].tolist() == [0, 0] and torch.equal(zeroed[2:], loss[2:])
    zeroed.sum().backward()
    assert logs.grad[:, :2].abs().sum() == 0 and logs.grad.isfinite().all() and logs.grad[:, 2:].abs().sum() > 0
    assert F.ctc_loss(logs, targets, (0, 0, 0, 0), (0, 0, 0, 0), reduction="none").tolist() == [0, 0, 0, 0]


def test_second_derivatives_are_refused():
    logs = torch.from_numpy(LOGITS).log_softmax(2).requires_grad_()
    with pytest.raises(RuntimeError, match="not implemented"):
        torch.autograd.grad(F.ctc_loss(logs, torch.tensor([[1]] * 4), INPUTS, (1,) * 4), logs, create_graph=True)


@pytest.mark.parametrize(("arguments", "options", "error", "text"), [
    ((torch.ones(2, 2, dtype=torch.int64), (5, 6), (2, 2)), {}, RuntimeError, "input_lengths to have value at most 5, but got value 6"),
    ((torch.ones(2, 2, dtype=torch.int64), (5, 5), (2, 3)), {}, RuntimeError, "size at least 3 at dimension 1, but got size 2"),
    ((torch.ones(3, dtype=torch.int64), (5, 5), (2, 2)), {}, RuntimeError, "size 4 at dimension 0, but got size 3"),
    ((torch.ones(2, 2, dtype=torch.int64), (5, 5), (2, -1)), {}, RuntimeError, "at least 0"),
    ((torch.ones(2, 2, dtype=torch.int64), (5,), (2, 2)), {}, RuntimeError, "must be of size batch_size"),
    ((torch.ones(2, 2, dtype=torch.int64), torch.tensor([5.0, 5.0]), torch.tensor([2, 2])), {}, RuntimeError, "must be integral"),
    ((torch.ones(2, 2, dtype=torch.int64), (5, 5), (2, 2)), {"blank": 3}, RuntimeError, "blank must be in label range"),
    ((torch.full((2, 2), 7), (5, 5), (2, 2)), {}, RuntimeError, "every target must be a class number"),
])
def test_refusals(arguments, options, error, text):
    with pytest.raises(error, match=text):
        F.ctc_loss(torch.rand(5, 2, 3), *arguments, **options)
    with pytest.raises(NotImplementedError, match="not implemented"):
        F.ctc_loss(torch.rand(5, 2, 3).half(), torch.ones(2, 2, dtype=torch.int64), (5, 5), (2, 2))
