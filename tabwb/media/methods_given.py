"""Sentences about what was given to whom, how, when, and with which software."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import tabwb
from tabwb.administer.naming.views import is_recorded as is_aloud
from tabwb.battery.model import Battery, Subtest
from tabwb.battery.prompts import NO_MESSAGE
from tabwb.media.references import Citations, of_battery, software
from tabwb.media.sentences import listed, once, quoted, spread
from tabwb.media.studied import Studied, is_persons, is_recorded, noun_of, people
from tabwb.records.words import plural
from tabwb.report.file_names import without_folders
from tabwb.report.summaries.load import AdministrationData

SHORT_HASH = 12
"""Hexadecimal digits that are printed of a hash."""
Members = Sequence[AdministrationData]


def materials(about: Studied, cite: Citations) -> Iterator[str]:
    """Yield what each battery is and which of its items were given."""
    for battery in about.batteries:
        name = f"{_called(battery)} (id {battery.id}, version {battery.version}, SHA-256 "
        subtests = [subtest for subtest in battery.subtests if items_of(subtest)]
        parts = listed(
            f"{subtest.title} ({plural(items_of(subtest), 'item')}: {subtest.task.asks_for})"
            for subtest in subtests
        )
        yield (
            f"{name}{battery.content_hash[:SHORT_HASH]}) {cite(of_battery(battery))} has "
            f"{plural(battery.n_items, 'item')} in {plural(len(subtests), 'subtest')}: {parts}."
        )
        given = _given(about, battery)
        if len(given) < len(subtests):
            names = listed(subtest.title for subtest in given) if given else "none of them"
            if about.is_part:
                yield f"The results are of a part of the responses: {names}."
            else:
                yield f"Of its subtests {names} {'was' if len(given) == 1 else 'were'} given."
        members = [m for m in about.members if m.battery.content_hash == battery.content_hash]
        if any(member.administration.conditions.is_part for member in members):
            yield f"What was given of it: {once(members, _part, about.some)}."
        models = [member for member in members if not is_persons(member)]
        if battery.system is not None and models:
            yield f"Its system message for models is {quoted(battery.system.text)}"
        others = [one for one in models if one.administration.conditions.system_message]
        if others:
            yield f"System message sent in its place: {once(models, _system, about.some)}."


def _system(member: AdministrationData) -> str:
    text = member.administration.conditions.system_message
    if text is None:
        return "the battery's"
    return "none" if text == NO_MESSAGE else quoted(text)


def _called(battery: Battery) -> str:
    """Return a battery's title as the subject of a sentence."""
    is_name = re.search(r"\b(Battery|Examination|Inventory|Test)\b", battery.title)
    return f"The {battery.title}" if is_name else f"The battery {quoted(battery.title)}"


def _part(member: AdministrationData) -> str:
    conditions = member.administration.conditions
    return "the " + conditions.part.replace(":", " with") if conditions.is_part else "all of it"


def items_of(subtest: Subtest) -> int:
    """Return the number of items of a subtest, practice not counted."""
    return sum(not item.practice for item in subtest.items)


def _given(about: Studied, battery: Battery) -> list[Subtest]:
    planned = {
        part.id for row in about.rows_of(battery) for part in row.summary.subtests if part.planned
    }
    return [subtest for subtest in battery.subtests if subtest.id in planned]


def models(about: Studied) -> Iterator[str]:
    """Yield which models responded, each with its revision, as far as it is stored."""
    members = [member for member in about.members if not is_persons(member)]
    if not members:
        return
    examinees = sorted(spread(members, about.name), key=lambda found: members.index(found[1][0]))
    dtypes = {member.model_facts.get("dtype", "") for member in members}
    shared = dtypes.pop() if len(dtypes) == 1 else ""
    described = []
    for name, own in examinees:
        facts = _facts_of(name, own, with_dtype=not shared)
        described.append(f"{name} ({', '.join(facts)})" if facts else name)
    whom = "One model responded" if len(examinees) == 1 else f"{len(examinees)} models responded"
    yield f"{whom}: {listed(described)}."
    if shared:
        yield f"{'It' if len(examinees) == 1 else 'All of them'} ran in {shared}."


