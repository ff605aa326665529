"""What the new-administration dialog asks for, and how it becomes conditions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tabwb.records.conditions import Conditions, ExamineeKind, ItemOrder, OptionOrder
from tabwb.records.errors import UsageError
from tabwb.records.exchange import MAX_TOKENS, Decoding
from tabwb.records.states import Protocol
from tabwb.workbench.engine.view_models import Catalogue

NO_JUDGE = "none"
NO_TRANSCRIBER = "none"


@dataclass(frozen=True, slots=True)
class Draft:
    r"""An administration to be begun; every field as the person typed it.

    Attributes:
        max_tokens: token limit of every reply; empty for the battery's own limits.
        stop: texts that end a reply, separated by two spaces; ``\n`` stands for a new line.
        judges: specs separated by spaces, or ``none``.
        protocol: how a model answers items with options.
        transcriber: what hears a person who names aloud, or ``none``.
        rater: who scores by ear: a study ID, or empty.
        microphone: which one listens, or empty for the system's own; kept with the workbench.
    """

    battery: str = "tab"
    kind: ExamineeKind = "model"
    model: str = "bundled"
    speaker: str = ""
    research_protocol: str = ""
    seed: str = "1"
    replicates: str = "1"
    item_order: ItemOrder = "as-given"
    option_order: OptionOrder = "as-given"
    judges: str = "rules"
    temperature: str = "0"
    max_tokens: str = ""
    top_p: str = "1"
    stop: str = ""
    conversation: bool = False
    protocol: str = "generate"
    transcriber: str = "bundled-words"
    rater: str = ""
    microphone: str = ""


@dataclass(frozen=True, slots=True)
class StartPreview:
    """What is told of a draft before it begins.

    Attributes:
        notices: to whoever gives a battery to a person: an odd ID, a consent that is not there.
        judging: what judges that ask a model will take afterwards.
        design: of a model: the smallest difference from another that the answers can show.
    """

    notices: tuple[str, ...] = ()
    judging: tuple[str, ...] = ()
    design: tuple[str, ...] = ()


class FieldError(UsageError):
    """What a field holds cannot be used; ``field`` is the draft's attribute."""

    def __init__(self, field: str, message: str, allowed: str = "", hint: str = "") -> None:
        super().__init__(message, allowed=allowed or None, hint=hint or None)
        self.field = field


def default_draft(catalogue: Catalogue) -> Draft:
    """TAB on the bundled model where both are there, else the first that can be used."""
    batteries = [one.id for one in catalogue.batteries if not one.problem]
    models = [one.spec for one in catalogue.models if not one.hindrance and one.spec == one.id]
    draft = Draft()
    if draft.battery not in batteries:
        draft = replace(draft, battery=batteries[0] if batteries else "")
    if draft.model not in models:
        draft = replace(draft, model=models[0] if models else "")
    if draft.transcriber not in {one.id for one in catalogue.transcribers if not one.hindrance}:
        draft = replace(draft, transcriber=NO_TRANSCRIBER)
    return draft


def conditions_of(draft: Draft) -> Conditions:
    """The conditions that a draft asks for, specs not yet resolved.

    Raises:
        FieldError: a field cannot be read; it is named.
    """
    if not draft.battery.strip():
        raise FieldError("battery", "a battery is needed", "an id, or a path of a battery.toml")
    person = draft.kind == "speaker"
    examinee = (draft.speaker if person else draft.model).strip()
    if not examinee and person:
        raise FieldError(
            "speaker",
            "a participant code is needed",
            "for example S-014",
            "never use a person's name",
        )
    if not examinee:
        raise FieldError("model", "a model is needed", "for example bundled, echo, replay:FILE")
    seed = _integer(draft, "seed", -(2**31), 2**31 - 1)
    limited = bool(draft.max_tokens.strip())
    judges = tuple(draft.judges.split()) or (NO_JUDGE,)
    if NO_JUDGE in judges and len(judges) > 1:
        raise FieldError("judges", f"'{NO_JUDGE}' stands alone")
    return Conditions(
        examinee=examinee,
        kind=draft.kind,
        seed=seed,
        replicates=_integer(draft, "replicates", 1, 100_000),
        protocol=Protocol.GENERATE if person else Protocol(draft.protocol),
        decoding=Decoding(
            max_tokens=_integer(draft, "max_tokens", 1, 100_000) if limited else MAX_TOKENS,
            temperature=_number(draft, "temperature", 0.0, 10.0),
            top_p=_number(draft, "top_p", 1e-9, 1.0),
            stop=tuple(text.replace("\\n", "\n") for text in draft.stop.split("  ") if text),
            seed=seed,
        ),
        conversation=draft.conversation and not person,
        item_order=draft.item_order,
        option_order=draft.option_order,
        judges=() if judges == (NO_JUDGE,) else judges,
        research_protocol=draft.research_protocol.strip() or None if person else None,
        token_limits="run" if limited else "battery",
    )


def named_aloud(conditions: Conditions, draft: Draft, *, judged: bool = False) -> Conditions:
    """Return the conditions where a person answers aloud: each item once, transcribed.

    Args:
        conditions: of the dialog's other fields.
        draft: with transcriber and rater.
        judged: whether some of the answers are judged.
    """
    transcriber = draft.transcriber.strip() or NO_TRANSCRIBER
    return replace(
        conditions,
        replicates=1,
        option_order="as-given",
        judges=conditions.judges if judged else (),
        transcriber=None if transcriber == NO_TRANSCRIBER else transcriber,
        rater=draft.rater.strip(),
    )


_NAMES = {"max_tokens": "max tokens", "top_p": "top-p"}


def _integer(draft: Draft, field: str, least: int, most: int) -> int:
    text = str(getattr(draft, field)).strip()
    try:
        value = int(text)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        name = _NAMES.get(field, field)
        allowed = "a whole number" if least < 0 else f"a whole number from {least} to {most}"
        raise FieldError(field, f"{name}: '{text}' cannot be used", allowed)
    return value


def _number(draft: Draft, field: str, least: float, most: float) -> float:
    text = str(getattr(draft, field)).strip()
    try:
        value = float(text)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        low = "above 0" if 0 < least < 1e-6 else f"from {least:g}"
        raise FieldError(
            field, f"{_NAMES.get(field, field)}: '{text}' cannot be used", f"{low} to {most:g}"
        )
    return value
