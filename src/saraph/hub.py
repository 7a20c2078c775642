"""`torch.hub`: models that a repository's `hubconf.py` offers, and downloads of weights.

A repository is a local folder (`source="local"`) or `owner/name[:ref]` on GitHub; the network is used only by calls that name something there.
Files are kept in `get_dir()`: $TORCH_HOME/hub, else $XDG_CACHE_HOME/torch/hub, else ~/.cache/torch/hub.
"""
from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import warnings
import zipfile
from types import ModuleType
from typing import Any
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from saraph.serialization import load as load_file

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
ENV_TORCH_HOME, ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR = "TORCH_HOME", "XDG_CACHE_HOME", "~/.cache"
ENV_GITHUB_TOKEN = "GITHUB_TOKEN"
MODULE_HUBCONF, VAR_DEPENDENCY, READ_DATA_CHUNK = "hubconf.py", "dependencies", 128 * 1024
_folder: list[str] = []


def _get_torch_home() -> str:
    return os.path.expanduser(os.getenv(ENV_TORCH_HOME, os.path.join(os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR), "torch")))


def get_dir() -> str:
    """The folder that downloads are kept in."""
    if os.getenv("TORCH_HUB"):
        warnings.warn("TORCH_HUB is deprecated, please use env TORCH_HOME instead", stacklevel=2)
    return _folder[-1] if _folder else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Choose the folder that downloads are kept in."""
    _folder[:] = [os.path.expanduser(d)]


# -- repositories --------------------------------------------------------------------------------------------------------------


def _parse(github: str) -> tuple[str, str, str]:
    """owner, name and ref of 'owner/name[:ref]'; the default branch (main) where no ref is given."""
    path, _, ref = github.partition(":")
    if path.count("/") != 1:
        raise ValueError(f"expected a repository as 'owner/name[:ref]', got {github!r}")
    owner, name = path.split("/")
    return owner, name, ref or "main"


def _check_trust(owner: str, name: str, trust_repo: bool | str | None) -> None:
    """Ask before code of an unknown repository runs, as `trust_repo` says."""
    known = os.path.join(get_dir(), "trusted_list")
    lines = open(known).read().splitlines() if os.path.exists(known) else []
    key = f"{owner}_{name}"
    if key in lines:
        return
    if trust_repo is False or trust_repo == "check" or trust_repo is None:
        answer = input(f"The repository {owner}_{name} does not belong to the list of trusted repositories and as such cannot be downloaded. "
                       "Do you trust this repository and wish to add it to the trusted list of repositories (y/N)?")
        if answer.lower() not in ("y", "yes"):
            raise Exception("Untrusted repository.")  # noqa: TRY002 (PyTorch's class)
    elif trust_repo is not True:
        raise ValueError(f"trust_repo must be True, False, None or 'check', got {trust_repo!r}")
    os.makedirs(get_dir(), exist_ok=True)
    with open(known, "a") as file:
        file.write(key + "\n")


def _fetched(github: str, force_reload: bool, trust_repo: bool | str | None, verbose: bool) -> str:
    """The folder of a GitHub repository in the cache, downloaded where needed."""
    owner, name, ref = _parse(github)
    folder = os.path.join(get_dir(), "_".join([owner, name, ref.replace("/", "_")]))
    _check_trust(owner, name, trust_repo)
    if os.path.exists(folder) and not force_reload:
        if verbose:
            sys.stderr.write(f"Using cache found in {folder}\n")
        return folder
    os.makedirs(get_dir(), exist_ok=True)
    archive = os.path.join(get_dir(), ref.replace("/", "_") + ".zip")
    download_url_to_file(f"https://github.com/{owner}/{name}/zipball/{ref}", archive, progress=False)
    with zipfile.ZipFile(archive) as packed:
        top = packed.namelist()[0]
        if any(os.path.isabs(n) or ".." in n.split("/") for n in packed.namelist()):
            raise ValueError(f"the archive of {github} holds paths outside its own folder")
        packed.extractall(get_dir())
    os.remove(archive)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.move(os.path.join(get_dir(), top), folder)
    return folder


def _folder_of(repo: Any, source: str, force_reload: bool, trust_repo: bool | str | None, verbose: bool) -> str:
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    return os.fspath(repo) if source == "local" else _fetched(repo, force_reload, trust_repo, verbose)


def _import(folder: str) -> ModuleType:
    """The repository's hubconf.py as a module; its folder can be imported from while it loads."""
    path = os.path.join(folder, MODULE_HUBCONF)
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location(MODULE_HUBCONF, path)
        if spec is None or spec.loader is None or not os.path.exists(path):
            raise FileNotFoundError(f"[Errno 2] No such file or directory: '{path}'")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def _entry(module: ModuleType, name: str) -> Any:
    if not isinstance(name, str):
        raise ValueError("Invalid input: model should be a string of function name")
    missing = [d for d in getattr(module, VAR_DEPENDENCY, None) or () if d != "torch" and importlib.util.find_spec(d) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    function = getattr(module, name, None)
    if function is None or not callable(function):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return function


def load(repo_or_dir: Any, model: str, *args: Any, source: str = "github", trust_repo: bool | str | None = None, force_reload: bool = False,
         verbose: bool = True, skip_validation: bool = False, **kwargs: Any) -> Any:
    """What the entry point `model` of a repository returns for the further arguments.

    Example: `torch.hub.load("path/to/repo", "resnet", source="local", layers=18)`.
    """
    folder = _folder_of(repo_or_dir, source, force_reload, trust_repo, verbose)
    sys.path.insert(0, folder)
    try:
        return _entry(_import(folder), model)(*args, **kwargs)
    finally:
        sys.path.remove(folder)


def list(github: Any, force_reload: bool = False, skip_validation: bool = False, trust_repo: bool | str | None = None, verbose: bool = True,
         *, source: str = "github") -> Any:
    """The names of the entry points of a repository."""
    module = _import(_folder_of(github, source, force_reload, trust_repo, verbose))
    return [n for n in dir(module) if callable(getattr(module, n)) and not n.startswith("_")]


def help(github: Any, model: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: bool | str | None = None, *,
         source: str = "github") -> str | None:
    """The docstring of an entry point."""
    return _entry(_import(_folder_of(github, source, force_reload, trust_repo, True)), model).__doc__


# -- downloads -----------------------------------------------------------------------------------------------------------------


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Download a file to the path `dst`; RuntimeError when its SHA-256 does not begin with `hash_prefix`. `dst` is written only when all is well."""
    dst = os.path.expanduser(dst)
    digest = hashlib.sha256() if hash_prefix is not None else None
    with urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as response:
        size = int(response.headers.get("Content-Length") or 0)
        partial = tempfile.NamedTemporaryFile(delete=False, dir=os.path.dirname(os.path.abspath(dst)), suffix=".partial")
        try:
            with partial:
                done = 0
                while chunk := response.read(READ_DATA_CHUNK):
                    partial.write(chunk)
                    if digest is not None:
                        digest.update(chunk)
                    done += len(chunk)
                    if progress:
                        sys.stderr.write(f"\r{done / 1e6:.1f} MB" + (f" of {size / 1e6:.1f} MB" if size else ""))
            if progress:
                sys.stderr.write("\n")
            if digest is not None and hash_prefix is not None and digest.hexdigest()[: len(hash_prefix)] != hash_prefix:
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
            shutil.move(partial.name, dst)
        finally:
            if os.path.exists(partial.name):
                os.remove(partial.name)


def load_state_dict_from_url(url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True, check_hash: bool = False,
                             file_name: str | None = None, weights_only: bool = False) -> dict[str, Any]:
    """The saved object at a URL; it is downloaded to `model_dir` (default: get_dir()/checkpoints) unless it is there already.

    check_hash: the file's name holds the beginning of its SHA-256 (`resnet-0676ba61.pth`), which the download must agree with.
    """
    folder = model_dir if model_dir is not None else os.path.join(get_dir(), "checkpoints")
    os.makedirs(folder, exist_ok=True)
    name = file_name if file_name is not None else os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found.group(1) if found else None, progress=progress)
    return load_file(path, map_location=map_location, weights_only=weights_only)