def _facts_of(name: str, members: Members, *, with_dtype: bool) -> list[str]:
    first = members[0].administration.conditions
    facts = []
    examinee = without_folders(first.examinee)
    if examinee not in name:
        facts.append(examinee)
    facts += [value for key, value in first.labels.items() if key in ("family", "tuning")]
    if "parameters" in first.labels:
        facts.append(_parameters(first.labels["parameters"]))
    for key, words in (
        ("revision", "revision"),
        ("weights_sha256", "weights SHA-256"),
        ("file_sha256", "file SHA-256"),
        ("dtype", ""),
        ("template", "template"),
    ):
        if key == "dtype" and not with_dtype:
            continue
        values = dict.fromkeys(
            member.model_facts[key] for member in members if member.model_facts.get(key)
        )
        if values:
            shown = (
                value[:SHORT_HASH] if key not in ("dtype", "template") else value
                for value in values
            )
            facts.append(f"{words} {listed(shown)}".strip())
    return facts


def _parameters(text: str) -> str:
    return f"{int(text):,} parameters" if text.isdecimal() else f"{text} parameters"


def participants(about: Studied) -> Iterator[str]:
    """Yield how many people took part; they are named only where that was asked for."""
    members = [member for member in about.members if is_persons(member)]
    if not members:
        return
    known = [member for member in members if noun_of(member) == "participant"]
    if known:
        named = f" ({listed(dict.fromkeys(map(about.name, known)))})" if about.study_ids else ""
        sessions = plural(len(known), "administration")
        yield f"{people(known, about.name)}{named} took part in {sessions}."
    unknown = [member for member in members if member not in known]
    if unknown:
        yield (
            f"The responses of {plural(len(unknown), 'administration')} have an unknown origin: "
            "a person or a model may have made them."
        )
    answered = [member for member in members if _how_answered(member)]
    if answered:
        yield f"Responses were {once(answered, _how_answered, about.some)}."
    protocols = [m for m in members if m.administration.conditions.research_protocol]
    if protocols:
        yield f"The research protocol was {once(protocols, _research_protocol, about.some)}."


def _how_answered(member: AdministrationData) -> str:
    """Return how the responses came about; empty where there is none."""
    if is_recorded(member):
        return "recorded elsewhere"
    answered = [trial for trial in member.source.trials if trial.counting is not None]
    aloud = sum(
        member.battery.subtest(trial.plan.subtest).task.coded or is_aloud(trial)
        for trial in answered
    )
    typed = len(answered) - aloud
    if aloud and typed:
        return f"given aloud ({aloud:,}) and typed ({typed:,})"
    return "given aloud" if aloud else "typed" if typed else ""


def _research_protocol(member: AdministrationData) -> str:
    return member.administration.conditions.research_protocol or "none"


def software_used(about: Studied, cite: Citations) -> Iterator[str]:
    """Yield the versions of tabwb and of the libraries, when responses were given and now."""
    work = cite(software(tabwb.__version__))
    members = [
        member
        for member in about.members
        if member.administration.versions and not member.administration.conditions.is_imported
    ]
    if members:
        yield about.said(members, f"The batteries were given with tabwb {work}", _versions)
    cited = "" if members else f"{work} "
    yield f"Results were computed with tabwb {cited}{tabwb.__version__}."
    libraries = [m for m in about.members if not is_persons(m) and _libraries(m)]
    if libraries:
        yield about.said(libraries, "The models ran with", _libraries)


def _versions(member: AdministrationData) -> str:
    versions = member.administration.versions
    python = f" (Python {versions['python']})" if "python" in versions else ""
    return f"version {versions.get('tabwb', 'unknown')}{python}"


def _libraries(member: AdministrationData) -> str:
    facts = member.model_facts
    known = [f"{name} {facts[name]}" for name in ("torch", "transformers") if name in facts]
    return listed(known) if known else ""
