"""The methods of a study in sentences, made from what is stored with its administrations.

:func:`facts` has every number and name as a plain value, so that the text agrees with the figures
beside it: what administrations share stands there once, what differs with the names of those it
holds for. People are counted and not named. The template ``methods.md.j2`` writes the sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import tabwb
from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.cautions import FEW_ITEMS
from tabwb.analysis.contrast import kindred
from tabwb.analysis.file_names import without_folders
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.names import judge_names
from tabwb.analysis.plain import Json, picked, plain
from tabwb.analysis.statistics.results import cause_in_words
from tabwb.battery.forms import form_from_canonical
from tabwb.battery.model import Battery, Subtest
from tabwb.battery.prompts import NO_MESSAGE
from tabwb.media.perturbed import Facts, doses, lesions, perturbations
from tabwb.media.references import Citations, Reference, bibliography, of_battery, software
from tabwb.media.sentences import joined, listed, once, quoted, ranges, said, spread
from tabwb.media.studied import (
    Members,
    Studied,
    is_persons,
    is_recorded,
    is_sampled,
    noun_of,
    people,
)
from tabwb.records import declared_conditions as declared
from tabwb.records.conditions import Conditions
from tabwb.records.declared_conditions import Condition
from tabwb.records.exchange import MAX_TOKENS
from tabwb.records.naming import is_recorded as is_aloud
from tabwb.records.rating_sets import RatingSet
from tabwb.records.ratings import PERSON, rule_of
from tabwb.records.speech import is_typed
from tabwb.records.states import Protocol
from tabwb.records.words import RESEARCH_ONLY, plural
from tabwb.scoring.dose import LEAST_SEEDS
from tabwb.scoring.intervals import FEATURE_CORRELATION, REPLICATE_CORRELATION
from tabwb.store.store import Store

if TYPE_CHECKING:
    import jinja2

    from tabwb.analysis.statistics.burden import Judge
    from tabwb.analysis.statistics.naming import Naming

SHORT_HASH = 12
"""Hexadecimal digits that are printed of a hash."""
PARAGRAPHS = (
    "Materials", "Models", "Lesions", "Perturbations", "Participants", "Procedure", "Scoring",
    "Raters", "Responses", "Statistical analysis", "Software",
)  # fmt: skip
"""Each has a macro of its name in the template, and facts."""
SAID = frozenset(
    {
        *("seed", "temperature", "top_p", "max_tokens", "token_limits", "stop", "replicates"),
        *("protocol", "lesion", "prompt_noise", "conversation", "item_order", "option_order"),
        *("part_subtests", "part_items", "part_limit", "research_protocol"),
        *("judges", "transcriber", "rater"),
    }
)
"""Conditions that have their own sentences."""
RULES = {"choice": "answer", "yes-no": "answer", "repetition": "target"}
"""Scorer to what a response equals that is right under the policy *exact*."""
_NAME = re.compile(r"\b(Battery|Examination|Inventory|Test)\b")
BASELINES = ("always_first", "always_yes", "guessing")
_SPACE, _EDGE = "\ue000", "\ue001"
"""Mean in the texts of facts a space, and before a mark at the beginning."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences under a heading."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Methods:
    """The methods of a study: paragraphs, and the works that they cite by number."""

    paragraphs: tuple[Paragraph, ...]
    references: tuple[Reference, ...]

    @property
    def text(self) -> str:
        """The paragraphs and the references as plain text, with a line between paragraphs."""
        return text_of(self.to_json())

    @property
    def bibtex(self) -> str:
        """The references as a BibTeX file."""
        return bibliography(self.references)

    def to_json(self) -> Json:
        """Return plain data."""
        return {
            "paragraphs": [{"title": each.title, "text": each.text} for each in self.paragraphs],
            "references": [
                {"number": number, "text": str(work), "bibtex": work.bibtex}
                for number, work in enumerate(self.references, 1)
            ],
        }


def text_of(document: Mapping[str, Any]) -> str:
    """Return the text of methods from their plain data."""
    parts = [f"{each['title']}. {each['text']}" for each in document["paragraphs"]]
    if document["references"]:
        works = (f"[{each['number']}] {each['text']}" for each in document["references"])
        parts.append("\n".join(["References", *works]))
    return "\n\n".join(parts) + "\n"


