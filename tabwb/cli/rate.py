"""``tabwb rate`` and ``serve``: rating sets, rated, settled, exported; forms; pages in browsers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.command import add_commands
from tabwb.cli.common import (
    json_option,
    note,
    opened_plugins,
    opened_store,
    print_json,
    store_option,
    verbosity_options,
)
from tabwb.operations.battery import CheckForm, ListForms
from tabwb.operations.rate import (
    CloseSet,
    ExportRatings,
    ListLinks,
    ListSets,
    MakeLinks,
    PlanRatings,
    ReopenSet,
    RevokeLinks,
    SettleAnswer,
    ShowSet,
    StatusOfSet,
    disputes_document,
    moment,
)
from tabwb.records.errors import MissingExtra, UsageError
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.rating.adjudication import Adjudicator, Dispute
    from tabwb.battery.forms import Form, Question
    from tabwb.serve.admission import Guest, Site
    from tabwb.serve.seats import Opened

TEXT = 200
"""Characters of a sample's text that are printed."""
_INDENTED = partial(wrap, width=78, initial_indent="  ", subsequent_indent="  ")


@click.group()
def rate() -> None:
    """Plan rating sets, rate them, settle disagreements.

    A rating set has samples (stored responses), a form and raters.
    """


@rate.group()
def link() -> None:
    """Make, list and revoke the links by which raters open 'tabwb serve'."""


add_commands(
    rate, PlanRatings, ListSets, ShowSet, StatusOfSet, CloseSet, ReopenSet, SettleAnswer,
    ExportRatings,
)  # fmt: skip
add_commands(link, MakeLinks, ListLinks, RevokeLinks)


@rate.command()
@click.argument("reference", metavar="SET")
@click.option("--rater", metavar="CODE", required=True, help="Who rates.")
@store_option
@click.pass_context
def start(context: click.Context, reference: str, rater: str, store_location: str | None) -> None:
    """Rate SET: open the rating page of one rater at the first incomplete sample.

    Needs a terminal.
    """
    from tabwb.store.sets import refuse_closed

    with opened_store(store_location) as (_, store):
        kept = store.sets.get(reference)
    if rater not in kept.raters:
        raise UsageError(
            f"'{rater}' is not a rater of '{kept.name}'",
            where="--rater",
            allowed=", ".join(kept.raters),
        )
    refuse_closed(kept)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("rating needs a terminal", hint="run this command in a terminal")
    faces = context.find_root().obj
    if faces is None or faces[2] is None:
        raise UsageError("the workbench is not part of this call; use the program 'tabwb'")
    context.exit(faces[2](store_location, kept.uid, rater))


@rate.command()
@click.argument("reference", metavar="SET")
@click.option("--measure", "measures", metavar="MEASURE", multiple=True,
              help="Only this question; repeatable.")  # fmt: skip
@click.option("--sample", "samples", metavar="N", type=click.IntRange(1), multiple=True,
              help="Only this sample; repeatable.")  # fmt: skip
@click.option("--settled", "which", flag_value="settled", help="Only settled answers.")
@click.option("--all", "which", flag_value="all", help="Settled answers too.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True,
              help="Maximum number of answers to print; --json has all.")  # fmt: skip
@store_option
@json_option
def disputed(
    reference: str,
    measures: tuple[str, ...],
    samples: tuple[int, ...],
    which: Any,
    limit: int,
    store_location: str | None,
    as_json: bool,
) -> None:
    """List the answers of SET on which raters, and judges, differ most.

    They are sorted by the share of pairs of people who differ, then by that of pairs of a person
    and a judge. Each verdict has its rater; where a sample comes from is not shown.
    """
    from tabwb.administer.rating.adjudication import Adjudicator
    from tabwb.analysis.names import judge_names

    which = which or "open"
    with opened_store(store_location) as (plugins, store):
        adjudicator = Adjudicator(store, plugins, reference)
        if as_json:
            document = disputes_document(adjudicator, which, measures, samples)
            print_json({"format": 1, **document})
            return
        found = adjudicator.disputes(which=which, measures=measures, samples=samples)
        settled, of = adjudicator.progress()
        names = judge_names(judge for one in found for judge, _ in one.judges)
        for one in found[:limit]:
            click.echo("\n".join(_dispute_lines(adjudicator, one, names)) + "\n")
        if adjudicator.withheld:
            words = plural(adjudicator.withheld, "sample")
            note(f"{words} withheld: the speakers do not agree to rating")
        rest = len(found) - limit
        note(
            f"{plural(len(found), 'answer')}; {settled} of {of} that people differ on are settled"
            + (f"; {rest} more with --limit {len(found)}" if rest > 0 else "")
        )


