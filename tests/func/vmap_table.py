"""Ops with arguments of one sample: a list of (name, function of tensors, shapes of its tensors); what `vmap` is held to."""
import saraph as torch

F = torch.nn.functional
V, M, B = (4,), (3, 4), (2, 3, 4)


def _plain(names: str, *shapes: tuple) -> list:
    return [(f"{n} {shapes}", getattr(torch, n), shapes) for n in names.split()]


def _index(n: int, *shape: int) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel()).mul(5).remainder(n).reshape(shape)


POINTWISE = _plain("exp sin cos tanh sigmoid erf square neg abs sign floor ceil trunc frac round relu atan asinh expm1 sinc exp2 sgn isnan logical_not "
                   "positive signbit isfinite", M) + _plain("sin abs tanh", ()) + _plain(
    "add sub mul div maximum minimum fmax fmin atan2 hypot eq lt ge logical_and logaddexp copysign fmod remainder heaviside", M, V) + _plain(
    "add mul pow", (), M) + [
    ("log", lambda x: torch.log(x.abs() + 1), (M,)), ("sqrt", lambda x: x.abs().sqrt(), (M,)), ("rsqrt", lambda x: x.abs().add(1).rsqrt(), (M,)),
    ("pow number", lambda x: x.pow(3), (M,)), ("number pow", lambda x: 2.0 ** x, (M,)), ("rsub", lambda x: 1 - x, (M,)),
    ("where", lambda x, y: torch.where(x > y, x, y), (M, V)), ("lerp", torch.lerp, (M, M, M)), ("addcmul", torch.addcmul, (M, M, V)),
    ("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z.abs() + 1), (M, M, M)), ("clamp", lambda x: x.clamp(-0.5, 0.5), (M,)),
    ("clamp tensors", torch.clamp, (M, V, V)), ("masked_fill", lambda x, y: x.masked_fill(y > 0, 2.0), (M, V)),
    ("lgamma", lambda x: torch.lgamma(x.abs() + 1), (M,)), ("nan_to_num", torch.nan_to_num, (M,)), ("to double", lambda x: x.double(), (M,)),
    ("complex", lambda x, y: torch.view_as_real(torch.complex(x, y) * 2j), (M, M)), ("bitwise", lambda x: (x > 0) & (x < 1), (M,))]
VIEWS = [
    ("transpose", lambda x: x.transpose(0, 1), (M,)), ("t", lambda x: x.t(), (M,)), ("T", lambda x: x.T, (M,)), ("mT", lambda x: x.mT, (B,)),
    ("permute", lambda x: x.permute(2, 0, 1), (B,)), ("reshape", lambda x: x.reshape(2, 6), (M,)), ("reshape -1", lambda x: x.T.reshape(-1), (M,)),
    ("view", lambda x: x.contiguous().view(12), (M,)), ("flatten", lambda x: x.flatten(1), (B,)),
    ("unflatten", lambda x: x.unflatten(1, (2, 2)), (M,)),
    ("squeeze", lambda x: x[None].squeeze(0), (M,)), ("squeeze all", lambda x: x[None, :, None].squeeze(), (M,)),
    ("unsqueeze", lambda x: x.unsqueeze(-1), (M,)), ("unsqueeze number", lambda x: x.unsqueeze(0), ((),)), ("expand", lambda x: x.expand(3, 4), (V,)),
    ("expand 0", lambda x: x.expand(2, 3), ((),)), ("expand_as", lambda x, y: x.expand_as(y), (V, M)), ("movedim", lambda x: x.movedim(0, 2), (B,)),
    ("select", lambda x: x.select(1, 2), (M,)), ("narrow", lambda x: x.narrow(1, 1, 2), (M,)), ("slice", lambda x: x[1:, ::2], (M,)),
    ("int", lambda x: x[1], (M,)), ("last", lambda x: x[..., -1], (B,)), ("None", lambda x: x[:, None], (M,)),
    ("diagonal", lambda x: x.diagonal(), (M,)),
    ("chunk", lambda x: x.chunk(2, 1)[1], (M,)), ("split", lambda x: x.split([1, 3], -1)[1], (M,)), ("unbind", lambda x: x.unbind(1)[0], (M,)),
    ("unfold", lambda x: x.unfold(1, 2, 1), (M,)), ("as_strided", lambda x: (x + 0).contiguous().as_strided((2, 2), (4, 1), 1), (M,)),
    ("broadcast_to", lambda x: torch.broadcast_to(x, (2, 3, 4)), (M,)), ("tensor_split", lambda x: x.tensor_split(3, 1)[0], (M,)),
    ("swapaxes", lambda x: x.swapaxes(0, -1), (B,)), ("ravel", lambda x: x.ravel(), (B,)), ("contiguous", lambda x: x.T.contiguous(), (M,))]
REDUCTIONS = [
    (f"{n} {d} {k}", lambda x, n=n, d=d, k=k: getattr(torch, n)(x, d, keepdim=k), (M,))
    for n in ("sum", "mean", "amax", "std", "var", "logsumexp", "prod", "argmax") for d, k in ((0, False), (-1, True))] + [
    ("sum all", torch.sum, (M,)), ("mean all", torch.mean, (M,)), ("sum number", torch.sum, ((),)), ("max all", torch.max, (M,)),
    ("min all", torch.min, (M,)),
    ("prod all", torch.prod, (M,)), ("std all", torch.std, (M,)), ("norm", torch.norm, (M,)), ("vector_norm", torch.linalg.vector_norm, (M,)),
    ("matrix_norm", torch.linalg.matrix_norm, (M,)), ("argmax all", torch.argmax, (M,)), ("argmin all", torch.argmin, (M,)),
    ("any", lambda x: (x > 1).any(), (M,)), ("all", lambda x: (x > -9).all(1), (M,)), ("max dim", lambda x: torch.max(x, 1), (M,)),
    ("min dim", lambda x: torch.min(x, 0, keepdim=True), (M,)), ("median", lambda x: torch.median(x, 1), (M,)),
    ("kthvalue", lambda x: x.kthvalue(2, 1), (M,)),
    ("var_mean", lambda x: torch.var_mean(x, 1), (M,)), ("count_nonzero", lambda x: torch.count_nonzero(x > 0, 1), (M,)),
    ("cumsum", lambda x: x.cumsum(0), (M,)), ("cumprod", lambda x: x.cumprod(-1), (M,)), ("cummax", lambda x: x.cummax(1), (M,)),
    ("logcumsumexp", lambda x: x.logcumsumexp(1), (M,)), ("sort", lambda x: x.sort(1), (M,)), ("argsort", lambda x: x.argsort(0), (M,)),
    ("topk", lambda x: x.topk(2, 1), (M,)), ("diff", lambda x: x.diff(), (M,)), ("trace", lambda x: x[:, :3].trace(), (M,)),
    ("cdist", torch.cdist, (M, M)), ("nansum", torch.nansum, (M,)), ("renorm", lambda x: x.renorm(2, 0, 1.0), (M,)),
    ("quantile", lambda x: x.quantile(0.3), (M,))]
PRODUCTS = [
    ("dot", torch.dot, (V, V)), ("mv", torch.mv, (M, V)), ("mm", torch.mm, (M, (4, 2))), ("bmm", torch.bmm, (B, (2, 4, 5))),
    ("matmul 1 1", torch.matmul, (V, V)),
    ("matmul 2 1", torch.matmul, (M, V)), ("matmul 1 2", torch.matmul, (V, (4, 2))), ("matmul 2 2", torch.matmul, (M, (4, 2))),
    ("matmul 3 2", torch.matmul, (B, (4, 2))), ("matmul 2 3", torch.matmul, (M, (2, 4, 5))), ("matmul 1 3", torch.matmul, (V, (2, 4, 5))),
    ("matmul 3 1", torch.matmul, (B, V)), ("outer", torch.outer, (V, V)), ("addmm", torch.addmm, ((2,), M, (4, 2))),
    ("baddbmm", torch.baddbmm, (B, B, (2, 4, 4))),
    ("addmv", torch.addmv, ((3,), M, V)), ("linear", F.linear, (V, (3, 4), (3,))), ("linear 2", F.linear, (M, (5, 4), (5,))),
    ("linear bare", F.linear, (M, (5, 4))),
    ("einsum", lambda x, y: torch.einsum("ij,kj->ik", x, y), (M, (5, 4))), ("tensordot", lambda x, y: torch.tensordot(x, y, 1), (M, (4, 2))),
    ("cross", lambda x, y: torch.linalg.cross(x, y), ((2, 3), (2, 3))), ("kron", torch.kron, ((2, 2), V)),
    ("bilinear", F.bilinear, (V, V, (2, 4, 4), (2,))),
    ("det", torch.linalg.det, ((3, 3),)), ("inv", torch.linalg.inv, ((3, 3),)), ("solve", torch.linalg.solve, ((3, 3), (3, 2))),
    ("solve vector", torch.linalg.solve, ((3, 3), (3,))), ("cholesky", lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(3)), ((3, 3),)),
    ("eigvalsh", lambda x: torch.linalg.eigvalsh(x + x.T), ((3, 3),)), ("svdvals", torch.linalg.svdvals, (M,)),
    ("slogdet", torch.linalg.slogdet, ((3, 3),)),
    ("matrix_exp", torch.matrix_exp, ((3, 3),)), ("matrix_power", lambda x: torch.matrix_power(x, 3), ((3, 3),)),
    ("qr", lambda x: torch.linalg.qr(x)[1].abs(), (M,)), ("pinv", torch.linalg.pinv, (M,))]
