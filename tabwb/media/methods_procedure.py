"""Sentences about the procedure: how items were given, how responses were made, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from tabwb.administer.naming.scores import Naming
from tabwb.battery.model import Battery
from tabwb.media.methods_given import items_of
from tabwb.media.sentences import listed, once, quoted, ranges, spread
from tabwb.media.studied import Studied, is_persons, is_recorded
from tabwb.records import declared_conditions as declared
from tabwb.records.condition import Condition
from tabwb.records.conditions import Conditions
from tabwb.records.counting import PERSON, rule_of
from tabwb.records.exchange import MAX_TOKENS
from tabwb.records.speech import is_typed
from tabwb.records.states import Protocol
from tabwb.records.words import plural
from tabwb.report.file_names import without_folders
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.naming import namings

Members = Sequence[AdministrationData]
SAID = frozenset(
    {
        *("seed", "temperature", "top_p", "max_tokens", "token_limits", "stop", "replicates"),
        *("protocol", "lesion", "prompt_noise", "conversation", "item_order", "option_order"),
        *("part_subtests", "part_items", "part_limit", "research_protocol"),
        *("judges", "transcriber", "rater"),
    }
)
"""Conditions that have their own sentences, here or in another paragraph."""


def procedure(about: Studied) -> Iterator[str]:
    """Yield under which conditions the items were given, and how many were answered."""
    here = [m for m in about.members if not is_persons(m) and not is_recorded(m)]
    recorded = [m for m in about.members if not is_persons(m) and is_recorded(m)]
    imported = [m for m in recorded if m.administration.conditions.is_imported]
    recorded = [member for member in recorded if member not in imported]
    persons = [member for member in about.members if is_persons(member)]
    yield from _presented(about, [*here, *recorded], imported)
    if here:
        yield from _generated(about, here)
    if imported:
        say = partial(about.said, imported)
        of = "" if len(imported) == len(about.members) else f" of {about.some(imported)}"
        yield say(f"The responses{of} were given elsewhere and imported", _source)
        yield say("According to their source they were", _stated)
    if recorded:
        of = "" if not here else f" of {about.some(recorded)}"
        yield f"The responses{of} were recorded elsewhere; their decoding is not described here."
    if persons:
        yield from _heard(about, persons)
    yield from _others(about)
    yield from _completed(about)


def _source(member: AdministrationData) -> str:
    tool, file = (member.model_facts.get(name) for name in ("source", "imported_file"))
    return f"from {tool or file}" if tool or file else "from files that are not named"


def _stated(member: AdministrationData) -> str:
    return "obtained in a way that it does not state" if _is_unsent(member) else _drawn(member)


def _presented(about: Studied, members: Members, imported: Members) -> Iterator[str]:
    if known := [*members, *imported]:
        yield about.said(known, "Each item was given", _times)
    if not members:
        return
    say = partial(about.said, members)
    orders = {m.administration.conditions.item_order for m in members}
    if orders != {"as-given"}:
        yield say("The items of a subtest were given", _item_order)
    choices = [m for m in members if any(part.task.options for part in m.battery.subtests)]
    if choices:
        yield about.said(choices, "Options were shown", _option_order)


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
    say = partial(about.said, members)
    yield say("Each prompt was sent", _context)
    yield say("Responses were", _drawn)
    closed = [m for m in members if any(part.task.closed for part in m.battery.subtests)]
    protocols = {m.administration.conditions.protocol for m in closed}
    if protocols == {Protocol.GENERATE}:
        yield "All responses were generated freely (protocol generate)."
    elif closed:
        yield about.said(closed, "Responses to items with options were", _protocol)
        yield "Responses to all other items were generated freely."
    sent = [m for m in members if not _is_unsent(m)]
    if not sent:
        return
    of = "" if len(sent) == len(members) else f" of {about.some(sent)}"
    say = partial(about.said, sent)
    yield say(f"The token limit of a reply{of} was", _limits)
    if any(m.administration.conditions.decoding.stop for m in sent):
        yield say(f"Replies{of} ended at", _stops)
    yield f"{_seeds(about, sent)}."


def _context(member: AdministrationData) -> str:
    if member.administration.conditions.conversation:
        return "in one conversation with all earlier prompts and replies"
    return "in its own context"


def _is_unsent(member: AdministrationData) -> bool:
    """Return whether a function gave the responses that gets no decoding and states none."""
    return "temperature" in member.administration.conditions.unknown


def _drawn(member: AdministrationData) -> str:
    if _is_unsent(member):
        return "given by a Python function whose decoding is not known"
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
    """Yield who transcribed and scored how many of the spoken responses, as the store has it."""
    spoken = [
        (member, naming)
        for member in members
        if member.battery.spoken
        for naming in namings(member.source)
        if naming.view.attempt is not None and not naming.view.trial.plan.practice
    ]
    yield from _transcribed([naming for member, naming in spoken if not is_recorded(member)])
    named = [(member, naming) for member, naming in spoken if naming.view.item.coded]
    yield from _scored_by_ear([naming for member, naming in named if not is_recorded(member)])
    elsewhere = [naming for member, naming in named if is_recorded(member)]
    if scored := sum(bool(naming.view.scores) for naming in elsewhere):
        yield (
            f"The scores of {scored:,} of {plural(len(elsewhere), 'name')} are those of the "
            "imported files."
        )


def _transcribed(spoken: Sequence[Naming]) -> Iterator[str]:
    if not spoken:
        return
    by: Counter[str] = Counter()
    failed = 0
    for naming in spoken:
        good = {one.transcriber for one in naming.view.transcripts if one.status != "error"}
        attempt = naming.view.attempt
        if attempt is not None and not naming.view.item.coded and attempt.metadata.get("text_by"):
            good.add(attempt.metadata["text_by"])
        by.update({_who_wrote(name) for name in good})
        failed += bool(naming.view.transcripts) and not good
    n = len(spoken)
    if not by:
        yield f"None of {plural(n, 'spoken response')} was transcribed."
    else:
        counts = listed(f"{name} ({count:,} of {n:,})" for name, count in by.most_common())
        yield f"Spoken responses were transcribed by {counts}."
    if failed:
        yield f"The transcription of {plural(failed, 'response')} failed."


def _who_wrote(transcriber: str) -> str:
    if transcriber.startswith(PERSON):
        return "a listener"
    written = without_folders(transcriber)
    return f"a person ({written})" if is_typed(transcriber) else written


def _scored_by_ear(named: Sequence[Naming]) -> Iterator[str]:
    if not named:
        return
    by: Counter[str] = Counter()
    for naming in named:
        by.update({*(one.by for one in naming.view.scores), *(one.by for one in naming.view.codes)})
    n = len(named)
    if written := sum(bool(naming.view.words_heard) for naming in named):
        yield f"What was heard was written down for {written:,} of {plural(n, 'name')}."
    if not by:
        yield f"No listener scored the {plural(n, 'name')} by ear."
        return
    each = listed(f"{count:,}" for _, count in by.most_common())
    yield f"{plural(len(by), 'listener')} scored names by ear: {each} of {n:,}."
    if any(len(naming.view.scores) > 1 for naming in named):
        yield f"Where several scored a name, {_whose_score(named[0].view.primary)} counted."


def _whose_score(counts: str) -> str:
    """Return whose score counts, in words.

    >>> _whose_score("majority"), _whose_score("R1")
    ('the majority of the scores', 'that of R1 (else that of the first rater)')
    """
    if (rule := rule_of(counts)) is not None:
        rules = {
            "majority": "the majority of the scores",
            "adjudicated": "the adjudicated score (else one on which all agreed)",
            "consensus": "the adjudicated score (else the majority)",
        }
        return rules[rule]
    first = "that of the first rater"
    return f"that of {counts.removeprefix(PERSON)} (else {first})" if counts else first


def _others(about: Studied) -> Iterator[str]:
    """Yield conditions without their own sentence where a value is not the default."""
    for condition in declared.CONDITIONS:
        members = [
            member
            for member in about.members
            if condition.applies_to(member.administration.conditions.kind)
        ]
        if condition.id in SAID or not any(_is_changed(condition, member) for member in members):
            continue
        name = condition.comparison.title if condition.comparison else condition.name
        yield about.said(members, f"{name[:1].upper()}{name[1:]}:", partial(_in_words, condition))


def _in_words(condition: Condition, member: AdministrationData) -> str:
    return condition.in_words(member.administration.conditions) or "none"


def _is_changed(condition: Condition, member: AdministrationData) -> bool:
    given = member.administration.conditions
    return bool(condition.of(given) != condition.of(Conditions("", given.kind)))


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
        unknown = sum(not record.session_date for record in dated)
        yield (
            f"The {'administration' if one else 'administrations'} took place {when} (UTC)."
            if not unknown
            else f"{plural(len(dated) - unknown, 'administration')} took place {when} (UTC); the "
            f"{'day' if unknown == 1 else 'days'} of {plural(unknown, 'other')} "
            f"{'is' if unknown == 1 else 'are'} not known."
        )