def _dispute_lines(
    adjudicator: Adjudicator, one: Dispute, names: Mapping[str, str]
) -> Iterator[str]:
    sample, measure = adjudicator.shown(one.sample), one.measure
    text = " ".join((sample.text or f"{sample.prompt}  {sample.target}").split())
    yield f"sample {one.sample}  {measure}  ({one.title})"
    yield from _INDENTED(text if len(text) <= TEXT else f"{text[:TEXT]} …")
    yield from _INDENTED(", ".join(adjudicator.said(one, said) for said in one.verdicts))
    yield from _INDENTED(
        ", ".join(
            f"{names[judge]} {adjudicator.words(measure, said)}" for judge, said in one.judges
        )
    )
    if held := one.settled:
        answer, at = adjudicator.words(measure, held.answer), moment(held.recorded_at)
        yield from _INDENTED(f"settled: {answer}, {held.who}, {at}: {held.reason}")


# -------------------------------------------------------------------- forms


@rate.group()
def forms() -> None:
    """List, show and check rating forms.

    A FORM with '/' in it or ending in .toml is a path, otherwise an id. Your own forms are files
    ID.toml in the folder 'forms' of the configuration folder ('tabwb doctor' names it).
    """


add_commands(forms, ListForms, CheckForm)


@forms.command()
@click.argument("form_name", metavar="FORM")
@json_option
def show(form_name: str, as_json: bool) -> None:
    """Show FORM: every question with its key, its answers and its definition."""
    from tabwb.host.forms import open_form

    with opened_plugins() as plugins:
        form = open_form(form_name, plugins.find_battery)
    if as_json:
        content = json.loads(form.canonical)
        print_json({"format": 1, "form_hash": form.content_hash, **content})
    else:
        click.echo(page(form))


@forms.command()
def schema() -> None:
    """Print the JSON schema of a form file, for editors."""
    from tabwb.battery.form_files import form_json_schema

    print_json(form_json_schema())


def page(form: Form) -> str:
    """Return a form in words."""
    from tabwb.battery.forms import counted

    lines = [
        f"{form.title}  ({form.id} {form.version}, {form.license})",
        f"{counted(form)}; raters get: {', '.join(form.shows)}",
        f"sha256 {form.content_hash}",
    ]
    if any(question.kind == "present-absent" for question in form.questions):
        unmarked = "absent" if form.unmarked == "absent" else "an answer is asked for"
        lines.append(f"without a mark: {unmarked}")
    for name in ("citation", "doi", "notes"):
        if getattr(form, name):
            lines += ["", f"{name}: {getattr(form, name)}"]
    titles = {group.id: group.title for group in form.groups}
    for group in dict.fromkeys(question.group for question in form.questions):
        lines += ["", f"== {titles.get(group, 'Questions')} =="]
        for question in form.questions:
            if question.group == group:
                lines += _question_lines(question, form)
    return "\n".join(lines)


def _question_lines(question: Question, form: Form) -> list[str]:
    key = f"[{question.key}] " if question.key else ""
    lines = [f"  {key}{question.title} ({question.measure}): {_answers(question)}"]
    if question.definition:
        lines.append(f"      {question.definition}")
    if question.example:
        lines.append(f"      Example: {question.example}")
    if question.objective is not None:
        word = "objective" if question.objective else "subjective"
        source = f" [{form.objective_source}]" if form.objective_source else ""
        lines.append(f"      {word}{source}")
    if question.kind == "choice":
        for option in question.options:
            mark = f"[{option.key}] " if option.key else ""
            number = "" if option.number is None else f", counts as {option.number:g}"
            meaning = f": {option.definition}" if option.definition else ""
            lines.append(f"      {mark}{option.title}{meaning}{number}")
    return lines


