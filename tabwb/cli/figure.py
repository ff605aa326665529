"""``tabwb figure``: figures for papers, as files."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tabwb.cli.common import (
    document_options,
    inform,
    note,
    opened_store,
    print_json,
)
from tabwb.cli.selecting import (
    option_words,
    requested_selection,
    resolved_selection,
    selection_options,
    sort_option,
)
from tabwb.records.errors import UsageError


@click.command()
@click.argument("name", required=False)
@click.argument("administrations", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="List the figures and their options.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file: .pdf, .svg or .png.",
)
@selection_options
@sort_option
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the figure; repeatable. --list shows them.",
)
@click.option(
    "--width",
    metavar="WIDTH",
    default="single",
    show_default=True,
    help="single (90 mm), one-and-half (140 mm), double (190 mm), or millimetres.",
)
@click.option(
    "--caption/--no-caption",
    default=True,
    help="Write the caption to FILE.README.txt. The metadata always has it.",
)
@click.option("--footer", is_flag=True, help="Write below the figure that it is for research only.")
@click.option(
    "--dpi",
    type=click.IntRange(50, 1200),
    default=300,
    show_default=True,
    help="Dots per inch of a PNG.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the numbers drawn, as CSV.",
)
@document_options
def figure(
    name: str | None,
    administrations: tuple[str, ...],
    listing: bool,
    out: Path | None,
    options: tuple[str, ...],
    width: str,
    caption: bool,
    footer: bool,
    dpi: int,
    data: Path | None,
    study_ids: bool,
    force: bool,
    within_study: bool,
    primary: str,
    store_location: str | None,
    as_json: bool,
    **chosen_by: Any,
) -> None:
    """Draw figure NAME of ADMINISTRATIONS (numbers or uids); without any, of all models.

    Grouped as --by says; without it each administration that is named is a group, and without
    names each model.
    """
    if listing or as_json:
        if not listing:
            raise UsageError("--json goes with --list", hint="tabwb figure --list --json")
        _list(as_json=as_json)
        return
    if name is None:
        raise UsageError("which figure?", hint="tabwb figure --list")
    if out is None:
        raise UsageError("--out is missing", hint=f"tabwb figure {name} --out {name}.pdf")
    from tabwb.media.figures import figure_kind
    from tabwb.media.figures.files import FigureRequest, write_figure

    kind = figure_kind(name)
    choice = requested_selection(chosen_by, "administration" if administrations else kind.by)
    given = {**chosen_by, "option": options, "width": width, "primary": primary,
             "study_ids": study_ids}  # fmt: skip
    wanted = FigureRequest(
        name,
        out,
        data=data,
        width=width,
        caption=caption,
        footer=footer,
        dpi=dpi,
        options=_values(options),
        words=list(map(shlex.quote, option_words(given))),
        study_ids=study_ids,
        within_study=within_study,
        force=force,
    )
    with opened_store(store_location) as (plugins, store):
        choice = resolved_selection(choice, plugins, primary)
        written = write_figure(store, plugins, administrations, choice, wanted)
    for notice in written.notices:
        note(notice)
    for file in written.files:
        inform(f"{file} written")


def _values(options: Sequence[str]) -> dict[str, str]:
    values = {}
    for option in options:
        name, sign, value = option.partition("=")
        if not sign or not name:
            raise UsageError(f"'{option}' is not NAME=VALUE", where="--option")
        values[name] = value
    return values


def _list(*, as_json: bool) -> None:
    from tabwb.media.figures import FIGURES, figure_kind

    kinds = [figure_kind(name) for name in FIGURES]
    if as_json:
        print_json(
            {
                "format": 1,
                "figures": [
                    {
                        "id": kind.id,
                        "title": kind.title,
                        "shows": kind.shows,
                        "data": kind.data,
                        "by": kind.by,
                        "options": [
                            {
                                "name": option.name,
                                "meaning": option.meaning,
                                "default": option.default,
                                "allowed": list(option.allowed),
                            }
                            for option in kind.options
                        ],
                    }
                    for kind in kinds
                ],
            }
        )
        return
    for kind in kinds:
        click.echo(f"{kind.id}: {kind.title}")
        for words in (kind.shows, f"Needs: {kind.data}"):
            click.echo(_indented(words))
        for option in kind.options:
            values = ", ".join(filter(None, option.allowed))
            allowed = f" ({values})" if values else ""
            default = f"; default {option.default}" if option.default else ""
            click.echo(_indented(f"--option {option.name}=...: {option.meaning}{allowed}{default}"))
        click.echo()


def _indented(words: str) -> str:
    indent = " " * 4
    return textwrap.fill(
        words, 88, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