PICKING = [
    ("gather", lambda x: x.gather(1, _index(4, 3, 2)), (M,)), ("gather mapped", lambda x, y: x.gather(1, y.argsort(1)), (M, M)),
    ("index_select", lambda x: x.index_select(1, _index(4, 3)), (M,)),
    ("index_select mapped", lambda x, y: x.index_select(0, y.argsort()), (M, (3,))),
    ("take index", lambda x, y: x[y.argsort()], (M, (3,))), ("take index 2", lambda x, y: x[:, y.argsort()], (M, V)),
    ("take two", lambda x, y: x[y.argsort(), y.argsort()], (M, (3,))), ("take apart", lambda x, y: x[y.argsort(), :, y.argsort()], (B, (2,))),
    ("take list", lambda x: x[[2, 0]], (M,)), ("index_put", lambda x, y: x.index_put((_index(3, 2),), y), (M, (2, 4))),
    ("index_add", lambda x, y: x.index_add(0, _index(3, 2), y), (M, (2, 4))), ("scatter", lambda x, y: x.scatter(1, _index(4, 3, 2), y), (M, M)),
    ("scatter_add", lambda x, y: x.scatter_add(0, _index(3, 3, 4), y), (M, M)), ("take", lambda x: x.take(_index(12, 5)), (M,)),
    ("take_along_dim", lambda x, y: torch.take_along_dim(x, y.argsort(1), 1), (M, M)),
    ("searchsorted", lambda x, y: torch.searchsorted(x.sort()[0], y), (V, V)),
    ("one_hot", lambda x: F.one_hot(x.argsort(), 4), (V,)), ("embedding", lambda w, x: F.embedding(x.argsort(), w), (M, (3,))),
    ("isin", lambda x: torch.isin(x.argsort(), torch.tensor([1, 2])), (V,)),
    ("bucketize", lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])), (M,)),
    ("cat", lambda x, y: torch.cat([x, y], 1), (M, (3, 2))), ("stack", lambda x, y: torch.stack([x, y], -1), (M, M)),
    ("flip", lambda x: x.flip(0, 1), (M,)),
    ("roll", lambda x: x.roll(1, 1), (M,)), ("roll flat", lambda x: x.roll(2), (M,)), ("tril", torch.tril, (M,)), ("triu", lambda x: x.triu(1), (B,)),
    ("repeat", lambda x: x.repeat(2, 1), (M,)), ("tile", lambda x: x.tile(2), (M,)), ("repeat_interleave", lambda x: x.repeat_interleave(2, 1), (M,)),
    ("diag", torch.diag, (V,)), ("diag_embed", torch.diag_embed, (M,)), ("pad", lambda x: F.pad(x, (1, 2)), (M,)), ("rot90", torch.rot90, (M,)),
    ("meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="ij")[0], (V, (3,))), ("fft", lambda x: torch.fft.fft(x).abs(), (M,)),
    ("irfft", lambda x: torch.fft.irfft(torch.fft.rfft(x)), (M,)), ("block_diag", torch.block_diag, (M, (2, 2)))]
