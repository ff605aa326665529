"""``tabwb rate``: plan rating sets, rate, see how far raters are, close."""

from __future__ import annotations

import click

from tabwb.cli.rate_forms import forms
from tabwb.cli.rate_links import link
from tabwb.cli.rate_settle import disputed, settle


@click.group()
def rate() -> None:
    """Plan what people rate, rate it, settle disagreements.

    A rating set has samples (stored responses), a form and raters.
    """


rate.add_command(forms)
rate.add_command(link)
rate.add_command(disputed)
rate.add_command(settle)