def methods_about(about: Studied) -> Methods:
    """Return the methods of what a report is about."""
    cite = Citations()
    found = [Paragraph("Methods", "There are no administrations to describe.")]
    if about.rows:
        known = _protected(facts(about))
        module: Any = _template().make_module({"cite": cite})
        texts = ((name, _macro(module, name)(known[name])) for name in PARAGRAPHS)
        found = [Paragraph(name, text) for name, made in texts if (text := _text(made))]
    disclaimers = (battery.disclaimer for battery in about.batteries if battery.disclaimer)
    scope = Paragraph("Scope", " ".join(dict.fromkeys((RESEARCH_ONLY, *disclaimers))))
    return Methods((*found, scope), tuple(cite.works))


@cache
def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    environment.globals |= {
        "joined": joined, "listed": listed, "number": "{:,}".format, "once": once,
        "plural": plural, "quoted": quoted, "ranges": ranges, "said": said,
    }  # fmt: skip
    return environment.from_string(
        (files("tabwb.media") / "templates" / "methods.md.j2").read_text(encoding="utf-8")
    )


def _macro(module: Any, title: str) -> Any:
    return getattr(module, title.lower().replace(" ", "_"))


def _protected(value: Any) -> Any:
    """Return facts whose texts keep their own white space in :func:`_text`."""
    if isinstance(value, str):
        return re.sub(r"^(?=[,.;:)])", _EDGE, value).replace(" ", _SPACE)
    if isinstance(value, Mapping):
        return {name: _protected(inner) for name, inner in value.items()}
    return list(map(_protected, value)) if isinstance(value, list | tuple) else value


def _text(made: str) -> str:
    r"""Return what a template made as one line, with the texts of facts as they are.

    >>> _text(f" One  text\n : {_protected('a  (b )')}\n. ")
    'One text: a  (b ).'
    """
    flat = re.sub(r"[ \n]+(?=[,.;:)])", "", re.sub(r"[ \n]+", " ", made))
    return flat.strip(" ").replace(_SPACE, " ").replace(_EDGE, "")


def facts(about: Studied) -> Facts:
    """Return what is stored of a study, a value for each paragraph of the methods."""
    return {
        "Materials": list(_materials(about)),
        "Models": _models(about),
        "Lesions": lesions(about),
        "Perturbations": perturbations(about),
        "Participants": _participants(about),
        "Procedure": _procedure(about),
        "Scoring": list(_scoring(about)),
        "Raters": about.rated,
        "Responses": _responses(about),
        "Statistical analysis": {**_analysis(about), **doses(about), "least_seeds": LEAST_SEEDS},
        "Software": _software(about),
    }


def _materials(about: Studied) -> Iterator[Facts]:
    """Yield what each battery is and which of its items were given."""
    for battery in about.batteries:
        subtests = [one for one in battery.subtests if _items_of(one)]
        parts = [part for row in about.rows_of(battery) for part in row.results.parts]
        planned = {part.id for part in parts if part.number("planned")}
        given = [one.title for one in battery.subtests if one.id in planned]
        own = [m for m in about.members if m.battery.content_hash == battery.content_hash]
        models = [member for member in own if not is_persons(member)]
        is_sent = any(one.conditions.system_message for one in models)
        yield {
            **picked(battery, "title", "id", "version"),
            "is_name": bool(_NAME.search(battery.title)),
            "sha256": battery.content_hash[:SHORT_HASH],
            "work": of_battery(battery),
            "n": battery.n_items,
            "subtests": [
                {"title": one.title, "n": _items_of(one), "asks_for": one.task.asks_for}
                for one in subtests
            ],
            "given": given if len(given) < len(subtests) else None,
            "is_part": about.is_part,
            "part": about.varied(own if any(m.conditions.is_part for m in own) else [], _part),
            "system": battery.system.text if battery.system is not None and models else None,
            "sent": about.varied(models if is_sent else [], _system),
        }


