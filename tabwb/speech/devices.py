"""Microphones and loudspeakers that are connected now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabwb.records.errors import ComponentError, UsageError
from tabwb.records.words import near
from tabwb.speech.process import ANSWER_S, Message, SoundHost


@dataclass(frozen=True, slots=True)
class Device:
    """A microphone or a loudspeaker.

    Attributes:
        index: its number in this list; other lists may have other numbers.
        host: the interface it is reached by, such as ``ALSA``, ``Core Audio``, ``Windows WASAPI``.
        rate: its own rate in Hz.
        default: whether it is used where none is named.
    """

    index: int
    name: str
    host: str
    channels: int
    rate: int
    default: bool


def inputs() -> tuple[Device, ...]:
    """Return every microphone, from a new search."""
    return _listed("input")


def outputs() -> tuple[Device, ...]:
    """Return every loudspeaker, from a new search. Raises as :func:`inputs`."""
    return _listed("output")


def pick(wanted: str | int | None) -> Device:
    """Return a microphone by its name, a part of it, or its number; None for the default one."""
    return choose(inputs(), wanted, "microphone")


def pick_output(wanted: str | int | None) -> Device:
    """Return a loudspeaker, as :func:`pick`."""
    return choose(outputs(), wanted, "loudspeaker")


def choose(devices: Sequence[Device], wanted: str | int | None, noun: str) -> Device:
    """Return one of several devices."""
    if not devices:
        files = "; existing sound files: tabwb name BATTERY ... --input FOLDER"
        raise ComponentError(
            f"no {noun} was found",
            hint="plug one in, or start the sound server, and try again"
            + (files if noun == "microphone" else ""),
        )
    if wanted is None:
        return next((device for device in devices if device.default), devices[0])
    if isinstance(wanted, int) or wanted.isdecimal():
        matching = [device for device in devices if device.index == int(wanted)]
    else:
        word = wanted.casefold()
        matching = [
            device
            for device in devices
            if word in {device.name.casefold(), title(device).casefold()}
        ]
        matching = matching or [device for device in devices if word in device.name.casefold()]
    if len(matching) == 1:
        return matching[0]
    allowed = "; ".join(f"{device.index} {title(device)}" for device in devices)
    if matching:
        raise UsageError(f"'{wanted}' is the name of several {noun}s", allowed=allowed)
    like = near(str(wanted), [device.name for device in devices])
    hint = f"did you mean '{like}'?" if like else "'tabwb microphone list' shows them"
    raise UsageError(f"there is no {noun} '{wanted}'", allowed=allowed, hint=hint)


def title(device: Device) -> str:
    """Return a device's name with its interface, which distinguishes equal names."""
    return f"{device.name}, {device.host}"


def _listed(kind: str) -> tuple[Device, ...]:
    replies: list[Message] = []
    host = SoundHost("devices", {}, replies.append)
    try:
        finished = host.over.wait(ANSWER_S)
    finally:
        host.end()
    if not finished or len(replies) < 2:  # nothing before "over"
        raise host.failure()
    own = ("index", "name", "host", f"{kind}s", "rate", f"default_{kind}")
    devices = (device for device in replies[0]["devices"] if device[f"{kind}s"] > 0)
    return tuple(Device(*(device[key] for key in own)) for device in devices)
