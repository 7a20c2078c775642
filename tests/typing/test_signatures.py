"""Signatures agree with PyTorch 2.13's: for every function, method and class that two or more of 42 real projects use, the keywords in their calls are
accepted, and positional arguments have PyTorch's order, names and defaults. `surface.json.gz` holds (name, kind, signature, keywords used)."""
import ast
import functools
import gzip
import importlib
import inspect
import json
import re
from pathlib import Path

import pytest

import saraph as torch
from saraph.ops.registry import _KEYWORDS, OF_PUBLIC

SURFACE = json.loads(gzip.decompress((Path(__file__).parent / "surface.json.gz").read_bytes()))

#: Keywords in calls that were of something else of that name (another library's class, a NumPy array, a subclass).
OTHERS = {("torch.tensor", "copy"), ("torch.nn.Linear", "params_dtype"), ("torch.nn.LayerNorm", "params_dtype"), ("torch.nn.Embedding", "freeze"),
          ("torch.nn.EmbeddingBag", "freeze"), ("torch.utils.data.Dataset", "augment_horizontal_flip"), ("torch.utils.data.Dataset", "convert_image_to"),
          ("torch.Tensor.repeat", "axis"), ("torch.Tensor.dequantize", "dtype"), ("torch.autograd.profiler.EventList", "use_cuda")}
#: Names in PyTorch's documentation that PyTorch itself does not take: its parser knows the names that saraph has.
DOCUMENTED_ONLY = {
    "torch.Tensor.bmm", "torch.Tensor.cumprod", "torch.Tensor.cumsum", "torch.Tensor.div", "torch.Tensor.div_", "torch.Tensor.dot", "torch.Tensor.fmod_",
    "torch.Tensor.index_copy", "torch.Tensor.masked_scatter", "torch.Tensor.matmul", "torch.Tensor.mul", "torch.Tensor.mul_", "torch.Tensor.nansum",
    "torch.Tensor.narrow", "torch.Tensor.prod", "torch.Tensor.put", "torch.Tensor.remainder", "torch.Tensor.round", "torch.Tensor.sum",
    "torch.Tensor.to_sparse", "torch.Tensor.type_as", "torch.concatenate", "torch.linalg.norm", "torch.nn.functional.gelu", "torch.searchsorted",
    "torch.set_num_threads", "torch.true_divide"}
#: What differs, with the reason.
DIFFERENT = {
    "torch.Tensor.norm": "takes out= too, like torch.norm",
    "torch.Size": "its argument has a name",
    "torch.enable_grad": "another name of an argument that only decorators give",
    "torch.profiler.tensorboard_trace_handler": "no use_python_export: the exporter is always Python",
    "torch.profiler.profile.export_chrome_trace": "no use_python_export: the exporter is always Python",
    "torch.nn.attention.flex_attention.create_block_mask": "no orders of blocks, which only matter to Triton",
    "torch.nn.attention.flex_attention.BlockMask": "no orders of blocks, which only matter to Triton",
    "torch.backends.cudnn.flags": "no cuDNN here"}
#: Defaults that mean the same: dim=() and None are all dimensions, topk's and kthvalue's None is the last one, nan=None is 0.
SAME = {(-1, None), ((), None), (None, 0.0)}


def found(path):
    thing = torch
    names = path.split(".")[1:]
    for number, name in enumerate(names):
        if not hasattr(thing, name):
            importlib.import_module("saraph." + ".".join(names[:number + 1]))
        thing = getattr(thing, name)
    return thing


@functools.cache
def parameters_of(path, kind):
    """Our parameters, without the tensor or module that a method is called on; None where Python cannot tell."""
    try:
        listed = list(inspect.signature(found(path)).parameters.values())
    except (TypeError, ValueError):
        return None
    return listed[1:] if kind == "method" and listed and listed[0].kind <= listed[0].POSITIONAL_OR_KEYWORD else listed