def _items_of(subtest: Subtest) -> int:
    """Return the number of items of a subtest, practice not counted."""
    return sum(not item.practice for item in subtest.items)


def _part(member: AdministrationData) -> str:
    given = member.conditions
    return given.part.replace(":", " with") if given.is_part else ""


def _system(member: AdministrationData) -> str | None:
    text = member.conditions.system_message
    return "" if text == NO_MESSAGE else text


def _models(about: Studied) -> Facts:
    """Return which models responded, each with its revision, as far as it is stored."""
    members = about.models
    names = dict.fromkeys(map(about.name, members))
    own = {name: [m for m in members if about.name(m) == name] for name in names}
    dtypes = {member.model_facts.get("dtype", "") for member in members}
    shared = dtypes.pop() if len(dtypes) == 1 else ""
    told = [{"name": name, "facts": list(_facts_of(name, own[name], shared))} for name in names]
    return {"of": told, "dtype": shared}


def _facts_of(name: str, members: Members, dtype: str) -> Iterator[Facts]:
    """Yield the facts of a model; its dtype where models have several."""
    first = members[0].conditions
    examinee, size = without_folders(first.examinee), first.labels.get("parameters")
    values = [] if examinee in name else [examinee]
    values += [value for key, value in first.labels.items() if key in ("family", "tuning")]
    if size is not None:
        values.append(f"{int(size):,} parameters" if size.isdecimal() else f"{size} parameters")
    yield from ({"what": "", "of": [value]} for value in values)
    for key, what, digits in (
        ("revision", "revision", SHORT_HASH),
        ("weights_sha256", "weights SHA-256", SHORT_HASH),
        ("file_sha256", "file SHA-256", SHORT_HASH),
        ("dtype", "", None),
        ("template", "template", None),
    ):
        known = dict.fromkeys(m.model_facts[key] for m in members if m.model_facts.get(key))
        if known and (key != "dtype" or not dtype):
            yield {"what": what, "of": [value[:digits] for value in known]}


def _participants(about: Studied) -> Facts:
    """Return how many people took part; they are named only where that was asked for."""
    members = about.persons
    known = [member for member in members if noun_of(member) == "participant"]
    answered = [member for member in members if _how_answered(member) != (0, 0)]
    protocols = [member for member in members if member.conditions.research_protocol]
    return {
        "known": people(known, about.name) if known else "",
        "names": list(dict.fromkeys(map(about.name, known))) if about.study_ids else [],
        "n": len(known),
        "unknown": len(members) - len(known),
        "answered": about.varied(answered, _how_answered),
        "protocols": about.varied(protocols, "research_protocol"),
    }


def _how_answered(member: AdministrationData) -> tuple[int, ...]:
    """Return how many responses were given aloud and typed; () where they were recorded."""
    if is_recorded(member):
        return ()
    answered = [trial for trial in member.trials if trial.counting is not None]
    aloud = sum(
        member.battery.subtest(trial.plan.subtest).task.coded or is_aloud(trial)
        for trial in answered
    )
    return aloud, len(answered) - aloud


def _procedure(about: Studied) -> Facts:
    """Return under which conditions the items were given, and how many were answered."""
    here = [member for member in about.models if not is_recorded(member)]
    elsewhere = [member for member in about.models if is_recorded(member)]
    imported = [member for member in elsewhere if member.conditions.is_imported]
    recorded = [member for member in elsewhere if not member.conditions.is_imported]
    given = [*here, *recorded]
    orders = {member.conditions.item_order for member in given}
    choices = [m for m in given if any(part.task.options for part in m.battery.subtests)]
    is_all = len(imported) == len(about.members)
    return {
        "times": about.varied([*given, *imported], "replicates"),
        "item_order": about.varied(given if orders != {"as-given"} else [], "item_order"),
        "option_order": about.varied(choices, "option_order"),
        "generated": _generated(about, here) if here else None,
        "imported": bool(imported),
        "of_imported": "" if is_all else about.some(imported) if imported else "",
        "source": about.varied(imported, _source),
        "drawn": about.varied(imported, _drawn),
        "recorded": bool(recorded),
        "of_recorded": about.some(recorded) if here and recorded else "",
        "heard": _heard(about.persons),
        "others": list(_others(about)),
        **_completed(about),
    }


