import pytest

import saraph as torch
from saraph.testing import assert_close, make_tensor


def test_message_names_counts_and_places():
    with pytest.raises(AssertionError) as error:
        assert_close([1, torch.tensor([1.0, 2.0])], [1, torch.tensor([1.0, 4.0])])
    text = str(error.value)
    assert text.startswith("Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\nGreatest absolute difference: 2.0 at index (1,)")
    assert text.endswith("The failure occurred for item [1]")


@pytest.mark.parametrize(("a", "b", "error"), [
    (torch.ones(2), torch.ones(3), "'shape' do not match"), (torch.ones(2), torch.ones(2).double(), "'dtype' do not match"),
    ({"a": 1}, {"b": 1}, "keys of the mappings"), (1, 2, "Scalars are not equal"), (None, 1, "None mismatch"),
    (torch.tensor([float("nan")]), torch.tensor([float("nan")]), "Mismatched elements: 1 / 1")])
def test_refusals(a, b, error):
    with pytest.raises(AssertionError, match=error.replace("(", r"\(")):
        assert_close(a, b)


def test_options():
    assert_close(torch.tensor(1.0), torch.tensor(1.05), rtol=0, atol=0.1)
    assert_close(torch.tensor([float("nan")]), torch.tensor([float("nan")]), equal_nan=True)
    assert_close(torch.ones(2), torch.ones(2).double(), check_dtype=False)
    with pytest.raises(ValueError, match="but got no atol"):
        assert_close(1.0, 1.0, rtol=0.1)
    with pytest.raises(AssertionError, match="^mine: Sc"):
        assert_close(1, 2, msg=lambda text: "mine: " + text)


def test_make_tensor():
    x = make_tensor(4, 3, dtype=torch.float32, device="cpu", low=2, high=3, noncontiguous=True, requires_grad=True)
    assert x.shape == (4, 3) and not x.is_contiguous() and bool(((x >= 2) & (x < 3)).all()) and x.requires_grad
    assert make_tensor((5,), dtype=torch.int64, device="cpu", exclude_zero=True).ne(0).all()
