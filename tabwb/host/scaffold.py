"""A working plugin to start from: a battery, a scorer, a transcriber, and tests that pass."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.specs import is_kebab

_PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "@ID@"
version = "0.1.0"
description = "A plugin for tabwb"
requires-python = ">=3.11"
dependencies = ["tabwb"]

[project.entry-points.tabwb]
@ID@ = "@PACKAGE@.plugin"

[tool.setuptools]
packages = ["@PACKAGE@", "@PACKAGE@.battery"]
package-dir = { "" = "." }

[tool.setuptools.package-data]
"@PACKAGE@.battery" = ["*"]

[tool.pytest.ini_options]
pythonpath = ["."]
"""

_README = """\
# @ID@

A plugin for tabwb: the battery `@ID@`, the scorer `@ID@` that it names, and the transcriber `@ID@`,
which writes noise wherever a recording is loud. Replace them by your own and remove what you do not
need.

    pip install -e .                          # or, without installing: tabwb plugins trust .
    tabwb plugins list
    tabwb run @ID@ --model echo
    tabwb transcribe RECORDING.wav --transcriber @ID@     # needs pip install "tabwb[audio]"
    python -m pytest
"""

_PLUGIN = '''"""The components of this plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tabwb.plugin_api import (
    BatterySource,
    Descriptor,
    Item,
    Rating,
    Register,
    RegisterBattery,
    Response,
    Spec,
    Subtest,
    Transcriber,
    hookimpl,
    undefined,
    valued,
)

BATTERY = Path(__file__).parent / "battery" / "battery.toml"


class MentionScorer:
    """Whether the response contains the expected word."""

    measures: Mapping[str, str] = {"mentioned": "verdict"}  # 1 is right, 0 is wrong

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        """Return one verdict, with its reason."""
        if item.expected is None:
            return [undefined("@ID@", "mentioned", "the item has no expected answer")]
        mentioned = item.expected.casefold() in response.text.casefold()
        reason = f"'{item.expected}' is {'' if mentioned else 'not '}in the response"
        return [valued("@ID@", "mentioned", mentioned, reason)]


def _scorer(spec: Spec, options: Any) -> MentionScorer:
    return MentionScorer()


def _transcriber(spec: Spec, options: Any) -> Transcriber:
    # Imported when it is used, because packages of models are slow to import.
    from @PACKAGE@.transcriber import LoudnessTranscriber

    return LoudnessTranscriber()


@hookimpl
def tabwb_register_scorers(register: Register) -> None:
    """Register the scorer."""
    register(Descriptor("@ID@", "Whether the expected word is mentioned", _scorer))


@hookimpl
def tabwb_register_transcribers(register: Register) -> None:
    """Register the transcriber."""
    register(Descriptor("@ID@", "Writes noise where a recording is loud", _transcriber))


@hookimpl
def tabwb_register_batteries(register: RegisterBattery) -> None:
    """Register the battery."""
    register(BatterySource("@ID@", BATTERY))
'''

_TRANSCRIBER = '''"""A transcriber: audio to phonemes with times. Replace it by your model."""

from __future__ import annotations

import wave
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

from tabwb.plugin_api import Cancel, Clip, Segment, Transcript

LOUD = 3277  # a tenth of full scale, of 16-bit samples
WINDOW_S = 0.05


class LoudnessTranscriber:
    """Writes ``<spn>``, noise of a speaker, for each loud stretch."""

    unit: Literal["phonemes", "words"] = "phonemes"

    def open(self) -> Mapping[str, str]:
        """Load the model here; return the facts to store with every transcript."""
        return {"model": "loudness", "revision": "1"}

    def transcribe_many(
        self, clips: Sequence[Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        """Yield each clip's index and transcript; a clip that cannot be read is an error."""
        for index, clip in enumerate(clips):
            if cancel.is_set():
                return
            try:
                yield index, _transcribe(clip)
            except (OSError, EOFError, wave.Error) as error:
                yield index, Transcript("@ID@", "error", error=str(error))

    def close(self) -> None:
        """Release the model; may be called twice."""


def _transcribe(clip: Clip) -> Transcript:
    """Transcribe a clip: a WAV file of one channel, 16 bits and 16 kHz, made by tabwb."""
    with wave.open(clip.path, "rb") as sound:
        rate = sound.getframerate()
        samples = array("h", sound.readframes(sound.getnframes()))
    end_s = len(samples) / rate if clip.end_s is None else clip.end_s
    samples = samples[round(clip.start_s * rate) : round(end_s * rate)]
    size = round(WINDOW_S * rate)
    windows = [samples[at : at + size] for at in range(0, len(samples), size)]
    loud = [max(map(abs, window)) >= LOUD for window in windows]
    segments: list[Segment] = []
    at = 0
    for is_loud, group in groupby(loud):
        count = len(list(group))
        if is_loud:
            last_s = min((at + count) * WINDOW_S, len(samples) / rate)
            segments.append(Segment("<spn>", round(at * WINDOW_S, 3), round(last_s, 3)))
        at += count
    status: Literal["ok", "empty"] = "ok" if segments else "empty"
    return Transcript("@ID@", status, tuple(segments), seconds=len(samples) / rate)
'''