def _source(member: AdministrationData) -> str:
    return member.model_facts.get("source") or member.model_facts.get("imported_file") or ""


def _generated(about: Studied, members: Members) -> Facts:
    closed = [m for m in members if any(part.task.closed for part in m.battery.subtests)]
    sent = [member for member in members if not _is_unsent(member)]
    seeds = {
        name: tuple(sorted({member.conditions.seed for member in own}))
        for name, own in spread(sent, about.name)
    }
    stopped = any(member.conditions.decoding.stop for member in sent)
    return {
        "conversation": about.varied(members, "conversation"),
        "drawn": about.varied(members, _drawn),
        "all_free": {m.conditions.protocol for m in closed} == {Protocol.GENERATE},
        "protocol": about.varied(closed, "protocol.value"),
        "of": "" if len(sent) == len(members) else about.some(sent),
        "limits": about.varied(sent, _limits),
        "stops": about.varied(sent if stopped else [], "decoding.stop"),
        "one_run": len(sent) == 1,
        "several_seeds": any(len(each) > 1 for each in seeds.values())
        or len(set(seeds.values())) > 1,
        "seeds": about.varied(sent, lambda member: seeds[about.name(member)]),
    }


def _is_unsent(member: AdministrationData) -> bool:
    """Return whether a function gave the responses that gets no decoding and states none."""
    return "temperature" in member.conditions.unknown


def _drawn(member: AdministrationData) -> tuple[str, ...] | None:
    """Return temperature and top-p; () where decoding is greedy, None where it is unknown."""
    decoding = member.conditions.decoding
    if _is_unsent(member) or decoding.greedy:
        return None if _is_unsent(member) else ()
    return f"{decoding.temperature:g}", f"{decoding.top_p:g}" if decoding.top_p != 1 else ""


def _limits(member: AdministrationData) -> tuple[str, int, tuple[tuple[int, Any], ...]]:
    """Return whose token limit counts, that of the run, and those of the battery."""
    kind, limit = member.conditions.token_limits, member.conditions.decoding.max_tokens
    if kind in ("run", "smaller"):
        return kind, limit, ()
    subtests = [one for one in member.battery.subtests if _items_of(one)]
    by_limit = spread(subtests, lambda one: one.max_tokens or MAX_TOKENS)
    several = len(by_limit) > 1
    told = [(n, tuple(one.title for one in own) if several else ()) for n, own in by_limit]
    return "battery", 0, tuple(sorted(told, key=lambda found: -found[0]))


def _heard(members: Members) -> Facts:
    """Return who transcribed and scored how many of the spoken responses, as the store has it."""
    spoken = [
        (member, naming)
        for member in members
        if member.battery.spoken
        for naming in _namings(member)
        if naming.view.attempt is not None and not naming.view.trial.plan.practice
    ]
    here = [naming for member, naming in spoken if not is_recorded(member)]
    named = [naming for naming in here if naming.view.item.coded]
    elsewhere = [n for member, n in spoken if is_recorded(member) and n.view.item.coded]
    written = [_transcribers(naming) for naming in here]
    by = Counter(name for names in written for name in names)
    raters: Counter[str] = Counter()
    for naming in named:
        raters.update({*(s.by for s in naming.view.scores), *(c.by for c in naming.view.codes)})
    several = any(len(naming.view.scores) > 1 for naming in named)
    primary = named[0].view.primary if named else ""
    return {
        "spoken": len(here),
        "transcribed": [{"name": one, "n": n, "of": len(here)} for one, n in by.most_common()],
        "failed": sum(
            bool(naming.view.transcripts) and not names
            for naming, names in zip(here, written, strict=True)
        ),
        "names": len(named),
        "written": sum(bool(naming.view.words_heard) for naming in named),
        "listeners": [count for _, count in raters.most_common()],
        "counts": {"rule": rule_of(primary), "rater": primary.removeprefix(PERSON)}
        if several
        else None,
        "scored_elsewhere": sum(bool(naming.view.scores) for naming in elsewhere),
        "elsewhere": len(elsewhere),
    }


