"""Works that a methods section cites: as a numbered list and as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from tabwb.battery.model import Battery
from tabwb.media.sentences import listed

PREPRINTS: Mapping[str, str] = {
    "The Text Aphasia Battery (TAB): A Clinically-Grounded Benchmark for Aphasia-Like Deficits in "
    "Language Models": "2511.20507"
}
"""arXiv ids of cited batteries by title, here because a changed battery is another battery."""
_CITATION = re.compile(r"(?P<authors>[^()]+?) \((?P<year>\d{4})\)\. (?P<title>.+?)\.?")
_ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)
_SPECIAL = re.compile(r"[\\{}&%$#_~^]")
_SPELLED = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited work: the key, kind and fields of its BibTeX entry; authors are joined by ``and``.

    ``text`` is what is printed; empty: made from the fields.
    """

    key: str
    kind: str
    fields: Mapping[str, str]
    text: str = ""

    def __str__(self) -> str:
        """Return the work as a list of references prints it."""
        return self.text or _printed(self.fields)

    @property
    def bibtex(self) -> str:
        """The BibTeX entry."""
        lines = (f"  {name} = {{{_bibtex(name, value)}}}," for name, value in self.fields.items())
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


@cache
def published() -> Mapping[str, Reference]:
    """Return the works of ``references.bib`` by key."""
    text = (files("tabwb.media") / "templates" / "references.bib").read_text(encoding="utf-8")
    return {
        key: Reference(key, kind, dict(_FIELD.findall(lines)))
        for kind, key, lines in _ENTRY.findall(text)
    }


def software(version: str) -> Reference:
    """Return the reference of tabwb itself."""
    authors, title = "The tabwb founders", "tabwb: a terminal workbench for aphasia batteries"
    text = f"{authors}. {title} (version {version}) [computer software]."
    fields = {"author": f"{{{authors}}}", "title": title, "version": version}
    return Reference("tabwb", "software", fields, text)


def of_battery(battery: Battery) -> Reference:
    """Return the reference of a battery, from its citation; without one from its title.

    Authors, year and title become fields if the citation has the form
    ``First Author, Second Author (2026). Title.``; any other is kept whole, as a note.
    """
    found = _CITATION.fullmatch(battery.citation)
    names = found["authors"].split(", ") if found else []
    fields = {"title": battery.title, "version": battery.version}
    if found and all(" " in name and not name.endswith(".") for name in names):
        authors = " and ".join(names)
        fields = {"author": authors, "title": found["title"], "year": found["year"]}
        if arxiv := PREPRINTS.get(found["title"]):
            fields |= {"eprint": arxiv, "archiveprefix": "arXiv"}
    elif battery.citation:
        fields = {"title": battery.title, "note": battery.citation}
    places = {"doi": battery.doi, "url": battery.url}
    fields |= {name: value for name, value in places.items() if value}
    text = battery.citation or f"{battery.title} (version {battery.version})."
    if (arxiv := fields.get("eprint")) and arxiv not in text:
        text += f" arXiv:{arxiv}."
    if battery.doi and battery.doi not in text:
        text += f" https://doi.org/{battery.doi.removeprefix('https://doi.org/')}"
    if battery.url and battery.url not in text:
        text += f" {battery.url}"
    return Reference(battery.id, "misc", fields, text)


@dataclass(slots=True)
class Citations:
    """Numbers works in the order in which they are cited.

    >>> cite = Citations()
    >>> cite("garwood1936"), cite("welch1947"), cite("garwood1936")
    ('[1]', '[2]', '[1]')
    """

    works: list[Reference] = field(default_factory=list)

    def __call__(self, cited: Reference | str) -> str:
        """Return the number of a work, or of a published one by its key, in brackets."""
        work = published()[cited] if isinstance(cited, str) else cited
        if work not in self.works:
            self.works.append(work)
        return f"[{self.works.index(work) + 1}]"


def bibliography(works: Iterable[Reference]) -> str:
    """Return works as a BibTeX file."""
    return "\n\n".join(work.bibtex for work in works) + "\n"


def _printed(fields: Mapping[str, str]) -> str:
    text = f"{listed(fields['author'].split(' and '))} ({fields['year']}). {fields['title']}."
    if "journal" in fields:
        number = f"({fields['number']})" if "number" in fields else ""
        pages = fields["pages"].replace("--", "-")
        text += f" {fields['journal']}, {fields['volume']}{number}, {pages}."
    place = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url", "")
    return f"{text} {place}".rstrip()


def _bibtex(name: str, value: str) -> str:
    r"""Return a value with special characters escaped; a title keeps its capitals.

    >>> print(_bibtex("title", "A & B"), _bibtex("doi", "10.1/a_b"))
    {A \& B} 10.1/a_b
    """
    if name in ("doi", "url"):
        return re.sub(r"[{}\\\s]", "", value)
    if name == "author" and value.startswith("{"):
        return value
    escaped = _SPECIAL.sub(lambda found: _SPELLED.get(found[0], f"\\{found[0]}"), value)
    escaped = " ".join(escaped.split())
    return f"{{{escaped}}}" if name == "title" else escaped