_BATTERY = """\
[battery]
id = "@ID@"
title = "@TITLE@"
version = "1"
language = "en"
license = "MIT"

[[subtest]]
id = "questions"
title = "Questions"
response = "choice"
instructions = { text = "Answer with one of the listed words.", source = "ours" }
template = "{instructions}\\n{prompt} ({options})"
scorers = ["choice", "@ID@"]

[[subtest.item]]
id = "q1"
prompt = "Which animal barks?"
options = ["cow", "dog", "bird"]
expected = "dog"

[[subtest.item]]
id = "q2"
prompt = "What do bees make?"
options = ["silk", "milk", "honey"]
expected = "honey"
"""

_TEST = '''"""The plugin's parts, as tabwb uses them."""

from __future__ import annotations

import threading
import wave
from array import array
from pathlib import Path

import pytest

from @PACKAGE@ import plugin
from @PACKAGE@.transcriber import LoudnessTranscriber
from tabwb import load_battery
from tabwb.plugin_api import BatterySource, Clip, Descriptor, Plugins, Response, ResponseStatus
from tabwb.testing import check_scorer, check_transcriber


def test_the_battery_has_no_problems() -> None:
    assert load_battery(plugin.BATTERY).id == "@ID@"


def test_battery_scorer_and_transcriber_are_registered() -> None:
    batteries: list[BatterySource] = []
    registered: list[Descriptor] = []
    plugin.tabwb_register_batteries(batteries.append)
    plugin.tabwb_register_scorers(registered.append)
    plugin.tabwb_register_transcribers(registered.append)
    assert [source.id for source in batteries] == ["@ID@"]
    assert [descriptor.id for descriptor in registered] == ["@ID@", "@ID@"]


def test_the_scorer_finds_the_expected_word() -> None:
    battery = load_battery(plugin.BATTERY)
    subtest = battery.subtest("questions")
    item = subtest.item("q1")
    values = [
        plugin.MentionScorer().score(subtest, item, _response(item.prompt, text))[0].value
        for text in ("A Dog barks.", "A cat.")
    ]
    assert values == [1.0, 0.0]


def test_the_transcriber_hears_what_is_loud(tmp_path: Path) -> None:
    loud, silent = array("h", [0] * 8_000 + [9_000, -9_000] * 4_000), array("h", [0] * 16_000)
    clips = [Clip(_sound(tmp_path / "loud.wav", loud)), Clip(_sound(tmp_path / "no.wav", silent))]
    transcriber = LoudnessTranscriber()
    assert transcriber.open()["model"] == "loudness"
    loud_one, silent_one = (
        transcript for _, transcript in transcriber.transcribe_many(clips, threading.Event())
    )
    transcriber.close()
    (segment,) = loud_one.segments
    assert (segment.start_s, segment.end_s) == pytest.approx((0.5, 1.0))
    assert (loud_one.phonemes, loud_one.status) == (("<spn>",), "ok")
    assert silent_one.status == "empty"


def test_scorer_and_transcriber_keep_their_contracts() -> None:
    plugins = Plugins.load(modules={"@ID@": plugin})
    check_scorer("@ID@", plugins=plugins, kinds=("choice", "verbatim"))
    check_transcriber("@ID@", plugins=plugins)
    plugins.close()


def _sound(path: Path, samples: array[int]) -> str:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16_000)
        sound.writeframes(samples.tobytes())
    return str(path)


def _response(prompt: str, text: str) -> Response:
    kind = load_battery(plugin.BATTERY).subtest("questions").response
    return Response(text, ResponseStatus.OK, prompt=prompt, sent=prompt, kind=kind)
'''

FILES: Mapping[str, str] = {
    "pyproject.toml": _PYPROJECT,
    "README.md": _README,
    "@PACKAGE@/__init__.py": '"""A battery, a scorer and a transcriber for tabwb."""\n',
    "@PACKAGE@/plugin.py": _PLUGIN,
    "@PACKAGE@/transcriber.py": _TRANSCRIBER,
    "@PACKAGE@/battery/battery.toml": _BATTERY,
    "tests/test_plugin.py": _TEST,
}
"""Path: content; ``@ID@``, ``@PACKAGE@`` and ``@TITLE@`` stand for the plugin's name."""

