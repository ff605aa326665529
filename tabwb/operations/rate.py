"""Rating sets: planned, listed, closed, settled, exported, and the links by which raters come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tabwb.operations.importing import ImportFile, Source
from tabwb.operations.operation import IDS, WHERE, Arg, Ids, Operation, Progress, Tools
from tabwb.records.errors import UsageError
from tabwb.records.files import is_stdout
from tabwb.records.words import plural, separated

if TYPE_CHECKING:
    from tabwb.administer.rating.adjudication import Adjudicator, Which
    from tabwb.analysis.rating_plan import PlannedSet
    from tabwb.host.plugins import Plugins
    from tabwb.records.rating_sets import RaterLink, RatingSet
    from tabwb.store.store import Store

SET = Arg("Its name, number or uid.", metavar="SET", positional=True)
RATER = Arg("Only this rater. Default: every rater of the set.", flag="--rater",
            metavar="CODE", label="Rater", blank="all")  # fmt: skip
REASON = Arg("The reason; stored.", label="Reason")
MOST = 30
"""Strata that are printed."""
LEAST_SHARED = 10
"""Samples that a pair must share for its agreement to be averaged."""
Shares = Sequence[Mapping[str, Any]]


# -------------------------------------------------------------------- planning


@dataclass(frozen=True, kw_only=True)
class PlanRatings(Operation):
    """Make the rating set NAME of stored responses (of all administrations, or of those named).

    Every rater gets the calibration samples first, then their own samples in their own order; some
    of these are shown again later. The samples of each rater are printed with the expected
    minutes. --dry-run also prints the expected width of the intervals of agreement.
    """

    NAME, TITLE = "rate plan", "Plan"
    ESTIMATE: ClassVar[str] = "Print the plan; make nothing."
    NOTE: ClassVar[str] = "Estimate shows what each rater gets. Nothing is made before Plan."
    name: Annotated[
        str, Arg("Of the set.", metavar="NAME", positional=True, label="Name", blank="a name")
    ]
    ids: Annotated[Ids, replace(IDS, metavar="[ADMINISTRATION]...", label="Of", blank="all")] = ()
    form: Annotated[
        str, Arg("Id or path of a form ('tabwb rate forms list').", metavar="FORM", label="Form")
    ] = "tab-19"
    raters: Annotated[
        str,
        Arg("Who rates: a code each, such as R1,R2; never a name.", metavar="CODE[,CODE...]",
            label="Raters", blank="codes, such as R1,R2"),
    ]  # fmt: skip
    where: Annotated[tuple[str, ...], replace(WHERE, label="Where", blank="all")] = ()
    subtests: Annotated[
        tuple[str, ...],
        Arg("Only responses to this. Default: connected text, or naming where the form has no "
            "text.", flag="--subtest", metavar="ID", names=True, label="Subtests"),
    ] = ()  # fmt: skip
    items: Annotated[
        tuple[str, ...],
        Arg("Only responses to this.", flag="--item", metavar="ID", names=True, label="Items"),
    ] = ()
    statuses: Annotated[
        tuple[str, ...],
        Arg("Statuses of responses (default: the usable ones, ok and truncated).",
            flag="--status", metavar="STATUS[,STATUS...]", names=True, label="Statuses",
            blank="ok,truncated"),
    ] = ()  # fmt: skip
    repeated: Annotated[
        bool,
        Arg("Keep equal texts that an examinee gave to one item; otherwise one of them.",
            label="Repeated", words=("one of equal texts", "keep equal texts")),
    ] = False  # fmt: skip
    stratify: Annotated[
        tuple[str, ...],
        Arg("Draw from strata by keys, such as origin,lesion-amount,item.",
            metavar="KEY[,KEY...]", names=True, label="Stratify"),
    ] = ()  # fmt: skip
    samples: Annotated[
        int | None,
        Arg("Draw N responses, in proportion to the strata (default: all).", metavar="N", low=1,
            label="Samples", blank="all"),
    ] = None  # fmt: skip
    per_stratum: Annotated[
        int | None,
        Arg("Draw N of each stratum, or all where it has fewer.", metavar="N", low=1,
            label="Per stratum"),
    ] = None  # fmt: skip
    overlap: Annotated[
        int | None,
        Arg("Number of samples that several raters rate (default: all).", metavar="N", low=0,
            label="Overlap", blank="all"),
    ] = None  # fmt: skip
    raters_per_sample: Annotated[
        int | None,
        Arg("Number of raters for each of these (default: all).", metavar="N", low=1,
            label="Raters each", blank="all"),
    ] = None  # fmt: skip
    per_rater: Annotated[
        int | None,
        Arg("Maximum number of samples of one rater; an error if that is not enough.",
            metavar="N", low=1, label="At most"),
    ] = None  # fmt: skip
    again: Annotated[
        float,
        Arg("Share of a rater's samples that is shown again later.", low=0, high=0.5,
            label="Again"),
    ] = 0.1  # fmt: skip
    distance: Annotated[
        int,
        Arg(
            "Least number of samples between the two showings, where the list allows.",
            low=0,
            label="Distance",
        ),
    ] = 20
    calibration: Annotated[
        Path | None,
        Arg("CSV with response (ADMINISTRATION/TRIAL), measure, value: samples with a known "
            "consensus, shown first, with feedback.", metavar="FILE", label="Calibration"),
    ] = None  # fmt: skip
    calibration_set: Annotated[
        str,
        Arg("The same from an earlier set with this form: its samples whose every answer is "
            "settled, or given alike by two raters or more.", metavar="SET", label="Earlier set"),
    ] = ""  # fmt: skip
    guidelines: Annotated[
        Path | None,
        Arg("A text (Markdown) that raters read before they begin.", metavar="FILE",
            label="Guidelines"),
    ] = None  # fmt: skip
    context: Annotated[
        int,
        Arg("Responses before and after that are shown with each.", low=0, high=5,
            label="Context"),
    ] = 0  # fmt: skip
    case: Annotated[
        Literal["as-said", "lower"], Arg("How texts are shown: letter case.", label="Case")
    ] = "as-said"
    punctuation: Annotated[
        Literal["kept", "none"], Arg("How texts are shown: punctuation.", label="Punctuation")
    ] = "kept"
    max_words: Annotated[
        int | None, Arg("Cut every text after N words.", metavar="N", low=1, label="Max words")
    ] = None
    no_cut_mark: Annotated[
        bool,
        Arg("Do not mark texts that were cut.", label="Cut mark", words=("shown", "not shown")),
    ] = False
    ask_source: Annotated[
        bool,
        Arg("Ask at the end whether a person or a machine produced the sample.",
            label="Ask source", words=("no", "person or machine?")),
    ] = False  # fmt: skip
    counts: Annotated[
        str,
        Arg("Whose ratings count: primary:CODE, majority, consensus, adjudicated.",
            metavar="RULE", label="Counts"),
    ] = "majority"  # fmt: skip
    seed: Annotated[int, Arg("Seed of every draw and order.", low=0, label="Seed")] = 0
    hybrid: Annotated[
        bool,
        Arg(
            "Plan only the responses that a person rates first where a judge rates all.",
            label="Hybrid",
            of="hybrid",
            words=("no", "yes"),
        ),
    ] = False
    judge: Annotated[
        str | None,
        Arg(
            "Hybrid: the judge that rated the responses.",
            metavar="JUDGE",
            label="Judge",
            of="hybrid",
            kind="judges",
        ),
    ] = None
    frequent: Annotated[
        float,
        Arg("Hybrid: a feature in at least this share of the responses is frequent.",
            low=0, high=1, label="Frequent", of="hybrid"),
    ] = 0.2  # fmt: skip
    margin: Annotated[
        float,
        Arg(
            "Hybrid: a probability this near to 0.5 is uncertain.",
            low=0,
            high=0.5,
            label="Margin",
            of="hybrid",
        ),
    ] = 0.2
    audit: Annotated[
        float,
        Arg(
            "Hybrid: share of the other responses that is audited.",
            low=0,
            high=1,
            label="Audit",
            of="hybrid",
        ),
    ] = 0.1

    def check(self, plugins: Plugins) -> None:
        """Refuse half of a hybrid plan."""
        if self.hybrid and not self.judge:
            raise UsageError("a hybrid plan needs a judge", where="judge",
                             hint="the judge that has rated the responses")  # fmt: skip
        if self.judge and not self.hybrid:
            raise UsageError("a judge is for a hybrid plan", where="judge",
                             hint="ask for a hybrid plan (hybrid), or leave it out")  # fmt: skip

    def estimate(self, tools: Tools) -> Progress:
        """Document the plan, with the widths of intervals to be expected."""
        from tabwb.analysis.rating_plan import plan_document

        try:
            tools.store.sets.refuse_taken(self.name)
        except UsageError as error:  # its plan may still be looked at
            tools.warn(error.message)
        tools.document |= plan_document(self._planned(tools))
        tools.say("nothing was made")
        return iter(())

    def do(self, tools: Tools) -> None:
        """Make the set."""
        from tabwb.analysis.rating_plan import plan_document

        planned = self._planned(tools)
        tools.document |= plan_document(planned, tools.store.sets.create(planned.plan).uid)
        first = planned.plan.kept.raters[0]
        tools.say(
            f"rating set '{self.name}' made; next: tabwb rate start {self.name} --rater {first}"
        )

    def _planned(self, tools: Tools) -> PlannedSet:
        from tabwb.analysis.rating_plan import plan_with
        from tabwb.host.forms import check_raters, open_form

        form, raters = open_form(self.form, tools.plugins.find_battery), separated(self.raters)
        check_raters(raters, tools.plugins)
        return plan_with(tools.store, tools.plugins, form, vars(self) | {"raters": raters})

    def numbers(self, store: Store) -> list[int]:
        """Return none: administrations are only read."""
        return []

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what is drawn, what each rater gets, and what can be expected."""
        total, raters = document["samples"], document["raters"]
        of = plural(document["responses"], "response")
        yield f"{document['set']}: {plural(total, 'sample')} of {of}, form {document['form']}"
        if document["subtests"]:
            yield f"subtests: {', '.join(document['subtests'])} (--subtest chooses others)"
        if document["left_out"]:
            reasons = ", ".join(f"{n:,} {reason}" for reason, n in document["left_out"].items())
            yield f"left out: {reasons}"
        if document["hybrid"]:
            yield from _queue_lines(document["hybrid"])
        if len(raters) > 1:
            learned = raters[0]["calibration"]
            several = f"{document['rated_by_several']} rated by several"
            yield several + (f"; calibration: {learned}" if learned else "")
        yield from _strata_lines(document["strata"])
        yield ""
        column = max([11, *(len(one["rater"]) for one in raters)])
        yield f"{'rater':<{column}} samples  again  calibration  minutes"
        for one in raters:
            yield (
                f"{one['rater']:<{column}} {one['samples']:>7} {one['again']:>6} "
                f"{one['calibration']:>12} {one['minutes']:>8.0f}"
            )
        seconds = document["seconds_per_sample"]
        if seconds is None:
            yield (
                "minutes: assumed (200 words a minute, 3 s for each feature, 5 s for other "
                "questions)"
            )
        else:
            yield f"minutes: from the median of stored ratings, {seconds:.0f} s each"
        yield from _shared_lines(document["pairs"])
        yield from _width_lines(document["expected_intervals"])
        yield from _sign_lines(document["signs_of_source"])


