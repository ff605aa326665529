"""PortAudio, inside the sound host: its module, its devices, its errors in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

Tell = Callable[[Mapping[str, Any]], None]


class HostError(Exception):
    """What could not be done.

    Attributes:
        kind: library, configuration, device, open, file; the program has a hint for each.
        where: the device or file, or None.
    """

    def __init__(self, kind: str, message: str, where: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.where = where


def portaudio() -> ModuleType:
    """Return the module sounddevice with PortAudio running."""
    try:
        import sounddevice
    except OSError as error:
        raise HostError(
            "library", f"PortAudio, which records and plays, cannot be used: {error}"
        ) from error
    except Exception as error:
        # PortAudioError: its class went away with the import that failed.
        if type(error).__name__ != "PortAudioError":
            raise
        raise HostError("configuration", f"the audio system failed: {said(error)}") from error
    module: ModuleType = sounddevice
    return module


def said(error: BaseException) -> str:
    """Return the words of a PortAudioError, without its number and what was being done."""
    words = str(error.args[0] if error.args else error)
    return re.sub(r"^Error (opening|starting) \w+: ", "", words).strip().rstrip(".")


def find(sd: ModuleType, options: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the device of a name and host interface; numbers change from process to process."""
    devices = [d for d in listed(sd) if d[f"{kind}s"] > 0]
    name, host = options.get("device"), options.get("host")
    noun = "microphone" if kind == "input" else "loudspeaker"
    if name is None:
        if not devices:
            raise HostError("device", f"no {noun} was found")
        return next((device for device in devices if device[f"default_{kind}"]), devices[0])
    for device in devices:
        if (device["name"], device["host"]) == (name, host):
            return device
    raise HostError("device", f"this {noun} is not there any more", name)


def listed(sd: ModuleType) -> list[dict[str, Any]]:
    """Return all devices as plain data."""
    hosts = sd.query_hostapis()
    defaults = {
        kind: {hosts[0][f"default_{kind}_device"]} if hosts else set()
        for kind in ("input", "output")
    }
    for kind, index in zip(("input", "output"), sd.default.device, strict=True):
        if index >= 0:
            defaults[kind] = {index}
    return [
        {
            "index": index,
            "name": device["name"],
            "host": hosts[device["hostapi"]]["name"],
            "inputs": device["max_input_channels"],
            "outputs": device["max_output_channels"],
            "rate": round(device["default_samplerate"]),
            "default_input": index in defaults["input"],
            "default_output": index in defaults["output"],
        }
        for index, device in enumerate(sd.query_devices())
    ]
