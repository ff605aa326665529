"""The virtual microphone for every test of this folder."""

from tests.cli.conftest import run
from tests.speech.virtual_microphone import microphone, sound_server

__all__ = ["microphone", "run", "sound_server"]