def _namings(member: AdministrationData) -> Sequence[Naming]:
    from tabwb.analysis.statistics.naming import namings

    return namings(member)


def _transcribers(naming: Naming) -> set[str]:
    """Return who wrote down a response; a listener has no name."""
    good = {one.transcriber for one in naming.view.transcripts if one.status != "error"}
    attempt = naming.view.attempt
    if attempt is not None and not naming.view.item.coded and attempt.metadata.get("text_by"):
        good.add(attempt.metadata["text_by"])
    return {
        "a listener"
        if one.startswith(PERSON)
        else f"a person ({without_folders(one)})"
        if is_typed(one)
        else without_folders(one)
        for one in good
    }


def _others(about: Studied) -> Iterator[Facts]:
    """Yield conditions without their own sentence where a value is not the default."""

    def is_changed(condition: Condition, given: Conditions) -> bool:
        return bool(condition.of(given) != condition.of(Conditions("", given.kind)))

    def in_words(condition: Condition, member: AdministrationData) -> str:
        return condition.in_words(member.conditions) or "none"

    for one in declared.CONDITIONS:
        members = [m for m in about.members if one.applies_to(m.conditions.kind)]
        if one.id not in SAID and any(is_changed(one, m.conditions) for m in members):
            name = one.comparison.title if one.comparison else one.name
            values = about.varied(members, partial(in_words, one))
            yield {"name": f"{name[:1].upper()}{name[1:]}", "of": values}


def _completed(about: Studied) -> Facts:
    given = [(one.administration.planned, one.administration.answered) for one in about.members]
    if about.is_part:
        parts = [part for row in about.rows for part in row.results.parts]
        given = [(part.number("planned"), part.number("answered")) for part in parts]
    dated = [m.administration for m in about.members if about.study_ids or not is_persons(m)]
    days = sorted({record.session_date for record in dated} - {""})
    unknown = sum(not record.session_date for record in dated)
    return {
        "planned": sum(planned for planned, _ in given),
        "answered": sum(answered for _, answered in given),
        "days": [*days[:1], *days[1:][-1:]],
        "dated": len(dated) - unknown,
        "without_day": unknown,
    }


def _scoring(about: Studied) -> Iterator[Facts]:
    """Yield for each battery how responses were scored right or wrong, measured, and judged."""
    seen: set[tuple[str, ...]] = set()
    called = judge_names(_raters(about))
    for battery in about.batteries:
        rows = about.rows_of(battery)
        parts = [part for row in rows for part in row.results.parts]
        scored = {part.id for part in parts if part.right.n}
        subtests = [subtest for subtest in battery.subtests if subtest.id in scored]
        ruled = [subtest for subtest in subtests if subtest.scorers[0] in RULES]
        rules = spread(ruled, lambda subtest: RULES[subtest.scorers[0]])
        baselines = {name for part in parts if part.right.n for name in part.baselines}
        found = {j.terms: j for row in rows for j in row.results.judges if j.burden.n_responses}
        judges = tuple(found.values())
        alike = spread(judges, lambda one: (one.terms.scope, one.declared, one.burden.features))
        cautions = spread(judges, lambda one: one.caution.rstrip("."))
        yield {
            "title": battery.title,
            "rules": [
                {"rule": rule, "titles": [subtest.title for subtest in own]} for rule, own in rules
            ],
            "scorers": [
                {"title": subtest.title, "scorer": without_folders(subtest.scorers[0])}
                for subtest in subtests
                if subtest not in ruled
            ],
            "baselines": [name for name in BASELINES if name in baselines],
            "named": list(_named(rows)),
            "diversity": {"mattr", "mtld"} <= {name for part in parts for name in part.measures},
            "judged": [_judged(battery, own, called, seen) for _, own in alike],
            "burden": any(judge.burden.features for judge in judges),
            "cautions": [
                {"caution": caution, "raters": list(dict.fromkeys(called[j.rater] for j in own))}
                for caution, own in cautions
                if caution
            ],
        }


