"""The copying forms of views: same values and check_gradients, memory of their own."""
import numpy as np
import pytest

import saraph as torch

X = np.random.default_rng(6).standard_normal((3, 4))
CALLS = [
    (torch.alias_copy, ()), (torch.as_strided_copy, ((2, 2), (1, 3), 1)), (torch.diagonal_copy, (1,)), (torch.expand_copy, ((2, 3, 4),)),
    (torch.narrow_copy, (1, 1, 2)), (torch.permute_copy, ((1, 0),)), (torch.select_copy, (0, 1)), (torch.slice_copy, (1, 1, None, 2)),
    (torch.squeeze_copy, ()), (torch.unsqueeze_copy, (1,)), (torch.t_copy, ()), (torch.transpose_copy, (0, 1)), (torch.unfold_copy, (1, 2, 1)),
    (torch.view_copy, ((2, 6),)), (torch.unbind_copy, (1,)), (torch.split_copy, (2,)), (torch.split_with_sizes_copy, ([1, 2],)),
]


@pytest.mark.parametrize(("function", "arguments"), CALLS, ids=[f.__name__ for f, _ in CALLS])
def test_same_as_the_view(function, arguments, check_gradients):
    x = torch.from_numpy(X)
    view = getattr(torch.Tensor, function.__name__.removesuffix("_copy"), None)
    made = function(x, *arguments)
    if view is not None and function is not torch.slice_copy:
        expected = view(x, *arguments)
        for a, b in zip(made if isinstance(made, tuple) else [made], expected if isinstance(expected, tuple) else [expected]):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
    for a in made if isinstance(made, tuple) else [made]:
        assert not np.shares_memory(a.numpy(), X)
    check_gradients(lambda t: function(t, *arguments), X)


def test_detach_copy_has_no_history():
    x = torch.ones(2, requires_grad=True)
    assert not torch.detach_copy(x).requires_grad


def test_out():
    x, out = torch.from_numpy(X), torch.empty(4, 3, dtype=torch.float64)
    assert torch.t_copy(x, out=out) is out and (out.numpy() == X.T).all()
