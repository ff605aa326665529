"""Works that a methods section cites: as a numbered list and as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tabwb.battery.model import Battery
from tabwb.media.sentences import listed


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited work.

    Attributes:
        key: of the BibTeX entry, unique within a list.
        kind: of the BibTeX entry: ``article``, ``software``, ``misc``.
        fields: of the BibTeX entry, in their order; authors are joined by `` and ``.
        text: as it is printed; empty: made from the fields.
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


def _article(
    key: str, authors: str, year: int, title: str, journal: str, place: str, doi: str = ""
) -> Reference:
    """``place`` is ``VOLUME(NUMBER), PAGES``."""
    found = re.fullmatch(r"(\d+)(?:\(([^)]+)\))?, (.+)", place)
    assert found is not None
    volume, number, pages = found.groups()
    fields = {
        "author": authors,
        "title": title,
        "journal": journal,
        "year": str(year),
        "volume": volume,
        "number": number or "",
        "pages": pages.replace("-", "--"),
        "doi": doi,
    }
    return Reference(key, "article", {name: value for name, value in fields.items() if value})


KORN_GRAUBARD = _article(
    "korn1998", "Korn, Edward L. and Graubard, Barry I.", 1998,
    "Confidence intervals for proportions with small expected number of positive counts estimated "
    "from survey data", "Survey Methodology", "24(2), 193-201",
)  # fmt: skip
CLOPPER_PEARSON = _article(
    "clopper1934", "Clopper, C. J. and Pearson, E. S.", 1934,
    "The use of confidence or fiducial limits illustrated in the case of the binomial",
    "Biometrika", "26(4), 404-413", "10.1093/biomet/26.4.404",
)  # fmt: skip
BROWN_CAI_DASGUPTA = _article(
    "brown2001", "Brown, Lawrence D. and Cai, T. Tony and DasGupta, Anirban", 2001,
    "Interval estimation for a binomial proportion", "Statistical Science", "16(2), 101-133",
    "10.1214/ss/1009213286",
)  # fmt: skip
GARWOOD = _article(
    "garwood1936", "Garwood, F.", 1936, "Fiducial limits for the Poisson distribution",
    "Biometrika", "28(3-4), 437-442", "10.1093/biomet/28.3-4.437",
)  # fmt: skip
CRAWFORD_HOWELL = _article(
    "crawford1998comparing",
    "Crawford, John R. and Howell, David C.",
    1998,
    "Comparing an individual's test score against norms derived from small samples",
    "The Clinical Neuropsychologist",
    "12(4), 482-486",
)
WELCH = _article(
    "welch1947", "Welch, B. L.", 1947,
    "The generalization of 'Student's' problem when several different population variances are "
    "involved", "Biometrika", "34(1-2), 28-35", "10.1093/biomet/34.1-2.28",
)  # fmt: skip
FEDORENKO = _article(
    "fedorenko2010", "Fedorenko, Evelina and Hsieh, Po-Jang and Nieto-Castañón, Alfonso and "
    "Whitfield-Gabrieli, Susan and Kanwisher, Nancy", 2010,
    "New method for fMRI investigations of language: Defining ROIs functionally in individual "
    "subjects", "Journal of Neurophysiology", "104(2), 1177-1194", "10.1152/jn.00032.2010",
)  # fmt: skip
ALKHAMISSI = Reference(
    "alkhamissi2025",
    "misc",
    {
        "author": "AlKhamissi, Badr and Tuckute, Greta and Bosselut, Antoine and Schrimpf, Martin",
        "title": "The LLM language network: A neuroscientific approach for identifying causally "
        "task-relevant units",
        "year": "2025",
        "url": "https://arxiv.org/abs/2411.02280",
    },
)
COVINGTON_MCFALL = _article(
    "covington2010", "Covington, Michael A. and McFall, Joe D.", 2010,
    "Cutting the Gordian knot: The moving-average type-token ratio (MATTR)",
    "Journal of Quantitative Linguistics", "17(2), 94-100", "10.1080/09296171003643098",
)  # fmt: skip
MCCARTHY_JARVIS = _article(
    "mccarthy2010", "McCarthy, Philip M. and Jarvis, Scott", 2010,
    "MTLD, vocd-D, and HD-D: A validation study of sophisticated approaches to lexical diversity "
    "assessment", "Behavior Research Methods", "42(2), 381-392", "10.3758/BRM.42.2.381",
)  # fmt: skip
SOURCES = (
    KORN_GRAUBARD, CLOPPER_PEARSON, BROWN_CAI_DASGUPTA, GARWOOD, WELCH, COVINGTON_MCFALL,
    MCCARTHY_JARVIS,
)  # fmt: skip


def software(version: str) -> Reference:
    """Return the reference of tabwb itself."""
    fields = {
        "author": "{The tabwb founders}",
        "title": "tabwb: a terminal workbench for aphasia batteries",
        "version": version,
    }
    text = (
        "The tabwb founders. tabwb: a terminal workbench for aphasia batteries "
        f"(version {version}) [computer software]."
    )
    return Reference("tabwb", "software", fields, text)


PREPRINTS: Mapping[str, str] = {
    "The Text Aphasia Battery (TAB): A Clinically-Grounded Benchmark for Aphasia-Like Deficits in "
    "Language Models": "2511.20507"
}
"""arXiv ids of cited batteries by title, here because a changed battery is another battery."""
_CITATION = re.compile(r"(?P<authors>[^()]+?) \((?P<year>\d{4})\)\. (?P<title>.+?)\.?")


def of_battery(battery: Battery) -> Reference:
    """Return the reference of a battery, from its citation; without one from its title.

    Authors, year and title become fields if the citation has the form
    ``First Author, Second Author (2026). Title.``; any other is kept whole, as a note.
    """
    found = _CITATION.fullmatch(battery.citation)
    names = found["authors"].split(", ") if found else []
    fields: dict[str, str] = {}
    if found and all(" " in name and not name.endswith(".") for name in names):
        fields = {
            "author": " and ".join(names),
            "title": found["title"],
            "year": found["year"],
        }
        if arxiv := PREPRINTS.get(found["title"]):
            fields |= {"eprint": arxiv, "archiveprefix": "arXiv"}
    elif battery.citation:
        fields = {"title": battery.title, "note": battery.citation}
    else:
        fields = {"title": battery.title, "version": battery.version}
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
    >>> cite(GARWOOD), cite(WELCH), cite(WELCH, GARWOOD)
    ('[1]', '[2]', '[1, 2]')
    """

    works: list[Reference] = field(default_factory=list)

    def __call__(self, *cited: Reference) -> str:
        """Return the numbers of works in brackets."""
        for work in cited:
            if work not in self.works:
                self.works.append(work)
        numbers = sorted(self.works.index(work) + 1 for work in cited)
        return f"[{', '.join(map(str, numbers))}]"


def bibliography(works: Iterable[Reference]) -> str:
    """Return works as a BibTeX file."""
    return "".join(f"{work.bibtex}\n\n" for work in works).rstrip("\n") + "\n"


def _printed(fields: Mapping[str, str]) -> str:
    authors = listed(fields["author"].split(" and "))
    text = f"{authors} ({fields['year']}). {fields['title']}."
    if "journal" in fields:
        number = f"({fields['number']})" if "number" in fields else ""
        pages = fields["pages"].replace("--", "-")
        text += f" {fields['journal']}, {fields['volume']}{number}, {pages}."
    place = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url", "")
    return f"{text} {place}".rstrip()


_SPECIAL = re.compile(r"[\\{}&%$#_~^]")
_SPELLED = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


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