def _named(rows: Sequence[Grouped]) -> Iterator[Facts]:
    found = [named for row in rows for named in row.results.named]
    for title, rule in sorted({(named.title, named.rules.rule) for named in found}):
        own = [named for named in found if (named.title, named.rules.rule) == (title, rule)]
        listener = sum(named.summary.by_listener for named in own)
        by_rule = sum(named.summary.by_rule for named in own)
        items = (item for named in own for item in named.items if item.decided_by == "rule")
        yield {
            "title": title,
            "rule": rule,
            "n": by_rule + listener,
            "listener": listener,
            "by_rule": by_rule,
            "by_ear": sum(bool(item.heard) for item in items),
        }


def _judged(
    battery: Battery,
    judges: Sequence[Judge],
    called: Mapping[str, str],
    seen: set[tuple[str, ...]],
) -> Facts:
    """Return who rated which features; they are named once."""
    first, features = judges[0], judges[0].burden.features
    titles = {feature.id: feature.title for feature in battery.features}
    same = features in seen
    seen.add(features)
    return {
        "connected": first.terms.scope == "connected-text",
        "declared": first.declared,
        "same": same,
        "n": len(features),
        "features": [] if same else [titles.get(one, one).lower() for one in features],
        "raters": [
            {
                "name": called[judge.rater],
                "spec": "" if called[judge.rater] == judge.rater else without_folders(judge.rater),
                "prompt": (judge.terms.prompt_hash or "")[:SHORT_HASH],
            }
            for judge in sorted(judges, key=lambda one: called[one.rater])
        ],
    }


def _raters(about: Studied) -> list[str]:
    return list(dict.fromkeys(judge.rater for row in about.rows for judge in row.results.judges))


def with_rating_sets(about: Studied, store: Store) -> Studied:
    """Return what a report is about, with facts on the rating sets whose samples were rated."""
    told = {member.administration.id for member in about.members}
    kept = (
        one
        for one in store.sets.all()
        if store.sets.ratings(one.id)
        and any(sample.administration in told for sample in store.sets.samples(one.id))
    )
    return replace(about, rated=tuple(_of_set(store, one) for one in kept))


def _of_set(store: Store, kept: RatingSet) -> Facts:
    assignments = store.sets.assignments(kept.id)
    learned = {one.sample for one in assignments if one.purpose == "calibration"}
    samples = {one.sample for one in assignments} - learned
    ratings = store.sets.ratings(kept.id)
    raters = Counter(one.sample for one in ratings if one.purpose == "rate")
    form = form_from_canonical(kept.form)
    spread_over = Counter(raters[number] for number in samples).items() if ratings else ()
    return {
        **picked(kept, "name", "raters", "seed", "ask_source"),
        "samples": len(samples),
        "form": form.id,
        "form_version": form.version,
        "questions": len(form.questions),
        "rated": [{"raters": each, "n": n} for each, n in sorted(spread_over, reverse=True)],
        "again": sum(one.purpose == "again" for one in ratings),
        "learned": len(learned) if learned & {one.sample for one in ratings} else 0,
        "text": plain(kept.presentation) if "text" in form.shows else None,
        "guidelines": bool(kept.guidelines),
        "settled": len(store.sets.adjudications(kept.id)),
        "primary": kept.counts.partition("primary:")[2],
        "rule": kept.counts,
    }


def _responses(about: Studied) -> Facts:
    """Return how many responses count, and which of them are unusable."""
    parts = [part for row in about.rows for part in row.results.parts]
    n, again = (
        sum(row.results.number(name) for row in about.rows)
        for name in ("responses", "repeated_draws")
    )
    planned = sum(part.number("planned") for part in parts)
    causes: Counter[str] = Counter()
    by_group: dict[str, Counter[str]] = {}
    for row in about.rows:
        names = {about.name(member) for member in row.group.members}
        name = names.pop() if len(names) == 1 else about.title(row)
        for cause in row.results.of("unusable"):
            number = row.results.number("unusable", feature=cause)
            causes[cause] += number
            by_group.setdefault(cause, Counter())[name] += number
    one_group = len(about.rows) == 1 or len(set(map(about.name, about.members))) == 1
    return {
        "n": n,
        "several": planned > sum(member.administration.planned for member in about.members),
        "same": max(0, sum(part.number("answered") for part in parts) - n - again),
        "again": again,
        "unusable": causes.total(),
        "causes": [
            {
                "cause": cause,
                "n": number,
                "of": []
                if one_group
                else [{"name": name, "n": own} for name, own in by_group[cause].items()],
            }
            for cause, number in causes.most_common()
        ],
        **_without_burden(about),
    }


