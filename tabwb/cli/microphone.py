"""``tabwb microphone``: which microphones there are, and a test of one with playback."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import json_option, note, on_terminal, print_json, renew_line
from tabwb.records.errors import TabwbError
from tabwb.records.files import WorkFolder
from tabwb.records.words import plural
from tabwb.speech.process import inputs, outputs, pick, pick_output
from tabwb.store import takes

if TYPE_CHECKING:
    from tabwb.speech.level import Level
    from tabwb.speech.recorder import Recorder

METER_FROM_DBFS = -60
METER_CELLS = 30


@click.group()
def microphone() -> None:
    """List microphones and loudspeakers; test them before a session."""


@microphone.command("list")
@json_option
def list_devices(as_json: bool) -> None:
    """List the available microphones and loudspeakers."""
    by_kind = {"microphones": inputs(), "loudspeakers": outputs()}
    if as_json:
        rows = {kind: [asdict(device) for device in devices] for kind, devices in by_kind.items()}
        print_json({"format": 1, **rows})
        return
    for kind, devices in by_kind.items():
        click.echo(f"{kind}: none" if not devices else f"{kind}:")
        for device in devices:
            mark = "*" if device.default else " "
            facts = f"{device.host}, {plural(device.channels, 'channel')}, {device.rate} Hz"
            click.echo(f"{mark} {device.index:>3}  {device.name}, {facts}")
    if any(device.default for devices in by_kind.values() for device in devices):
        note("* is the default")


@microphone.command("test")
@click.option(
    "--device", metavar="NAME", help="A microphone: its name, a part of the name, or its number."
)
@click.option(
    "--seconds",
    type=click.IntRange(1, 60),
    default=4,
    show_default=True,
    help="Seconds to record.",
)
@click.option(
    "--output", metavar="NAME", help="A loudspeaker: its name, a part of the name, or its number."
)
@click.option("--playback/--no-playback", default=True, help="Play what was recorded.")
@json_option
def try_device(
    device: str | None, seconds: int, output: str | None, playback: bool, as_json: bool
) -> int:
    """Record for a few seconds, report problems, and play it back. Nothing is kept.

    Exit status 1 if there was no sound or a problem with the microphone.
    """
    from tabwb.speech.files import read_clip
    from tabwb.speech.finding import quality
    from tabwb.speech.level import FLOOR_DBFS
    from tabwb.speech.playback import Playback
    from tabwb.speech.recorder import Recorder

    chosen = pick(device)
    player = pick_output(output) if playback and output is not None else None
    with WorkFolder(takes.user_work_root()) as folder:
        recorder = Recorder(chosen, folder.path / "test.wav")
        recorder.start()
        try:
            through = f" ({recorder.source})" if recorder.source else ""
            note(f"{recorder.device}{through}, {recorder.rate} Hz: speak for {seconds} s")
            _listen(recorder, seconds)
        finally:
            made = recorder.stop()
        samples, rate = read_clip(made.path)
        measured = quality(samples, rate)
        heard = measured.peak_dbfs > FLOOR_DBFS and not made.remarks
        document: dict[str, Any] = {
            "format": 1,
            "device": recorder.device,
            "source": recorder.source,
            "rate": made.rate,
            **{name: value for name, value in asdict(measured).items() if name != "remarks"},
            "remarks": [*made.remarks, *measured.remarks],
        }
        level = measured.speech_dbov
        speech = "no speech" if level is None else f"speech {level:.0f} dBov"
        if as_json:
            print_json(document)
        else:
            click.echo(
                f"{measured.seconds:.1f} s, peak {measured.peak_dbfs:.0f} dBFS, {speech}, "
                f"noise {measured.noise_floor_dbfs:.0f} dBFS"
            )
            for remark in document["remarks"] or ["no problems"]:
                click.echo(f"  {remark}")
        if playback and made.frames:
            note("playing it back")
            try:
                playing = Playback(made.path, device=player)
                playing.start()
                playing.wait()
            except TabwbError as error:
                note(f"playback failed: {error}")
    return 0 if heard else 1


def _listen(recorder: Recorder, seconds: int) -> None:
    def clear() -> None:
        if on_terminal():
            renew_line()

    until = time.monotonic() + seconds
    shown: str | None = None
    while time.monotonic() < until:
        alarm = recorder.alarm
        if alarm != shown and alarm is not None:
            clear()
            note(f"! {alarm}")
        shown = alarm
        if on_terminal():
            renew_line(meter(recorder.level))
        time.sleep(0.1)
    clear()


def meter(level: Level) -> str:
    """Return a level as a bar from -60 to 0 dBFS, with words for a clipped wave.

    >>> from tabwb.speech.level import Level
    >>> meter(Level(-30.0, -40.0))
    '[##########    |               ]  -30 dBFS     '
    """

    def cells(dbfs: float) -> int:
        """Return how many cells of the meter a level fills; any of one lights the cell."""
        number = (dbfs - METER_FROM_DBFS) * METER_CELLS / -METER_FROM_DBFS
        return max(0, min(math.ceil(number), METER_CELLS))

    filled, peak = cells(level.rms_dbfs), cells(level.peak_dbfs) - 1
    bar = "".join(
        "#" if cell < filled else "|" if cell == peak else " " for cell in range(METER_CELLS)
    )
    return f"[{bar}] {level.peak_dbfs:4.0f} dBFS {'CLIP' if level.clipped else '    '}"
