"""Interlace: typed, durable workflows on Prefect, and agents over the same shared resources."""

from pathlib import Path

__version__ = "0.1.0"

_root = Path(__file__).parents[2]
if not (Path(__file__).parent / "engine").is_dir() and (_root / "pyproject.toml").is_file():
    __path__.append(str(_root))  # a checkout whose links were lost (zip download, no symlink rights)
