"""What a type checker must accept: an ordinary program over the public surface. `.ci/run` type-checks it; the tests run it."""
import saraph as torch
from saraph import nn
from saraph.nn import functional as F
from saraph.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(2, width)
        self.second = nn.Linear(width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(F.relu(self.first(x)))


def train(epochs: int) -> float:
    torch.manual_seed(0)
    x = torch.rand(64, 2)
    y = (x * 2 - 1).prod(1, keepdim=True)
    model, last = Net(16), 0.0
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for _ in range(epochs):
        for a, b in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            loss = F.mse_loss(model(a), b)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            last = loss.item()
        scheduler.step()
    with torch.no_grad():
        assert (model(x).abs() < 10).all() and x[1:, 0].shape == (63,) and -x.dtype.itemsize < 0
    return last