def _queue_lines(queue: Mapping[str, Any]) -> Iterator[str]:
    share = queue["to_person"] / queue["responses"]
    yield (
        f"judged by {queue['judge']}: {queue['responses']:,}; to a person first: "
        f"{queue['to_person']:,} ({share:.0%})"
    )
    how = (
        ""
        if queue["judge_tells_probabilities"]
        else " (the judge gives no probability: failed verdicts only)"
    )
    yield f"  judge uncertain {queue['uncertain']:,}{how}"
    features = ", ".join(
        f"{one['measure']} {one['prevalence']:.0%}" for one in queue["frequent_features"]
    )
    present = queue["with_frequent_feature"]
    yield f"  frequent feature present {present:,} ({features or 'none is frequent'})"
    yield f"  audit {queue['audited']:,} of the other {queue['audited_of']:,}"


def _strata_lines(strata: Shares) -> Iterator[str]:
    if {one["stratum"] for one in strata} <= {""}:
        return
    yield ""
    yield "responses  samples  weight  stratum"
    for one in strata[:MOST]:
        yield (f"{one['responses']:>9} {one['samples']:>8} {one['weight']:>7.2f}  {one['stratum']}")
    if len(strata) > MOST:
        yield f"... {len(strata) - MOST} more strata (--json has all)"


