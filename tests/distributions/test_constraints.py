"""Constraints: which points lie in them, what they say of themselves; and the helpers of utils."""
import pytest

import saraph as torch
from saraph.distributions import constraints as c
from saraph.distributions import utils

t = torch.tensor


@pytest.mark.parametrize("constraint, value, expected", [
    (c.boolean, t([0, 1, 2]), [True, True, False]),
    (c.one_hot, t([[0, 1, 0], [1, 1, 0]]), [True, False]),
    (c.integer_interval(0, 3), t([0.5, 3, 4]), [False, True, False]),
    (c.nonnegative_integer, t([-1, 0, 1]), [False, True, True]),
    (c.positive_integer, t([-1, 0, 1]), [False, False, True]),
    (c.real, t([float("nan"), float("inf"), 1.0]), [False, True, True]),
    (c.positive, t([-1.0, 0, 1]), [False, False, True]),
    (c.nonnegative, t([-1.0, 0, 1]), [False, True, True]),
    (c.less_than(1), t([0.0, 1]), [True, False]),
    (c.greater_than(t([0.0, 2])), t([1.0, 1]), [True, False]),
    (c.half_open_interval(0, 3), t([0, 0.5, 3, 4]), [True, True, False, False]),
    (c.unit_interval, t([0, 0.5, 1, 4]), [True, True, True, False]),
    (c.simplex, t([[0.5, 0.5], [0.5, 0.6], [1.5, -0.5]]), [True, False, False]),
    (c.multinomial(3), t([[1, 2], [2, 2], [-1, 2]]), [True, False, False]),
    (c.real_vector, t([[1.0, float("nan")], [1, 2]]), [False, True]),
    (c.lower_triangular, t([[[1.0, 0], [1, 1]], [[1, 1], [0, 1]]]), [True, False]),
    (c.lower_cholesky, t([[[1.0, 0], [1, 1]], [[1, 0], [0, -1]]]), [True, False]),
    (c.corr_cholesky, t([[[1.0, 0], [0.6, 0.8]], [[1, 0], [0.6, 0.6]]]), [True, False]),
    (c.symmetric, t([[[1.0, 2], [2, 1]], [[1, 0], [1, 1]]]), [True, False]),
    (c.positive_definite, t([[[2.0, 1], [1, 2]], [[1, 2], [2, 1]]]), [True, False]),
    (c.positive_semidefinite, t([[[0.0, 0], [0, 0]], [[1, 2], [2, 1]]]), [True, False]),
    (c.square, torch.ones(2, 2, 3), [False, False]),
    (c.cat([c.positive, c.real], -1, [2, 1]), t([1.0, -2, -3]), [True, False, True]),
    (c.stack([c.positive, c.real], 0), t([[1.0, -1], [-3, 2]]), [[True, False], [True, True]]),
    (c.MixtureSameFamilyConstraint(c.interval(0, t([1.0, 2.0]))), t([0.5, 1.5]), [True, False]),
], ids=repr)
def test_check(constraint, value, expected):
    assert constraint.check(value).tolist() == expected


def test_text_and_dimensions():
    assert repr(c.positive) == "GreaterThan(lower_bound=0.0)" and repr(c.interval(0, 1)) == "Interval(lower_bound=0, upper_bound=1)"
    assert repr(c.independent(c.real, 1)) == "IndependentConstraint(Real(), 1)" and repr(c.simplex) == "Simplex()"
    assert c.independent(c.simplex, 1).event_dim == 2 and c.stack([c.real], -1).event_dim == 1 and c.stack([c.real], 0).event_dim == 0
    assert c.cat([c.real, c.boolean]).is_discrete and not c.real.is_discrete


def test_dependent():
    assert c.is_dependent(c.dependent) and not c.is_dependent(c.real)
    known = c.dependent(event_dim=1)
    assert known.event_dim == 1
    with pytest.raises(NotImplementedError, match="is_discrete cannot be determined statically"):
        _ = known.is_discrete
    with pytest.raises(ValueError, match="Cannot determine validity of dependent constraint"):
        c.dependent.check(t(1.0))

    class Interval:
        high = 3

        @c.dependent_property(is_discrete=False, event_dim=0)
        def support(self):
            return c.interval(0, self.high)

    assert c.is_dependent(Interval.support) and repr(Interval().support) == "Interval(lower_bound=0, upper_bound=3)"


def test_errors():
    with pytest.raises(ValueError, match="Expected value.dim"):
        c.independent(c.real, 1).check(t(1.0))
    with pytest.raises(AssertionError, match="must be an int"):
        c.independent(c.real, "a")
    with pytest.raises(AssertionError, match="must match cseq"):
        c.cat([c.real], 0, [1, 2])


def test_broadcast_all():
    a, b = utils.broadcast_all(torch.zeros(2, 1, dtype=torch.float64), 3)
    assert b.dtype is torch.float64 and a.shape == b.shape == (2, 1)
    assert [x.dtype for x in utils.broadcast_all(1, 2)] == [torch.float32] * 2
    with pytest.raises(ValueError, match="Input arguments must all be instances of Number, torch.Tensor"):
        utils.broadcast_all(1, "a")


def test_logits_and_probs():
    p = t([0.2, 0.3, 0.5], dtype=torch.float64)
    assert torch.allclose(utils.logits_to_probs(utils.probs_to_logits(p)), p)
    assert torch.allclose(utils.logits_to_probs(utils.probs_to_logits(p, True), True), p)
    assert torch.isfinite(utils.probs_to_logits(t([0.0, 1.0]), is_binary=True)).all()


@pytest.mark.parametrize("diag", [-1, 0, 1])
def test_triangular_vectors(diag):
    matrix = torch.arange(1.0, 10).view(3, 3)
    vector = utils.tril_matrix_to_vec(matrix, diag)
    if diag <= 0:
        assert torch.equal(utils.vec_to_tril_matrix(vector, diag), matrix.tril(diag))
    assert torch.equal(vector, matrix[matrix.tril(diag) > 0])
    with pytest.raises(ValueError, match="outside"):
        utils.tril_matrix_to_vec(matrix, 3)