ONE_FILE: Mapping[str, str] = {
    "scorer": """
from tabwb.plugin_api import scorer


@scorer("@ID@", "Whether the expected word is mentioned")
def mentioned(item, response) -> bool:
    if item.expected is None:
        return None  # undefined
    return item.expected.casefold() in response.text.casefold()
""",
    "judge": """
from tabwb.plugin_api import judge


@judge("@ID@", "Whether a word stands for anything", features=("anomia",))
def judged(response):
    words = response.text.casefold().split()
    return {"anomia": ("thing" in words, "'thing' is in the response")}
""",
    "exporter": """
from tabwb.plugin_api import exporter


@exporter("@ID@", "One line for each response", suffix=".txt")
def lines(documents):
    for document in documents:
        for trial in document["trials"]:
            yield f"{trial['item']}: {trial['response']}\\n"
""",
    "statistic": """
from tabwb.plugin_api import statistic


@statistic("@ID@", "Long answers", "the share of responses of five words or more", percent=True)
def share(responses):
    words = responses.table["words"].values
    return float((words >= 5).mean()) if len(words) else None
""",
    "observer": """
from tabwb.plugin_api import Finished, hookimpl


@hookimpl
def tabwb_on_event(event):
    if isinstance(event, Finished):
        print(f"administration {event.administration} is done")  # on stderr
""",
    "command": '''
from tabwb.plugin_api import CommandSource, hookimpl


def load():
    import click

    @click.command()
    def words():
        """Say what this command does."""
        click.echo("done")

    return words


@hookimpl
def tabwb_register_commands(register):
    register(CommandSource("@ID@", "Say what this command does.", load))
''',
    "page": """
from tabwb.plugin_api import PageSource, hookimpl


def build(data):
    return data.results.select(["group", "measure", "value"])


@hookimpl
def tabwb_register_pages(register):
    register(PageSource("@ID@", "@TITLE@", "The results, as a table.", build))
""",
    "model": """
from tabwb.plugin_api import Descriptor, Reply, StopReason, hookimpl


class Model:
    def open(self):
        return {"model": "@ID@", "revision": "1"}

    def reply(self, request, cancel):
        text = "" if cancel.is_set() else request.messages[-1].content
        yield Reply(text, StopReason.CANCELLED if cancel.is_set() else StopReason.END, 0.0)

    def close(self):
        pass


@hookimpl
def tabwb_register_models(register):
    register(Descriptor("@ID@", "Repeats the prompt", lambda spec, options: Model()))
""",
    "operation": '''
from dataclasses import dataclass
from typing import Annotated

from tabwb.plugin_api import IDS, Arg, Operation, OperationSource, hookimpl


@dataclass(frozen=True, kw_only=True)
class CountTrials(Operation):
    """Count the trials of administrations."""

    NAME, TITLE, WRITES = "@ID@", "Count trials", False
    ids: Annotated[tuple[int | str, ...], IDS]
    answered: Annotated[bool, Arg("Only answered ones.", label="Only answered")] = False

    def do(self, tools):
        found = map(tools.store.administration, self.ids)
        tools.document["trials"] = {
            str(one.id): one.answered if self.answered else one.planned for one in found
        }

    def lines(self, document):
        yield from (f"#{number}: {count}" for number, count in document["trials"].items())


@hookimpl
def tabwb_register_operations(register):
    register(OperationSource("@ID@", "Count the trials of administrations.", lambda: CountTrials))
''',
    "task": """
from tabwb.plugin_api import TaskType, hookimpl


@hookimpl
def tabwb_register_tasks(register):
    register(
        TaskType(
            kind="@ID@",  # in a battery: response = "@ID@"
            asks_for="as many words as possible",
            instructions="Say as many words of the category as you can.",
            scorers=(),
            judged="never",
        )
    )
""",
    "subject": """
from tabwb.plugin_api import Column, SubjectKind, hookimpl

COLUMNS = (
    Column("MMSE", "whole", minimum=0, maximum=30, title="Mini-Mental State Examination"),
    Column("handedness", "choice", choices=("left", "right", "both"), title="Handedness"),
)


@hookimpl
def tabwb_register_subjects(register):
    register(SubjectKind("@ID@", "@TITLE@", COLUMNS, required=("MMSE",)))
""",
}
"""Kind of a plugin: the content of its one file."""


def write_plugin(name: str, parent: Path, kind: str = "") -> tuple[Path, ...]:
    """Write the package ``parent/NAME``, or one file of a kind; return the files.

    Raises:
        UsageError: the name is malformed, or the name of a module of Python.
        TabwbError: the folder or file exists; nothing was written.
    """
    identifier = name.replace("_", "-")
    package = identifier.replace("-", "_")
    if not is_kebab(identifier) or not package.isidentifier():
        allowed = "lower-case letters and digits, joined by hyphens, beginning with a letter"
        raise UsageError(f"'{name}' is not a valid plugin name", allowed=allowed)
    if package in sys.stdlib_module_names or package in {"tabwb", "tests"}:
        raise UsageError(f"'{name}' would hide a package of that name", hint="choose another name")
    root = parent / (f"{package}.py" if kind else identifier)
    if root.exists():
        raise TabwbError("already exists; nothing was written", where=str(root))
    docstring = f'"""The {kind} @ID@, a plugin for tabwb."""\n'
    files = {"": docstring + ONE_FILE[kind]} if kind else FILES
    names = {"@ID@": identifier, "@PACKAGE@": package, "@TITLE@": identifier.replace("-", " ")}
    written = []
    try:
        for path, content in files.items():
            target = root / _filled(path, names)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_filled(content, names), encoding="utf-8")
            written.append(target)
    except OSError as error:
        raise TabwbError(f"cannot be written: {error.strerror}", where=str(root)) from error
    return tuple(written)


def _filled(text: str, names: Mapping[str, str]) -> str:
    for mark, name in names.items():
        text = text.replace(mark, name)
    return text