def _shared_lines(pairs: Shares) -> Iterator[str]:
    if not pairs:
        return
    shared = [one["samples"] for one in pairs]
    fewest, most = min(shared), max(shared)
    yield ""
    words = str(most) if fewest == most else f"{fewest} to {most}"
    yield f"samples that each pair of raters shares: {words}"
    if most < LEAST_SHARED:
        yield f"  agreement lists pairs with fewer than {LEAST_SHARED}, and averages none of them"
    elif fewest < LEAST_SHARED:
        yield f"  agreement lists pairs with fewer than {LEAST_SHARED}, and does not average them"


def _width_lines(widths: Shares) -> Iterator[str]:
    if not widths:
        return
    yield "expected width of the 95 % interval for one feature; - where too few samples have it"
    prevalences = dict.fromkeys(one["prevalence"] for one in widths)
    yield "  prevalence                 " + " ".join(f"{one:>5.0%}" for one in prevalences)
    rows: dict[tuple[int, int, float], list[Mapping[str, Any]]] = {}
    for one in widths:
        rows.setdefault((one["pairs"], one["samples"], one["kappa"]), []).append(one)
    for (pairs, samples, kappa), row in rows.items():
        what = f"{plural(pairs, 'pair')}, {plural(samples, 'sample')}"
        for label, name in (("kappa", "width_of_kappa"), ("AC1", "width_of_ac1")):
            values = [one[name] for one in row]
            cells = " ".join("    -" if each is None else f"{each:>5.2f}" for each in values)
            yield f"  {what:<21} {label:<5} {cells}  where kappa is {kappa:g}"


