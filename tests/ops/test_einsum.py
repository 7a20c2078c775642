"""einsum against numpy.einsum."""
import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(2)
SIZES = {"i": 2, "j": 3, "k": 4, "l": 2, "b": 5, "A": 3, "z": 2}
EQUATIONS = ["ij,jk->ik", "ij,jk", "bij,bjk->bik", "ij->ji", "ba", "ij->", "ij->j", "i,j->ij", "ij,ij->", "ij,ij->ij", "bi,bj->bij", "ijk,jk->i",
             "ij,jk,kl->il", "bij,kj,kl->bil", "ii->i", "ii", "iji->j", "ijk,ikl,jz->bijz".replace("b", ""), "Ab,bz->zA", "i,->i", ",->",
             "ij , jk -> k i"]


def operands(equation):
    left = equation.split("->")[0].replace(" ", "")
    return [rng.standard_normal([SIZES.get(c, 3) for c in term]) for term in left.split(",")]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_equations(equation, check_gradients):
    arrays = operands(equation)
    result = torch.einsum(equation, *[torch.from_numpy(a) for a in arrays])
    np.testing.assert_allclose(result.numpy(), np.einsum(equation, *arrays), rtol=1e-10, atol=1e-12)
    if len(arrays) < 3:
        check_gradients(lambda *ts: torch.einsum(equation, *ts), *arrays)


@pytest.mark.parametrize(("equation", "shapes"), [
    ("...ij,...jk->...ik", [(5, 1, 2, 3), (4, 3, 2)]), ("...i->...", [(2, 3)]), ("i...,i...->...", [(2, 3, 4), (2, 1, 4)]),
    ("...->...", [(2, 3)]), ("...ij->...ji", [(4, 2, 3)]), ("b...,b->...", [(3, 2, 2), (3,)])])
def test_ellipsis(equation, shapes):
    arrays = [rng.standard_normal(s) for s in shapes]
    np.testing.assert_allclose(torch.einsum(equation, *[torch.from_numpy(a) for a in arrays]).numpy(), np.einsum(equation, *arrays), rtol=1e-10)


def test_implicit_ellipsis_and_dropped_ellipsis():
    x = torch.from_numpy(rng.standard_normal((2, 3, 3)))
    np.testing.assert_allclose(torch.einsum("...i->i", x).numpy(), x.numpy().sum((0, 1)))
    assert torch.einsum("...ij", x).shape == (2, 3, 3)


def test_sizes_of_one_broadcast():
    x, y = rng.standard_normal((1, 3)), rng.standard_normal((2, 3))
    np.testing.assert_allclose(torch.einsum("ij,ij->ij", torch.from_numpy(x), torch.from_numpy(y)).numpy(), x * y)
    np.testing.assert_allclose(torch.einsum("ij,ij->", torch.from_numpy(x), torch.from_numpy(y)).numpy(), (x * y).sum())


def test_sublist_form_and_list_of_operands():
    x, y = rng.standard_normal((2, 3)), rng.standard_normal((3, 4))
    a, b = torch.from_numpy(x), torch.from_numpy(y)
    np.testing.assert_allclose(torch.einsum(a, [0, 1], b, [1, 2], [2, 0]).numpy(), (x @ y).T)
    np.testing.assert_allclose(torch.einsum(a, [..., 1], b, [1, 2]).numpy(), x @ y)
    np.testing.assert_allclose(torch.einsum("ij,jk", [a, b]).numpy(), x @ y)


def test_integers():
    x = torch.tensor([[1, 2], [3, 4]])
    assert torch.einsum("ij,jk->ik", x, x).tolist() == [[7, 10], [15, 22]]


@pytest.mark.parametrize(("equation", "shapes", "text"), [
    ("ij,jk", [(2, 3), (4, 5)], "subscript j has size 4 for operand 1"),
    ("ij->l", [(2, 3)], "output subscript l does not appear"),
    ("ij->ii", [(2, 3)], "appears more than once in the output"),
    ("ijk", [(2, 3)], "does not match the number of dimensions"),
    ("ii", [(2, 3)], "sizes don't match, 3 != 2"),
    ("i,j", [(2,)], "fewer operands were provided"),
    ("i", [(2,), (2,)], "more operands were provided"),
    ("i%", [(2,)], "invalid subscript given at index 1"),
    ("i..", [(2,)], "not part of any ellipsis"),
    ("...i...", [(2,)], "already found"),
])
def test_errors(equation, shapes, text):
    with pytest.raises(RuntimeError, match=text):
        torch.einsum(equation, *[torch.zeros(s) for s in shapes])
