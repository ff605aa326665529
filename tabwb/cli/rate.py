"""``tabwb rate``: plan rating sets, rate, see how far raters are, close."""

from __future__ import annotations

import click

from tabwb.cli.rate_export import export
from tabwb.cli.rate_forms import forms
from tabwb.cli.rate_links import link
from tabwb.cli.rate_plan import plan
from tabwb.cli.rate_sets import close, list_sets, reopen, show, start, status
from tabwb.cli.rate_settle import disputed, settle


@click.group()
def rate() -> None:
    """Plan rating sets, rate them, settle disagreements.

    A rating set has samples (stored responses), a form and raters.
    """


_COMMANDS = (
    plan,
    start,
    list_sets,
    show,
    status,
    close,
    reopen,
    link,
    disputed,
    settle,
    export,
    forms,
)
for _command in _COMMANDS:
    rate.add_command(_command)