def _sign_lines(signs: Shares) -> Iterator[str]:
    from tabwb.administer.rating.presentation import REMEDIES

    for sign in signs:
        if sign["tells"]:
            yield (
                f"form reveals the source: {sign['sign']} in {sign['people']} of "
                f"{sign['of_people']} texts of people and {sign['models']} of {sign['of_models']} "
                f"of models; {REMEDIES[sign['sign']]} removes it"
            )


# -------------------------------------------------------------------- sets


@dataclass(frozen=True, kw_only=True)
class OfSet(Operation):
    """What is done with one rating set."""

    reference: Annotated[int | str, SET]

    def set(self, store: Store) -> RatingSet:
        """Return the rating set."""
        return store.sets.get(self.reference)


@dataclass(frozen=True, kw_only=True)
class ListSets(Operation):
    """List the rating sets."""

    NAME, TITLE = "rate list", "List"
    WRITES: ClassVar[bool] = False

    def do(self, tools: Tools) -> None:
        """Read them."""
        store = tools.store
        tools.document["sets"] = [{**_head(one), **_totals(store, one)} for one in store.sets.all()]

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each set."""
        rows = document["sets"]
        if not rows:
            yield "no rating set; make one: tabwb rate plan NAME --raters R1,R2"
            return
        names, forms = (max(8, *(len(row[key]) for row in rows)) for key in ("set", "form"))
        yield f"{'set':<{names}}  {'form':<{forms}}  status    done      of  raters"
        for row in rows:
            yield (
                f"{row['set']:<{names}}  {row['form']:<{forms}}  {row['status']:<6} "
                f"{row['done']:>7} {row['assigned']:>7}  {', '.join(row['raters'])}"
            )


@dataclass(frozen=True, kw_only=True)
class ShowSet(OfSet):
    """Show the plan and the history of SET, without samples and ratings."""

    NAME, TITLE = "rate show", "Show"
    WRITES: ClassVar[bool] = False

    def do(self, tools: Tools) -> None:
        """Read it."""
        store = tools.store
        kept = self.set(store)
        samples = store.sets.samples(kept.id)
        strata = Counter(one.stratum for one in samples if one.consensus is None)
        tools.document |= {
            **_head(kept),
            **_totals(store, kept),
            "presentation": asdict(kept.presentation),
            "seed": kept.seed,
            "ask_source": kept.ask_source,
            "guidelines": kept.guidelines or None,
            "samples": strata.total(),
            "calibration": len(samples) - strata.total(),
            "strata": dict(strata),
            "events": [asdict(event) for event in store.sets.events(kept.id)],
        }

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the plan, then the events."""
        policy = document["presentation"]
        shown = f"case {policy['case']}, punctuation {policy['punctuation']}"
        shown += ", cuts marked" if policy["cut_mark"] else ", cuts not marked"
        shown += f", at most {policy['max_words']} words" if policy["max_words"] else ""
        made = moment(document["created_at"])
        yield f"{document['set']}  ({document['uid']}), {document['status']}, made {made}"
        yield f"form {document['form']}; counts: {document['counts']}; seed {document['seed']}"
        yield f"{document['samples']} samples, {document['calibration']} for calibration; {shown}"
        yield f"raters: {', '.join(document['raters'])}"
        if document["ask_source"]:
            yield "last question: person or machine?"
        if document["guidelines"]:
            yield f"guidelines: {len(document['guidelines'].split())} words"
        for event in document["events"]:
            parts = (moment(event["recorded_at"]), event["kind"], event["text"], event["who"])
            yield " ".join(filter(None, parts))


