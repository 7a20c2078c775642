"""What a type checker must accept: an ordinary program's uses of Tensor's methods, operators and properties, and of functions."""
from __future__ import annotations

import saraph as torch
from saraph import Tensor, nn
from saraph.nn import functional as F


def shapes(x: Tensor) -> Tensor:
    rows, columns = x.shape
    y = x.view(rows, -1).reshape(columns, rows).transpose(0, 1).contiguous()
    y = y.unsqueeze(0).expand(2, -1, -1).permute(0, 2, 1).flatten(1).squeeze()
    first, second = y.chunk(2)
    return torch.cat([first, second], dim=0).to(torch.float64).to("cpu", non_blocking=True).type_as(x)


def arithmetic(x: Tensor, y: Tensor) -> tuple[Tensor, float, bool]:
    z = (x + 1) * y - 2 / x + x ** 2 % 3 - (x @ y.T).sum()
    z += y
    mask = (x > 0) & ~(y <= 1) | (x == y)
    z[mask] = 0
    values, indices = z.max(dim=1)
    values, indices = torch.topk(z, 1, dim=-1)
    norm: float = z.norm().item()
    whole: bool = bool(mask.all())
    return z.clamp(min=0).masked_fill_(mask, 1.0), norm + float(z.mean()), whole


def properties(x: Tensor) -> list[int]:
    x.requires_grad = True
    assert x.is_leaf and x.grad is None and x.device.type == "cpu" and x.dtype.is_floating_point
    return [*x.shape, x.ndim, x.numel(), len(x), x.size(0), x.stride()[0]]


class Block(nn.Module):
    def __init__(self, width: int, heads: int = 2) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.register_buffer("steps", torch.zeros(1, dtype=torch.long))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        mixed, _ = self.attention(x, x, x, attn_mask=mask, need_weights=False)
        x = self.norm(x + F.dropout(mixed, 0.1, self.training))
        for layer in self.layers:
            x = F.gelu(layer(x), approximate="tanh")
        return F.log_softmax(x, dim=-1)


def train() -> float:
    generator = torch.Generator().manual_seed(0)
    model = Block(8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    x = torch.randn(2, 3, 8, generator=generator)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.nll_loss(model(x).flatten(0, 1).float(), torch.randint(0, 8, (6,)))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    decomposed = torch.linalg.svd(torch.eye(3))
    spectrum = torch.fft.rfft(torch.arange(8.0)).abs()
    return loss.item() + decomposed[1].sum().item() + torch.special.expit(spectrum).mean().item()


def run() -> None:
    a, b = torch.arange(6.0).view(2, 3), torch.ones(2, 3)
    assert shapes(a).shape[0] > 0 and arithmetic(a + 1, b)[0].shape == (2, 3) and properties(torch.ones(2, 3))[:2] == [2, 3]
    assert train() > 0
