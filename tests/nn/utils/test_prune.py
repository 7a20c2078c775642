"""Pruning by masks."""
import pytest

import saraph as torch
from saraph import nn
from saraph.nn.utils import prune

WEIGHT = [[0.1, -0.9, 0.3], [0.8, -0.2, 0.5]]


def linear():
    m = nn.Linear(3, 2)
    with torch.no_grad():
        m.weight.copy_(torch.tensor(WEIGHT))
        m.bias.copy_(torch.tensor([0.05, 0.6]))
    return m


def test_the_smallest_elements_go_and_stay_gone():
    m = prune.l1_unstructured(linear(), "weight", 0.5)
    assert m.weight_mask.tolist() == [[0, 1, 0], [1, 0, 1]] and list(m.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    m(torch.ones(1, 3)).sum().backward()
    assert m.weight_orig.grad.tolist() == [[0, 1, 0], [1, 0, 1]] and prune.is_pruned(m)
    with torch.no_grad():
        m.weight_orig.fill_(2)
    m(torch.ones(1, 3))
    assert m.weight.tolist() == [[0, 2, 0], [2, 0, 2]]
    parameter = m.weight_orig
    prune.remove(m, "weight")
    assert m.weight is parameter and m.weight.tolist() == [[0, 2, 0], [2, 0, 2]] and not prune.is_pruned(m) and list(m.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(m, "weight")


def test_methods_combine_in_a_container():
    m = prune.l1_unstructured(linear(), "weight", 2)
    prune.l1_unstructured(m, "weight", 1)  # of those that are left
    assert m.weight_mask.tolist() == [[0, 1, 0], [1, 0, 1]]
    prune.ln_structured(m, "weight", 1, n=2, dim=0)
    assert m.weight_mask.tolist() == [[0, 0, 0], [1, 0, 1]]
    (hook,) = m._forward_pre_hooks.values()
    assert isinstance(hook, prune.PruningContainer) and len(hook) == 3 and [type(h).__name__ for h in hook][-1] == "LnStructured"


def test_structured_pruning():
    m = prune.ln_structured(linear(), "weight", 1, n=1, dim=1)
    assert m.weight_mask.tolist() == [[1, 1, 0], [1, 1, 0]]
    torch.manual_seed(0)
    m = prune.random_structured(linear(), "weight", 2, dim=1)
    assert m.weight_mask.sum(0).tolist().count(2.0) == 1
    with pytest.raises(ValueError, match="multidimensional"):
        prune.ln_structured(linear(), "bias", 1, 2, 0)
    with pytest.raises(IndexError, match="Invalid index 5"):
        prune.ln_structured(linear(), "weight", 1, 2, 5)


def test_random_scores_and_own_masks():
    torch.manual_seed(0)
    m = prune.random_unstructured(linear(), "weight", 4)
    assert m.weight_mask.sum() == 2
    m = prune.l1_unstructured(linear(), "weight", 1, importance_scores=torch.tensor([[5.0, 1, 5], [5, 5, 5]]))
    assert m.weight_mask.tolist() == [[1, 0, 1], [1, 1, 1]]
    m = prune.custom_from_mask(prune.identity(linear(), "weight"), "weight", torch.eye(3)[:2])
    assert m.weight_mask.tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(AssertionError, match="must match self.mask shape"):
        prune.custom_from_mask(linear(), "weight", torch.ones(2, 2))


def test_global_pruning_ranks_all_parameters_together():
    m = linear()
    prune.global_unstructured([(m, "weight"), (m, "bias")], pruning_method=prune.L1Unstructured, amount=3)
    assert m.weight_mask.tolist() == [[0, 1, 1], [1, 0, 1]] and m.bias_mask.tolist() == [0, 1]
    with pytest.raises(TypeError, match="unstructured"):
        prune.global_unstructured([(linear(), "weight")], pruning_method=prune.LnStructured, amount=1, n=2)
    with pytest.raises(TypeError, match="not an Iterable"):
        prune.global_unstructured(3, pruning_method=prune.L1Unstructured, amount=1)


@pytest.mark.parametrize(("amount", "error"), [(7, ValueError), (1.5, ValueError), (-1, ValueError), ("a", TypeError)])
def test_amounts(amount, error):
    m = linear()
    with pytest.raises(error, match="amount"):
        prune.l1_unstructured(m, "weight", amount)
    assert list(m.state_dict()) == ["weight", "bias"]  # nothing was half done
    assert prune.l1_unstructured(m, "weight", 0).weight_mask.sum() == 6


def test_a_method_alone():
    method = prune.L1Unstructured(amount=2)
    t = torch.tensor([1.0, -3.0, 2.0])
    assert method.compute_mask(t, torch.ones(3)).tolist() == [0, 1, 0] and method.prune(t).tolist() == [0, -3, 0]
    assert method.prune(t, importance_scores=torch.tensor([9.0, 1.0, 2.0])).tolist() == [1, 0, 0]