@dataclass(frozen=True, kw_only=True)
class StatusOfSet(OfSet):
    """Show the progress of each rater of SET; no answer is shown.

    Flagged: samples that were confirmed without an answer, or in less time than the form's minimum.
    """

    NAME, TITLE = "rate status", "Status"
    WHAT: ClassVar[str] = "Progress"
    WRITES: ClassVar[bool] = False

    def do(self, tools: Tools) -> None:
        """Read it."""
        from tabwb.store.sets import asked_by

        kept = self.set(tools.store)
        rows, least = _progress(tools.store, kept), asked_by(kept).least_seconds
        tools.document |= {**_head(kept), "min_seconds": least, "progress": rows}
        if flagged := sum(row["flagged"] for row in rows):
            tools.warn(
                f"{plural(flagged, 'sample')} confirmed without any answer or in less than "
                f"{least:g} s; 'tabwb rate export {kept.name}' names them in the column flag"
            )

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each rater."""
        rows = document["progress"]
        column = max([11, *(len(row["rater"]) for row in rows)])
        yield f"{'rater':<{column}} done    of  begun  minutes  s/sample  flagged  last"
        for row in rows:
            median = "-" if row["median_seconds"] is None else f"{row['median_seconds']:.0f}"
            yield (
                f"{row['rater']:<{column}} {row['done']:>4} {row['assigned']:>5} "
                f"{row['begun']:>6} {row['minutes']:>8.0f} {median:>9} {row['flagged']:>8}  "
                f"{moment(row['last'])}"
            )
            if row["link_state"]:
                yield f"{'':<{column}} link {row['link_state']}, made {moment(row['link_made_at'])}"


@dataclass(frozen=True, kw_only=True)
class CloseSet(OfSet):
    """Close SET: nobody can rate in it until it is opened again. Answers can still be settled."""

    NAME, TITLE = "rate close", "Close"
    WHAT: ClassVar[str] = "Close"
    reason: Annotated[str, REASON] = ""

    def do(self, tools: Tools) -> None:
        """Record it."""
        _mark(tools, self.set(tools.store), "closed", self.reason)


@dataclass(frozen=True, kw_only=True)
class ReopenSet(OfSet):
    """Open SET again."""

    NAME, TITLE = "rate reopen", "Open again"
    WHAT: ClassVar[str] = "Open again"
    reason: Annotated[str, REASON] = ""

    def do(self, tools: Tools) -> None:
        """Record it."""
        _mark(tools, self.set(tools.store), "reopened", self.reason)


def _mark(tools: Tools, kept: RatingSet, kind: str, reason: str) -> None:
    from tabwb.records.rating_sets import SetEvent

    wanted, sets = "closed" if kind == "closed" else "open", tools.store.sets
    already = kept.status == wanted
    if not already:
        sets.log(kept.id, SetEvent(kind, reason))
    rows = _progress(tools.store, kept)
    unfinished = sum(row["assigned"] - row["done"] for row in rows)
    tools.document |= {"set": kept.name, "status": wanted, "changed": not already,
                       "not_given": unfinished}  # fmt: skip
    rest = " already" if already else ""
    if unfinished and wanted == "closed" and not already:
        rest = f"; {plural(unfinished, 'rating')} not given"
    tools.say(f"rating set '{kept.name}' is {wanted}{rest}")


# -------------------------------------------------------------------- links


@dataclass(frozen=True, kw_only=True)
class MakeLinks(OfSet):
    """Make a secret link for each rater of SET, and print it, once.

    The store keeps only the SHA-256 of its key, so a link cannot be printed again: make a new one,
    which revokes the rater's older one.
    """

    NAME, TITLE = "rate link make", "Make"
    SECRET: ClassVar[str] = "link"
    WHAT: ClassVar[str] = "Make links"
    raters: Annotated[tuple[str, ...], RATER] = ()
    expires: Annotated[
        str,
        Arg("After this time (30m, 12h, 14d, 2w), or at the end of a day (2026-03-31, UTC).",
            metavar="TIME", label="Expires"),
    ] = "14d"  # fmt: skip
    url: Annotated[
        str | None,
        Arg("Where raters reach 'tabwb serve' (default: this computer, port 8017).",
            metavar="URL", label="Address", blank="this computer, port 8017"),
    ] = None  # fmt: skip

    def do(self, tools: Tools) -> None:
        """Make them."""
        from urllib.parse import urlsplit

        from tabwb.administer.rating import access
        from tabwb.records.system import stays_here
        from tabwb.store.sets import refuse_closed

        store = tools.store
        kept = self.set(store)
        chosen, now = _chosen(kept, self.raters), datetime.now(UTC)
        ends = access.expiry(self.expires, now)
        base = access.checked_address(self.url or access.LOCAL)
        refuse_closed(kept)
        if not stays_here(urlsplit(base).hostname):
            access.check_sending(store, store.sets.samples(kept.id))
        rows, older = [], 0
        for rater in chosen:
            older += len(access.revoke(store, kept.id, [rater], now))
            key = access.new_key()
            made = store.sets.links.add(kept.id, rater, access.digest(key), expires_at=ends)
            rows.append({**_link(made, "valid"), "link": access.link(base, key)})
        tools.document |= {"set": kept.name, "links": rows}
        tools.say(
            f"{plural(len(rows), 'link')}, valid until {moment(ends)}"
            + (f"; {older} older revoked" if older else "")
            + ". Give each rater theirs alone: who has a link rates as that rater."
        )

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the links."""
        for one in document["links"]:
            yield f"{one['rater']}  {one['link']}"


