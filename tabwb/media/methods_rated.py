"""Sentences about rating sets: what people rated, how many of them, and how it was shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from tabwb.battery.forms import form_from_canonical
from tabwb.media.sentences import listed
from tabwb.media.studied import Studied
from tabwb.records.rating_sets import Presentation, RatingSet
from tabwb.records.words import plural
from tabwb.store.store import Store


def with_rating_sets(about: Studied, store: Store) -> Studied:
    """Return what a report is about, with sentences on the rating sets of its responses."""
    told = {member.administration.id for member in about.members}
    said: list[str] = []
    for kept in store.sets.all():
        if any(sample.administration in told for sample in store.sets.samples(kept.id)):
            said += _of_set(store, kept)
    return replace(about, rated=tuple(said))


def _of_set(store: Store, kept: RatingSet) -> Iterator[str]:
    assignments = store.sets.assignments(kept.id)
    learned = {one.sample for one in assignments if one.purpose == "calibration"}
    samples = {one.sample for one in assignments} - learned
    ratings = store.sets.ratings(kept.id)
    raters = Counter(one.sample for one in ratings if one.purpose == "rate")
    again = Counter(one.rater for one in ratings if one.purpose == "again")
    form = form_from_canonical(kept.form)
    people = plural(len(kept.raters), "person", "people")
    yield (
        f"{plural(len(samples), 'sample')} (rating set {kept.name}) "
        f"{'was' if len(samples) == 1 else 'were'} assigned to {people} "
        f"({listed(kept.raters)}) with the form {form.id} (version {form.version}, "
        f"{plural(len(form.questions), 'question')})."
    )
    if not ratings:
        yield "Nobody has rated any of them yet."
        return
    yield "Raters did not see where a sample comes from."
    spread = Counter(raters[number] for number in samples)
    parts = [
        f"{n:,} by {plural(each, 'person', 'people') if each else 'nobody yet'}"
        for each, n in sorted(spread.items(), reverse=True)
    ]
    yield f"Rated were {listed(parts)}."
    yield f"The order was shuffled for each person (seed {kept.seed})."
    if again:
        yield (
            f"{plural(again.total(), 'sample')} came again to the same person, for agreement "
            "with themselves."
        )
    if learned & {one.sample for one in ratings}:
        yield f"{plural(len(learned), 'sample')} with known answers came first, with feedback."
    if "text" in form.shows:
        yield f"Texts were shown {_shown(kept.presentation)}."
    if kept.guidelines:
        yield "Guidelines were shown at the beginning."
    if kept.ask_source:
        yield "The last question was whether a person or a machine had produced the sample."
    settled = len(store.sets.adjudications(kept.id))
    if settled:
        yield f"{plural(settled, 'answer')} on which raters differed were settled."
    primary = kept.counts.partition("primary:")[2]
    by = f"ratings of {primary}" if primary else f"rule {kept.counts}"
    yield f"In results the {by} {'count' if primary else 'counts'} for these samples."


def _shown(policy: Presentation) -> str:
    parts = ["in lower case" if policy.case == "lower" else "in the case in which they were"]
    parts.append("without punctuation" if policy.punctuation == "none" else "with punctuation")
    if policy.max_words is not None:
        parts.append(f"cut after {policy.max_words} words")
    return listed(parts)
