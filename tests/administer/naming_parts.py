"""A small naming battery, takes and transcripts for the tests of spoken naming."""

from __future__ import annotations

from pathlib import Path

from tabwb.records.naming import PictureShown, Take
from tabwb.records.speech import Segment, Transcript

PNG = b"\x89PNG\r\n\x1a\n" + b"not decoded when a battery is read"
WORDS = {"dog": "D AO G", "cat": "K AE T", "tree": "T R IY", "house": "HH AW S"}


def naming_battery(folder: Path, rules: str = "") -> Path:
    """A battery of four pictures; cat and dog are named neighbours of each other."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        '[battery]\nid = "pictures"\ntitle = "Pictures"\nversion = "1"\nlanguage = "en"',
        'license = "MIT"\nexaminees = ["speaker"]\n',
        '[[subtest]]\nid = "nouns"\ntitle = "Nouns"\nresponse = "naming"',
        rules,
    ]
    for word, phonemes in WORDS.items():
        near = {"dog": '["cat"]', "cat": '["dog"]'}.get(word, "[]")
        lines.append(
            f'[[subtest.item]]\nid = "{word}"\npicture = "{word}.png"\ntarget = "{word}"\n'
            f'accept = [{{ phonemes = "{phonemes}", reason = "citation" }}]\nsemantic = {near}'
        )
        (folder / f"{word}.png").write_bytes(PNG + word.encode())
    path = folder / "battery.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def heard(*attempts: str, by: str = "replay", gap_s: float = 1.5, at_s: float = 0.5) -> Transcript:
    """A transcript of attempts, 0.1 s for each phoneme, with a pause between two."""
    segments: list[Segment] = []
    now = at_s
    for attempt in attempts:
        for phoneme in attempt.split():
            segments.append(Segment(phoneme, round(now, 3), round(now + 0.1, 3), 0.9))
            now += 0.1
        now += gap_s
    return Transcript(by, "ok" if segments else "empty", tuple(segments), seconds=now)


def shown(at_s: float) -> PictureShown:
    """A picture that was drawn at this second of recording ``r1``."""
    return PictureShown("r1", at_s, 0.02)


def take(start_s: float, seconds: float = 4.0, onset_s: float = 0.6) -> Take:
    """A response that begins ``onset_s`` after its picture."""
    return Take("r1", start_s, start_s + seconds, start_s, start_s + onset_s, 0.05, "energy-1")
