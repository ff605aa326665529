"""``tabwb battery pronounce``: how words are said, as a naming battery wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import json_option, note, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tabwb.battery.pronounce import Form


@click.command()
@click.argument("words", metavar="WORD...", nargs=-1, required=True)
@json_option
def pronounce(words: tuple[str, ...], as_json: bool) -> int:
    """Show the pronunciation of each WORD, and its 'accept' to paste into a battery.

    From the CMU dictionary (General American), with words that sound the same. Quote several words
    that are one name: 'ice cream'. Exit status 1 if a word is unknown; near ones are named.
    """
    from tabwb.battery.pronounce import accept_toml, forms_of  # reads the dictionary

    found = {word: forms_of(word) for word in words}
    unknown = [word for word, forms in found.items() if not forms]
    near = {word: _near(word) for word in unknown}
    if as_json:
        rows = [_row(word, forms, near.get(word, ())) for word, forms in found.items()]
        print_json({"format": 1, "words": rows})
    else:
        known = [(word, forms) for word, forms in found.items() if forms]
        pages = ["\n".join([word, *_lines(forms), accept_toml(forms)]) for word, forms in known]
        if pages:
            click.echo("\n\n".join(pages))
    for word in unknown:
        meant = ", ".join(f"'{each}'" for each in near[word])
        note(
            f"'{word}' is not in the CMU dictionary"
            + (f"; did you mean {meant}?" if meant else "")
            + "\n  write its phonemes yourself: ARPAbet (D AO G) or IPA (dɔɡ)"
        )
    return int(bool(unknown))


def _near(word: str) -> tuple[str, ...]:
    from tabwb.phonology.dictionary import load_dictionary

    dictionary = load_dictionary()
    unknown = [
        part for part in word.replace("-", " ").split() if not dictionary.pronunciations(part)
    ]
    return dictionary.near(unknown[0]) if unknown else ()


def _lines(forms: Sequence[Form]) -> list[str]:
    wide = max(len(form.arpabet or " ".join(form.phonemes)) for form in forms)
    lines = []
    for form in forms:
        said = form.arpabet or " ".join(form.phonemes)
        line = f"  {said:<{wide}}  /{form.ipa}/  {form.reason}"
        if form.homophones:
            line += f"; also: {', '.join(form.homophones)}"
        lines.append(line)
    return lines


def _row(word: str, forms: Sequence[Form], near: Sequence[str]) -> dict[str, Any]:
    from tabwb.battery.pronounce import accept_toml

    return {
        "word": word,
        "known": bool(forms),
        "pronunciations": [
            {
                "phonemes": " ".join(form.phonemes),
                "arpabet": form.arpabet or None,
                "ipa": form.ipa,
                "reason": form.reason,
                "homophones": list(form.homophones),
            }
            for form in forms
        ],
        "accept": accept_toml(forms) if forms else None,
        "near": list(near),
    }
