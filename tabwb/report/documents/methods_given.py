"""Sentences about what was given to whom, how, when, and with which software."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import tabwb
from tabwb.battery.model import Battery, Subtest
from tabwb.records.exchange import MAX_TOKENS
from tabwb.records.states import Protocol
from tabwb.records.words import plural
from tabwb.report.documents.references import Citations, of_battery, software
from tabwb.report.documents.sentences import listed, once, quoted, ranges, spread
from tabwb.report.documents.studied import Studied, is_persons, is_recorded, noun_of, people
from tabwb.report.file_names import without_folders
from tabwb.report.summaries.load import AdministrationData

SHORT_HASH = 12
"""Hexadecimal digits that are printed of a hash."""
Members = Sequence[AdministrationData]


def materials(about: Studied, cite: Citations) -> Iterator[str]:
    """Yield what each battery is and which of its items were given.

    Args:
        about: the study.
        cite: numbers the works.
    """
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
        if battery.system is not None and any(not is_persons(member) for member in members):
            yield f"Its system message for models is {quoted(battery.system.text)}"


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
    yield f"Responses were {once(members, _how_answered, about.some)}."
    protocols = [m for m in members if m.administration.conditions.research_protocol]
    if protocols:
        yield f"The research protocol was {once(protocols, _research_protocol, about.some)}."


def _how_answered(member: AdministrationData) -> str:
    if is_recorded(member):
        return "recorded elsewhere"
    return "given aloud" if member.battery.spoken else "typed"


def _research_protocol(member: AdministrationData) -> str:
    return member.administration.conditions.research_protocol or "none"


def procedure(about: Studied) -> Iterator[str]:
    """Yield under which conditions the items were given, and how many were answered."""
    here = [m for m in about.members if not is_persons(m) and not is_recorded(m)]
    recorded = [m for m in about.members if not is_persons(m) and is_recorded(m)]
    imported = [m for m in recorded if m.administration.conditions.is_imported]
    recorded = [member for member in recorded if member not in imported]
    people = [member for member in about.members if is_persons(member)]
    yield from _presented(about, [*here, *recorded])
    if here:
        yield from _generated(about, here)
    if imported:
        say = _Sayer(about, imported)
        of = "" if len(imported) == len(about.members) else f" of {about.some(imported)}"
        yield say(f"The responses{of} were given elsewhere and imported", _source)
        yield say("According to their source they were", _stated)
    if recorded:
        of = "" if not here else f" of {about.some(recorded)}"
        yield f"The responses{of} were recorded elsewhere; their decoding is not described here."
    if people:
        yield from _heard(about, people)
    yield from _completed(about)


def _source(member: AdministrationData) -> str:
    tool, file = (member.model_facts.get(name) for name in ("source", "imported_file"))
    return f"from {tool or file}" if tool or file else "from files that are not named"


def _stated(member: AdministrationData) -> str:
    unknown = "temperature" in member.administration.conditions.unknown
    return "obtained in a way that it does not state" if unknown else _drawn(member)


def _presented(about: Studied, members: Members) -> Iterator[str]:
    if not members:
        return
    say = _Sayer(about, members)
    yield say("Each item was given", _times)
    orders = {m.administration.conditions.item_order for m in members}
    if orders != {"as-given"}:
        yield say("The items of a subtest were given", _item_order)
    choices = [m for m in members if any(part.task.options for part in m.battery.subtests)]
    if choices:
        yield _Sayer(about, choices)("Options were shown", _option_order)


def _times(member: AdministrationData) -> str:
    n = member.administration.conditions.replicates
    return "once" if n == 1 else "twice" if n == 2 else f"{n:,} times"


def _item_order(member: AdministrationData) -> str:
    shuffled = member.administration.conditions.item_order == "shuffled"
    return "in random order" if shuffled else "in the order of the battery"


_OPTION_ORDERS: Mapping[str, str] = {
    "as-given": "in the order of the battery",
    "shuffled": "in random order",
    "rotated": "in every rotation of their order",
}


def _option_order(member: AdministrationData) -> str:
    return _OPTION_ORDERS[member.administration.conditions.option_order]


def _generated(about: Studied, members: Members) -> Iterator[str]:
    say = _Sayer(about, members)
    yield say("Each prompt was sent", _context)
    yield say("Responses were", _drawn)
    closed = [m for m in members if any(part.task.closed for part in m.battery.subtests)]
    protocols = {m.administration.conditions.protocol for m in closed}
    if protocols == {Protocol.GENERATE}:
        yield "All responses were generated freely (protocol generate)."
    elif closed:
        yield _Sayer(about, closed)("Responses to items with options were", _protocol)
        yield "Responses to all other items were generated freely."
    yield say("The token limit of a reply was", _limits)
    if any(m.administration.conditions.decoding.stop for m in members):
        yield say("Replies ended at", _stops)
    yield f"{_seeds(about, members)}."


def _context(member: AdministrationData) -> str:
    if member.administration.conditions.conversation:
        return "in one conversation with all earlier prompts and replies"
    return "in a context of its own"


def _drawn(member: AdministrationData) -> str:
    decoding = member.administration.conditions.decoding
    if decoding.greedy:
        return "decoded greedily"
    nucleus = f" with top-p {decoding.top_p:g}" if decoding.top_p != 1 else ""
    return f"sampled at temperature {decoding.temperature:g}{nucleus}"


def _protocol(member: AdministrationData) -> str:
    return {
        Protocol.GENERATE: "generated freely (protocol generate)",
        Protocol.ENFORCED: "restricted to the options (protocol enforced)",
        Protocol.LIKELIHOOD: "the most probable option (protocol likelihood)",
    }[member.administration.conditions.protocol]


def _limits(member: AdministrationData) -> str:
    conditions = member.administration.conditions
    limit = conditions.decoding.max_tokens
    if conditions.token_limits == "run":
        return plural(limit, "token")
    if conditions.token_limits == "smaller":
        return f"at most {plural(limit, 'token')}, and the battery's where that is lower"
    return f"that of the battery: {_limits_of(member.battery)}"


def _limits_of(battery: Battery) -> str:
    subtests = [subtest for subtest in battery.subtests if items_of(subtest)]
    by_limit = spread(subtests, lambda subtest: subtest.max_tokens or MAX_TOKENS)
    if len(by_limit) == 1:
        return plural(by_limit[0][0], "token")
    return listed(
        f"{plural(limit, 'token')} in {listed(subtest.title for subtest in having)}"
        for limit, having in sorted(by_limit, key=lambda found: -found[0])
    )


def _stops(member: AdministrationData) -> str:
    stops = member.administration.conditions.decoding.stop
    return listed(map(quoted, stops)) if stops else "no stop sequence"


def _seeds(about: Studied, members: Members) -> str:
    seeds = {
        name: frozenset(member.administration.conditions.seed for member in own)
        for name, own in spread(members, about.name)
    }

    def words(member: AdministrationData) -> str:
        return ranges(seeds[about.name(member)])

    several = any(len(each) > 1 for each in seeds.values()) or len(set(seeds.values())) > 1
    lead = "The seeds of the runs were" if several else "The seed of the runs was"
    if len(members) == 1:
        lead = "The seed of the run was"
    return f"{lead} {once(members, words, about.some)}; the seed of each reply is derived from it"


def _heard(about: Studied, members: Members) -> Iterator[str]:
    aloud = [m for m in members if m.battery.spoken and not is_recorded(m)]
    if not aloud:
        return
    if any(m.administration.conditions.transcriber for m in aloud):
        yield _Sayer(about, aloud)("Spoken responses were transcribed by", _transcriber)
    raters = {m.administration.conditions.rater for m in aloud} - {""}
    if raters:
        yield f"{plural(len(raters), 'listener')} scored the responses by ear."


def _transcriber(member: AdministrationData) -> str:
    spec = member.administration.conditions.transcriber
    return "no program" if spec is None else without_folders(spec)


def _completed(about: Studied) -> Iterator[str]:
    records = [member.administration for member in about.members]
    planned, answered = sum(r.planned for r in records), sum(r.answered for r in records)
    if about.is_part:
        parts = [part for row in about.rows for part in row.summary.subtests]
        planned, answered = sum(p.planned for p in parts), sum(p.answered for p in parts)
    yield (
        f"{answered:,} of {plural(planned, 'planned trial')} "
        f"{'was' if answered == 1 else 'were'} answered."
    )
    dated = [
        member.administration
        for member in about.members
        if about.study_ids or not is_persons(member)
    ]
    days = sorted({record.session_date for record in dated} - {""})
    if days:
        when = f"on {days[0]}" if len(days) == 1 else f"between {days[0]} and {days[-1]}"
        one = len(dated) == 1
        yield f"The {'administration' if one else 'administrations'} took place {when} (UTC)."


def software_used(about: Studied, cite: Citations) -> Iterator[str]:
    """Yield the versions of tabwb and of the libraries, when responses were given and now.

    Args:
        about: the study.
        cite: numbers the works.
    """
    work = cite(software(tabwb.__version__))
    members = [
        member
        for member in about.members
        if member.administration.versions and not member.administration.conditions.is_imported
    ]
    if members:
        yield _Sayer(about, members)(f"The batteries were given with tabwb {work}", _versions)
    cited = "" if members else f"{work} "
    yield f"Results were computed with tabwb {cited}{tabwb.__version__}."
    libraries = [m for m in about.members if not is_persons(m) and _libraries(m)]
    if libraries:
        yield _Sayer(about, libraries)("The models ran with", _libraries)


def _versions(member: AdministrationData) -> str:
    versions = member.administration.versions
    python = f" (Python {versions['python']})" if "python" in versions else ""
    return f"version {versions.get('tabwb', 'unknown')}{python}"


def _libraries(member: AdministrationData) -> str:
    facts = member.model_facts
    known = [f"{name} {facts[name]}" for name in ("torch", "transformers") if name in facts]
    return listed(known) if known else ""


class _Sayer:
    """Makes sentences about some administrations of a study."""

    def __init__(self, about: Studied, members: Members) -> None:
        self._about, self._members = about, members

    def __call__(self, lead: str, phrase: Callable[[AdministrationData], str]) -> str:
        return f"{lead} {once(self._members, phrase, self._about.some)}."