def _without_burden(about: Studied) -> Facts:
    """Return for each judge how many usable responses have no burden, and are not judged yet."""
    names = judge_names(_raters(about))
    without, waiting = [], dict[int, list[str]]()
    for judge, name in names.items():
        causes: Counter[str] = Counter()
        burdens = (
            own.burden for row in about.rows for own in row.results.judges if own.rater == judge
        )
        for burden in burdens:
            for cause, number in burden.no_burden.items():
                if cause not in burden.usable.causes and cause != "no-response":
                    causes[cause_in_words(cause)] += number
        if causes:
            told = [{"cause": cause, "n": number} for cause, number in causes.most_common()]
            without.append({"rater": name, "n": causes.total(), "causes": told})
        if number := sum(row.not_judged(judge) for row in about.rows):
            waiting.setdefault(number, []).append(name)
    return {
        "without_burden": without,
        "waiting": [{"n": n, "raters": sorted(raters)} for n, raters in waiting.items()],
    }


def _analysis(about: Studied) -> Facts:
    """Return how figures are pooled and how their intervals are computed."""
    rights = [part.right for row in about.rows for part in row.results.parts if part.right.n]
    shares = [right.tally for right in rights if right.tally is not None]
    burdens = [
        judge.burden
        for row in about.rows
        for judge in row.results.judges
        if judge.burden.symptom_burden.defined
    ]
    named = [
        share
        for row in about.rows
        for subtest in row.results.named
        for share in subtest.summary.accuracy
        if share.n
    ]
    sizes = [list(share.sizes) for share in shares]
    items = [*(one.n_items for one in shares), *(one.n_items for one in burdens)]
    counts = sorted(filter(None, items))
    few = [n for n in counts if n < FEW_ITEMS]
    single = any(all(n == 1 for n in own) for own in sizes)
    return {
        "pooled": any(len(row.group.members) > 1 for row in about.rows),
        "intervals": bool(shares or burdens or named),
        "burdens": any(burden.interval for burden in burdens),
        "replicate_correlation": f"{REPLICATE_CORRELATION:g}",
        "feature_correlation": f"{FEATURE_CORRELATION:g}",
        "single": single or any(not share.clustered for share in named),
        "replicated": any(any(n > 1 for n in own) for own in sizes)
        or any(share.clustered for share in named),
        "rates": bool(burdens),
        "of_burdens": any(
            len(burden.intervals) > 1 and burden.intervals[1].interval for burden in burdens
        ),
        "of_shares": any(
            len(found := share.intervals()) > 1 and found[1].interval for share in shares
        ),
        "fixed": bool(shares or burdens)
        and not any(map(is_sampled, about.members))
        and all(share.fixed for share in shares)
        and all(burden.fixed for burden in burdens),
        "kindred": bool(kindred(about.rows)),
        "few": few and [few[0], few[-1]],
    }


def _software(about: Studied) -> Facts:
    """Return the versions of tabwb and of the libraries, when responses were given and now."""
    members = [
        member
        for member in about.members
        if member.administration.versions and not member.conditions.is_imported
    ]
    return {
        "work": software(tabwb.__version__),
        "version": tabwb.__version__,
        "given": about.varied(members, _versions),
        "libraries": about.varied(list(filter(_libraries, about.models)), _libraries),
    }


def _versions(member: AdministrationData) -> tuple[str, str]:
    versions = member.administration.versions
    return versions.get("tabwb", "unknown"), versions.get("python", "")


def _libraries(member: AdministrationData) -> tuple[str, ...]:
    facts = member.model_facts
    return tuple(f"{name} {facts[name]}" for name in ("torch", "transformers") if name in facts)