NETWORKS = [
    ("softmax", lambda x: x.softmax(-1), (M,)), ("log_softmax", lambda x: x.log_softmax(0), (M,)), ("softmax vector", lambda x: x.softmax(0), (V,)),
    ("gelu", F.gelu, (M,)), ("silu", F.silu, (M,)), ("elu", F.elu, (M,)), ("leaky_relu", F.leaky_relu, (M,)), ("softplus", F.softplus, (M,)),
    ("mish", F.mish, (M,)), ("hardtanh", F.hardtanh, (M,)), ("prelu", F.prelu, (M, (1,))), ("glu", F.glu, (M,)), ("normalize", F.normalize, (M,)),
    ("mse_loss", F.mse_loss, (M, M)), ("l1_loss", F.l1_loss, (M, M)), ("smooth_l1", F.smooth_l1_loss, (M, M)),
    ("cross_entropy", lambda x: F.cross_entropy(x, _index(4, 3)), (M,)),
    ("cross_entropy vector", lambda x: F.cross_entropy(x, torch.tensor(2)), (V,)),
    ("cross_entropy none", lambda x, y: F.cross_entropy(x, y.argmax(1), reduction="none"), (M, M)),
    ("nll", lambda x, y: F.nll_loss(x.log_softmax(1), y.argmax(1)), (M, M)),
    ("kl_div", lambda x, y: F.kl_div(x, y.softmax(1), reduction="sum"), (M, M)),
    ("bce logits", lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()), (M, M)), ("cosine_similarity", F.cosine_similarity, (M, M)),
    ("layer_norm", lambda x, w, b: F.layer_norm(x, (4,), w, b), (M, V, V)), ("layer_norm bare", lambda x: F.layer_norm(x, (4,)), (B,)),
    ("group_norm", lambda x: F.group_norm(x, 2), ((2, 4, 5),)), ("instance_norm", F.instance_norm, ((2, 4, 5),)),
    ("rms_norm", lambda x: F.rms_norm(x, (4,)), (M,)),
    ("batch_norm", lambda x: F.batch_norm(x, x.new_zeros(4), x.new_ones(4)), (M,)),
    ("batch_norm training", lambda x: F.batch_norm(x, None, None, training=True), (M,)),
    ("conv1d", F.conv1d, ((2, 3, 7), (4, 3, 3), (4,))), ("conv2d", F.conv2d, ((2, 3, 6, 6), (4, 3, 3, 3), (4,))),
    ("conv2d bare", F.conv2d, ((3, 6, 6), (4, 3, 3, 3))),
    ("conv2d groups", lambda x, w: F.conv2d(x, w, stride=2, padding=1, groups=2), ((2, 4, 6, 6), (4, 2, 3, 3))),
    ("conv_transpose2d", F.conv_transpose2d, ((2, 3, 4, 4), (3, 4, 3, 3), (4,))), ("max_pool2d", lambda x: F.max_pool2d(x, 2), ((2, 3, 6, 6),)),
    ("avg_pool2d", lambda x: F.avg_pool2d(x, 2), ((2, 3, 6, 6),)), ("adaptive_avg", lambda x: F.adaptive_avg_pool2d(x, 3), ((3, 6, 6),)),
    ("adaptive_max", lambda x: F.adaptive_max_pool2d(x, 2), ((2, 3, 6, 6),)),
    ("interpolate", lambda x: F.interpolate(x, scale_factor=2), ((2, 3, 4, 4),)),
    ("bilinear resize", lambda x: F.interpolate(x, size=7, mode="bilinear"), ((2, 3, 4, 4),)),
    ("unfold image", lambda x: F.unfold(x, 3), ((2, 3, 5, 5),)),
    ("pad reflect", lambda x: F.pad(x, (1, 1), mode="reflect"), ((3, 5),)), ("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), ((4, 3, 3),)),
    ("attention", F.scaled_dot_product_attention, ((2, 5, 4), (2, 6, 4), (2, 6, 4))),
    ("attention causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), ((3, 2, 5, 4),) * 3)]
TABLE = POINTWISE + VIEWS + REDUCTIONS + PRODUCTS + PICKING + NETWORKS