def _answers(question: Question) -> str:
    words = {"present-absent": "present, absent", "choice": "one of", "text": "words",
             "phonemes": "phonemes (ARPAbet or IPA)"}.get(question.kind, "")  # fmt: skip
    if question.kind == "scale":
        names = [f"{option.value} {option.title}" for option in question.options]
        words = ", ".join(names) or f"{question.low} to {question.high}"
        if question.cut is not None:
            words += f" (present from {question.cut})"
    words += ", cannot tell" * question.cannot_tell
    words += "; of each attempt" * question.per_attempt
    return words + "; may be left out" * question.optional


@click.command()
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address on which the server listens."
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=8017,
    show_default=True,
    help="Port on which it listens.",
)
@click.option(
    "--url",
    "address",
    metavar="URL",
    default=None,
    help="Where raters reach it, for example https://rate.example.org through a proxy.",
)
@click.option(
    "--most",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Maximum number of raters who are there at once.",
)
@verbosity_options
@store_option
def serve(host: str, port: int, address: str | None, most: int, store_location: str | None) -> None:
    """Let raters rate in a browser, each by the secret link that 'tabwb rate link make' prints.

    A link opens the rating page of one rater and nothing else. By default the server listens only
    on this computer, and it does not encrypt: put a reverse proxy with TLS in front of it.
    ctrl+c closes all pages and ends it.
    """
    from tabwb.administer.rating.access import checked_address
    from tabwb.serve.admission import Site

    try:
        import textual_serve  # noqa: F401 - says which extra is missing
    except ImportError as error:
        raise MissingExtra("rating in a browser", "server", package="textual-serve") from error
    if address is None and not _listens_here_only(host):
        raise UsageError(
            f"raters reach a server on {host} by an address that --url has to name",
            where="--host",
            allowed="for example --url https://rate.example.org",
        )
    shown = f"[{host}]" if ":" in host else host
    site = Site(checked_address(address or f"http://{shown}:{port}"), port)
    if not (site.encrypted or site.is_here):
        note(f"warning: links and ratings go to {site.url} unencrypted; use a proxy with TLS")
    _serve(host, site, most, store_location)


def _listens_here_only(host: str) -> bool:
    """Return whether an address to listen on is reached from this computer alone.

    >>> [_listens_here_only(host) for host in ("127.0.0.1", "::1", "0.0.0.0", "::0", "", "lab")]
    [True, True, False, False, False, False]
    """
    import ipaddress

    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return bool((getattr(address, "ipv4_mapped", None) or address).is_loopback)


def _serve(host: str, site: Site, most: int, store_location: str | None) -> None:
    import asyncio
    import logging

    from tabwb.administer.rating.access import check_sending
    from tabwb.administer.rating.session import RaterSession
    from tabwb.serve.server import RatingServer, Settings, run_server
    from tabwb.store import takes

    with opened_store(store_location) as (plugins, store):
        location = plugins.configuration.store_at(store_location)

        def environment(guest: Guest) -> dict[str, str]:
            own = {"TABWB_RATING_SET": str(guest.link.set_id), "TABWB_RATER": guest.link.rater}
            return own if location is None else own | {"TABWB_STORE": str(location)}

        def is_closed(guest: Guest) -> bool:
            kept = store.sets.get(guest.link.set_id)
            if not site.is_here:  # its link may name this computer, or be older than a withdrawal
                check_sending(store, store.sets.samples(kept.id))
            return kept.status == "closed"

        def opens(guest: Guest) -> Opened:
            link = guest.link
            work = RaterSession.open(store, plugins, link.set_id, link.rater)
            return work, takes.work_root(store), site.is_here

        settings = Settings(site, environment, opens, is_closed, most)
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        words = f"rating pages at {site.url} (listens on {host}:{site.port}); ctrl+c ends"
        server = RatingServer(store.sets.links, settings)
        asyncio.run(run_server(server, host, site.port, lambda: note(words)))
    note("the server has ended")
