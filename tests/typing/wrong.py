"""What a type checker must refuse: every line that is ignored here is an error, and the check complains of an ignore that is not needed."""
import saraph as torch
from saraph import nn
from saraph.nn import functional as F

x = torch.ones(2, 3)
x.summ()  # type: ignore[attr-defined]
x.sum(dimension=1, keepdim="yes")  # type: ignore[arg-type]
x.transpose(0)  # type: ignore[call-arg]
torch.stack([x, x], dimm=0)  # type: ignore[call-arg]
torch.no_such_function(x)  # type: ignore[attr-defined]
torch.linalg.no_such_function(x)  # type: ignore[attr-defined]
F.relu(x, in_place=True)  # type: ignore[call-arg]
F.cross_entropy(x)  # type: ignore[call-arg]
nn.Linear(3)  # type: ignore[call-arg]
nn.Linear(3, 4, biass=False)  # type: ignore[call-arg]
torch.optim.Adam(nn.Linear(3, 4).parameters(), learning_rate=1e-3)  # type: ignore[call-arg]
text: str = x.relu()  # type: ignore[assignment]
size: str = x.dim()  # type: ignore[assignment]
kind: int = x.dtype  # type: ignore[assignment]
torch.special.erfinv(x, 3)  # type: ignore[call-arg,arg-type]
torch.fft.rfft(x, dim="last")  # type: ignore[arg-type]
