"""A battery of descriptions for the tests, with a transcriber of words that needs no model."""

from __future__ import annotations

from pathlib import Path

from tabwb.records.speech import Segment, Transcript

PNG = b"\x89PNG\r\n\x1a\n" + b"not decoded when a battery is read"
WORDS = "the boy takes a cookie and the sink is running over"
FEATURE = """
[[feature]]
id = "anomia"
key = "anomia"
title = "Anomia"
definition = "Words are missing."
[[feature]]
id = "empty-speech"
key = "empty"
title = "Empty speech"
definition = "Little is told."
"""
TRANSCRIBER = f"""
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.hookspecs import hookimpl
from tabwb.records.speech import Segment, Transcript


class Writes:
    unit = "words"

    def open(self):
        return {{}}

    def transcribe_many(self, clips, cancel):
        for index, clip in enumerate(clips):
            words = {WORDS!r}.split()
            segments = tuple(Segment(word, at / 20, at / 20) for at, word in enumerate(words))
            yield index, Transcript("writes-words", "ok", segments, "words", seconds=1.0)

    def close(self):
        pass


@hookimpl
def tabwb_register_transcribers(register):
    register(Descriptor("writes-words", "writes words", lambda spec, options: Writes()))
"""


def description_battery(folder: Path, *, picture: bool = True) -> Path:
    """A battery with two descriptions: of a picture (or a question in its place), of a morning."""
    folder.mkdir(exist_ok=True)
    examinees = '["speaker"]' if picture else '["model", "speaker"]'
    first = 'picture = "kitchen.png"' if picture else 'prompt = "Describe your kitchen."'
    path = folder / "battery.toml"
    path.write_text(
        '[battery]\nid = "telling"\ntitle = "Telling"\nversion = "1"\nlanguage = "en"\n'
        f'license = "MIT"\nexaminees = {examinees}\n'
        '[[subtest]]\nid = "scenes"\ntitle = "Scenes"\nresponse = "description"\n'
        'instructions = { text = "Tell me about it.", source = "ours" }\n'
        'scorers = ["lexical"]\n'
        f'[[subtest.item]]\nid = "kitchen"\n{first}\n'
        '[[subtest.item]]\nid = "morning"\nprompt = "Describe your morning."\n' + FEATURE,
        encoding="utf-8",
    )
    if picture:
        (folder / "kitchen.png").write_bytes(PNG)
    return path


def written(text: str, by: str = "writes-words") -> Transcript:
    """A transcript in words, one every half second."""
    segments = tuple(Segment(word, at / 2, at / 2 + 0.4) for at, word in enumerate(text.split()))
    return Transcript(by, "ok" if segments else "empty", segments, "words", seconds=30.0)


def plugin_folder(folder: Path) -> Path:
    """A folder with the transcriber as a plugin."""
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project.entry-points.tabwb]\nwrites = "writes"\n')
    (folder / "writes.py").write_text(TRANSCRIBER)
    return folder
