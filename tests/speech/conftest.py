"""The virtual microphone for every test of this folder."""

from tests.speech.virtual_microphone import microphone, sound_server

__all__ = ["microphone", "sound_server"]