def overloads(text, kind):
    """(positional names, their defaults as text or None, whether it takes *args) of every form of a signature."""
    for part in re.split(r"\s\|\s(?=\()", text):
        inside = re.fullmatch(r"\((.*)\)(?: -> .*)?", part.strip(), re.S)
        try:
            arguments = ast.parse(f"def f({inside.group(1)}): pass").body[0].args if inside else None
        except SyntaxError:
            arguments = None
        if arguments is None:
            continue
        names = [a.arg for a in arguments.posonlyargs + arguments.args]
        defaults = [None] * (len(names) - len(arguments.defaults)) + [ast.unparse(d) for d in arguments.defaults]
        if kind == "method" and names[:1] == ["self"]:
            names, defaults = names[1:], defaults[1:]
        yield names, defaults, arguments.vararg is not None or (arguments.kwarg is not None and not names)


def test_everything_is_there():
    assert len(SURFACE) > 1000
    missing = []
    for name, _, _, _ in SURFACE:
        try:
            found(name)
        except (AttributeError, ImportError):
            missing.append(name)
    assert missing == []


def test_keywords_in_real_calls_are_accepted():
    refused = []
    for name, kind, _, keywords in SURFACE:
        listed = parameters_of(name, kind)
        if listed is None or any(p.kind is p.VAR_KEYWORD for p in listed):
            continue
        names = {p.name for p in listed}
        is_op = found(name) in OF_PUBLIC
        refused += [(name, k) for k in keywords if k not in names and not (is_op and _KEYWORDS.get(k) in names)]
    assert set(refused) == OTHERS


def compared():
    """(name, our positional parameters, PyTorch's forms) of all whose order can be compared."""
    for name, kind, text, _ in SURFACE:
        listed = parameters_of(name, kind)
        forms = list(overloads(text, kind))
        if listed is None or not forms or any(p.kind is p.VAR_POSITIONAL for p in listed) or any(free for _, _, free in forms):
            continue
        yield name, [p for p in listed if p.kind <= p.POSITIONAL_OR_KEYWORD], forms


def test_positional_arguments_have_their_order():
    wrong = set()
    count = 0
    for name, ours, forms in compared():
        count += 1
        if not any([p.name for p in ours][:len(names)] == names for names, _, _ in forms):
            wrong.add(name)
    assert count > 600
    assert wrong == DOCUMENTED_ONLY | set(DIFFERENT)


def test_defaults_agree():
    wrong = []
    for name, ours, forms in compared():
        for names, defaults, _ in forms:
            if [p.name for p in ours][:len(names)] != names:
                continue
            for p, text in zip(ours, defaults):
                try:
                    theirs = ast.literal_eval(text) if text is not None else inspect.Parameter.empty
                except ValueError:
                    continue  # an expression, such as a class or a module
                if theirs is inspect.Parameter.empty or theirs is ...:
                    continue
                same = p.default == theirs or str(p.default) == str(theirs) or any(p.default == a and theirs == b for a, b in SAME)
                wrong += [] if same else [(name, p.name, p.default, theirs)]
            break
    assert wrong == []


@pytest.mark.parametrize("call", [
    lambda x: x.expand(size=(2, 2, 3)), lambda x: x.permute(dims=(1, 0)), lambda x: x.repeat(repeats=(2, 2)), lambda x: x.view(size=(6,)),
    lambda x: x.view(dtype=torch.int32), lambda x: x.reshape(shape=(6,)), lambda x: x.flip(dims=(0,)), lambda x: x.tile(dims=(2,)),
    lambda x: x.new_zeros(size=(2,)), lambda x: torch.zeros(size=(2,)), lambda x: x.clone().resize_(size=(3, 2)), lambda x: x.sum_to_size(size=(1, 3)),
    lambda x: torch.tensor_split(x, indices=(1,), dim=1), lambda x: x.tensor_split(sections=2), lambda x: x.swapaxes(axis0=0, axis1=1),
    lambda x: x.max(axis=1, keepdims=True), lambda x: torch.stack([x, x], axis=1), lambda x: torch.cumsum(x, axis=0), lambda x: x.std(axis=0)])
def test_sizes_and_axes_by_name(call):
    assert call(torch.ones(2, 3)) is not None
