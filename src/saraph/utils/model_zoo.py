"""`torch.utils.model_zoo`: the old place of downloads (see `torch.hub`)."""
from saraph.hub import load_state_dict_from_url

load_url = load_state_dict_from_url
__all__ = ["load_url", "load_state_dict_from_url"]