@dataclass(frozen=True, kw_only=True)
class ListLinks(Operation):
    """List the links of SET, or of every set, never their keys."""

    NAME, TITLE = "rate link list", "List"
    WHAT: ClassVar[str] = "Links"
    WRITES: ClassVar[bool] = False
    reference: Annotated[
        int | str | None, Arg("Only of this set.", metavar="[SET]", positional=True)
    ] = None

    def do(self, tools: Tools) -> None:
        """Read them."""
        from tabwb.administer.rating.access import link_state

        sets, now = tools.store.sets, datetime.now(UTC)
        names = {kept.id: kept.name for kept in sets.all()}
        of = None if self.reference is None else sets.get(self.reference).id
        tools.document["links"] = [
            {"set": names[one.set_id], **_link(one, link_state(one, now))}
            for one in sets.links.all(of)
        ]
        tools.say(plural(len(tools.document["links"]), "link"))

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each link."""
        rows = document["links"]
        width, code = (max((len(row[key]) for row in rows), default=0) for key in ("set", "rater"))
        for row in rows:
            until = "until" if row["state"] == "valid" else "at"
            at = moment(row["revoked_at"] or row["expires_at"], "never")
            yield f"{row['set']:<{width}}  {row['rater']:<{code}}  {row['state']} {until} {at}"


@dataclass(frozen=True, kw_only=True)
class RevokeLinks(OfSet):
    """Revoke the links of SET. Pages that are open are closed within seconds; nothing is lost."""

    NAME, TITLE = "rate link revoke", "Revoke"
    WHAT: ClassVar[str] = "Revoke links"
    raters: Annotated[tuple[str, ...], RATER] = ()

    def do(self, tools: Tools) -> None:
        """Revoke those that are valid."""
        from tabwb.administer.rating.access import revoke

        kept = self.set(tools.store)
        chosen = _chosen(kept, self.raters)
        revoked = revoke(tools.store, kept.id, chosen, datetime.now(UTC))
        tools.document |= {"set": kept.name, "revoked": [one.rater for one in revoked]}
        tools.say(f"{plural(len(revoked), 'link')} revoked")


def _chosen(kept: RatingSet, raters: Sequence[str]) -> Sequence[str]:
    for rater in raters:
        if rater not in kept.raters:
            raise UsageError(
                f"'{rater}' is not a rater of rating set '{kept.name}'",
                where="raters",
                allowed=", ".join(kept.raters) or None,
            )
    return raters or kept.raters


def _link(one: RaterLink, state: str) -> dict[str, Any]:
    return {
        "rater": one.rater,
        "state": state,
        "made_at": one.made_at,
        "made_by": one.made_by,
        "expires_at": one.expires_at or None,
        "revoked_at": one.revoked_at or None,
    }


# -------------------------------------------------------------------- settling


@dataclass(frozen=True, kw_only=True)
class SettleAnswer(OfSet):
    """Settle MEASURE of SAMPLE of SET with VALUE; the ratings of people are not changed.

    VALUE is present, absent, a number of the scale, an option, words or phonemes, or cannot-tell.
    """

    NAME, TITLE = "rate settle", "Settle"
    sample: Annotated[int, Arg("Its number.", metavar="SAMPLE", positional=True, low=1)]
    measure: Annotated[
        str,
        Arg("Of the question; with # and the attempt's number where each is asked.",
            metavar="MEASURE", positional=True),
    ]  # fmt: skip
    value: Annotated[
        str | None, Arg("The value that counts.", metavar="[VALUE]", positional=True)
    ] = None
    reason: Annotated[str, Arg("The reason; required and stored.")] = ""
    who: Annotated[str, Arg("Who settles; default: your login name.", metavar="CODE")] = ""
    undo: Annotated[bool, Arg("Take back the settled value; the one before it counts again.")] = (
        False
    )

    def check(self, plugins: Plugins) -> None:
        """Refuse a value together with taking one back."""
        if self.undo == (self.value is not None):
            raise UsageError("either a value is needed, or that one is taken back (undo)")

    def do(self, tools: Tools) -> None:
        """Record it."""
        from tabwb.administer.rating.adjudication import Adjudicator

        adjudicator = Adjudicator(tools.store, tools.plugins, self.reference, self.who)
        sample, measure = self.sample, self.measure
        if self.value is None:
            decision = adjudicator.take_back(sample, measure)
        else:
            answer = adjudicator.read(measure, self.value)
            decision = adjudicator.settle(sample, measure, answer, self.reason)
        tools.document |= {
            "set": adjudicator.set.name,
            "sample": sample,
            "measure": measure,
            "answer": None if decision is None else decision.answer,
            "history": [
                {"answer": row.answer, "reason": row.reason, "who": row.who, "at": row.recorded_at}
                for row in adjudicator.history(sample, measure)
            ],
        }
        held = "not settled" if decision is None else adjudicator.words(measure, decision.answer)
        settled, of = adjudicator.progress()
        tools.say(f"sample {sample}, {measure}: {held}; {settled} of {of} settled")


def disputes_document(
    adjudicator: Adjudicator,
    which: Which,
    measures: Sequence[str] = (),
    samples: Sequence[int] = (),
) -> dict[str, Any]:
    """Return the answers on which raters, and judges, differ, in plain values."""
    found = adjudicator.disputes(which=which, measures=measures, samples=samples)
    settled, of = adjudicator.progress()
    rows = []
    for one in found:
        shown, held = adjudicator.shown(one.sample), one.settled
        rows.append({
            "sample": one.sample,
            "measure": one.measure,
            "text": shown.text,
            "prompt": shown.prompt,
            "people": [
                {"rater": said.rater, "answer": said.answer, "confidence": said.confidence,
                 "note": said.note or None, "looked_at": said.looked_at}
                for said in one.verdicts
            ],
            "judges": [{"rater": judge, "value": value} for judge, value in one.judges],
            "people_differ": one.people_differ,
            "judges_differ": one.judges_differ,
            "majority": one.majority,
            "settled": held
            and {"answer": held.answer, "reason": held.reason, "who": held.who,
                 "at": held.recorded_at},
        })  # fmt: skip
    return {
        "set": adjudicator.set.name,
        "counts": adjudicator.set.counts,
        "settled": settled,
        "of": of,
        "withheld": adjudicator.withheld,
        "disputes": rows,
    }


# -------------------------------------------------------------------- exports


@dataclass(frozen=True, kw_only=True)
class ExportRatings(OfSet):
    """Write the ratings of SET to a file, or the whole study to a folder.

    One row for each answer, with a description of the columns beside it. 'tabwb agreement' reads
    the file; with --judges it gives the figures of the set.
    """

    NAME, TITLE = "rate export", "Export"
    WHAT: ClassVar[str] = "Export"
    WRITES: ClassVar[bool] = False  # people's data: the export is logged
    out: Annotated[Path, Arg("The file, or a new folder.", metavar="PATH", label="File")]
    format: Annotated[
        Literal["csv", "jsonl", "parquet", "folder"] | None,
        Arg(
            "The format. [default: by the ending of the name; without one a folder]",
            label="Format",
            words=("by the name", "csv", "jsonl", "parquet", "folder"),
        ),
    ] = None
    judges: Annotated[
        bool,
        Arg("Include the verdicts of judges; a folder has a file for them.", label="Judges",
            words=("without judges", "with judges")),
    ] = False  # fmt: skip
    force: Annotated[
        bool, Arg("Overwrite an existing file.", label="Existing", words=("keep", "overwrite"))
    ] = False
    within_study: Annotated[
        bool,
        Arg("The file stays within the study that collected the data; otherwise speakers must "
            "have agreed to 'share'.", label="Study", words=("shared", "stays within the study")),
    ] = False  # fmt: skip

    def do(self, tools: Tools) -> None:
        """Write them."""
        from tabwb.media.documents.rating_export import FOLDER, export_set, format_of
        from tabwb.operations.files import destination

        out = self.out
        chosen = format_of(out, self.format)
        if chosen != FOLDER or is_stdout(out):
            out = destination(tools, out, force=self.force, stdout=False)
        permit = export_set(
            tools.store, tools.plugins, self.reference, chosen, out,
            judges=self.judges, within_study=self.within_study,
        )  # fmt: skip
        if permit.notice:
            tools.warn(permit.notice)
        tools.document |= {"file": str(out), "format": chosen}
        tools.say(f"{out} written")


def moment(at: str | None, never: str = "-") -> str:
    """Return a stored time to the minute, in words.

    >>> moment("2026-03-01T12:00:59+00:00"), moment(None)
    ('2026-03-01 12:00 UTC', '-')
    """
    return f"{at[:16].replace('T', ' ')} UTC" if at else never


def _head(kept: RatingSet) -> dict[str, Any]:
    return {
        "set": kept.name,
        "id": kept.id,
        "uid": kept.uid,
        "form": kept.form_id,
        "status": kept.status,
        "counts": kept.counts,
        "created_at": kept.created_at,
    }


def _totals(store: Store, kept: RatingSet) -> dict[str, Any]:
    rows = _progress(store, kept)
    assigned, done = (sum(row[name] for row in rows) for name in ("assigned", "done"))
    return {"raters": list(kept.raters), "assigned": assigned, "done": done}


def _progress(store: Store, kept: RatingSet) -> list[dict[str, Any]]:
    from tabwb.analysis.rating_sets import progress_of

    return [asdict(one) for one in progress_of(store, kept)]


# -------------------------------------------------------------------- import


def source_of_ratings(wanted: ImportFile) -> Source | None:
    """Return what reads ratings that were given elsewhere; None for another file."""
    from tabwb.administer.rating.elsewhere.reading import is_table_of_ratings
    from tabwb.administer.rating.elsewhere.study import is_study

    path = wanted.path
    if wanted.set or is_study(path):
        return Ratings(wanted, path)
    if str(path) != "-" and wanted.format is None and is_table_of_ratings(path):
        raise UsageError(
            "this is a table of ratings", where=str(path),
            hint="--set NAME makes a rating set of it; 'tabwb agreement FILE' needs no store",
        )  # fmt: skip
    return None


class Ratings(Source):
    """Ratings that people gave elsewhere."""

    KIND = "ratings"

    def read(self, plugins: Plugins) -> None:
        """Read the ratings with the form that they answer."""
        from tabwb.administer.answers.plan import Stated
        from tabwb.administer.rating.elsewhere.into_set import LabelRequest, prepare_labels
        from tabwb.records.rating_sets import checked_counts

        wanted = self.wanted
        mapping = wanted.mapping
        if mapping is not None and not mapping.is_file():
            raise UsageError(f"there is no file '{mapping}'", where="mapping")
        request = LabelRequest(
            self.path, wanted.set, wanted.form, mapping,
            Stated(wanted.model, wanted.speaker, wanted.origin), wanted.judge,
            checked_counts(wanted.counts) if wanted.counts else None,
        )  # fmt: skip
        self._prepared = prepare_labels(plugins, request)

    def document(self) -> dict[str, Any]:
        """Return how many ratings of whom there are."""
        prepared = self._prepared
        given = prepared.given
        return {
            "ratings": {
                "source": prepared.labels.title,
                "form": prepared.form.id,
                "raters": list(given.raters),
                "responses": len(given.responses),
                "ratings": len(given.ratings),
                "answers": given.answered,
                "settled": len(given.settled),
                "texts": len(prepared.labels.texts),
                "left_out": dict(prepared.labels.left_out),
            }
        }

    def tell(self, tools: Tools) -> None:
        """Tell what was read, and what is left out."""
        tools.say(self._prepared.told)
        for what, count in self._prepared.labels.left_out.items():
            tools.warn(f"left out: {count:,} {what}")

    def store(self, tools: Tools) -> Progress:
        """Make the set, or nothing."""
        from tabwb.administer.rating.elsewhere.into_set import import_labels

        made = import_labels(tools.store, tools.plugins, self._prepared)
        row = {"id": made.id, "uid": made.uid, "name": made.name, "form": made.form_id}
        tools.document |= {"rating_set": row, **self.document()}
        return iter(())
