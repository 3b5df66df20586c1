"""Recorded runs and offline replays: every answer from outside is kept, or comes from what was kept.

`Recorder` and `Player` are the two implementations of the engine's `Recording`; `boundaries` wraps the services at
which a run meets the outside. A further service joins with a wrapper there whose methods go through `Outside.ask`.
"""

from interlace.flows.recording.player import Player
from interlace.flows.recording.recorder import Recorder

__all__ = ["Player", "Recorder"]
