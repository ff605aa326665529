"""The methods of a study in sentences, made from what is stored with its administrations.

Every number and name comes from the store, so that the text agrees with the figures beside it.
Where administrations differ, what most of them share is said once and the others are named. People
are counted and not named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabwb.media.methods_analysis import analysis
from tabwb.media.methods_given import (
    materials,
    models,
    participants,
    software_used,
)
from tabwb.media.methods_lesions import lesions, over_amounts
from tabwb.media.methods_perturbed import over_other_amounts, perturbations
from tabwb.media.methods_procedure import procedure
from tabwb.media.methods_scored import scoring, unusable
from tabwb.media.references import Citations, Reference, bibliography
from tabwb.media.studied import Studied
from tabwb.records.words import RESEARCH_ONLY
from tabwb.report.plain import Json


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences under a heading."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentences, one after the other."""
        return " ".join(self.sentences)


@dataclass(frozen=True, slots=True)
class Methods:
    """The methods of a study.

    Attributes:
        paragraphs: in the order of a methods section.
        references: the works cited, by number.
    """

    paragraphs: tuple[Paragraph, ...]
    references: tuple[Reference, ...]

    @property
    def text(self) -> str:
        """The paragraphs and the references as plain text, with a line between paragraphs."""
        parts = [f"{each.title}. {each.text}" for each in self.paragraphs]
        if self.references:
            works = (f"[{number}] {work}" for number, work in enumerate(self.references, 1))
            parts.append("\n".join(["References", *works]))
        return "\n\n".join(parts) + "\n"

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


def methods_about(about: Studied) -> Methods:
    """Return the methods of what a report is about."""
    cite = Citations()
    paragraphs = tuple(Paragraph(title, tuple(said)) for title, said in _parts(about, cite) if said)
    return Methods(paragraphs, tuple(cite.works))


def _parts(about: Studied, cite: Citations) -> Iterator[tuple[str, list[str]]]:
    if not about.rows:
        yield "Methods", ["There are no administrations to describe."]
    else:
        yield "Materials", list(materials(about, cite))
        yield "Models", list(models(about))
        yield "Lesions", list(lesions(about, cite))
        yield "Perturbations", list(perturbations(about))
        yield "Participants", list(participants(about))
        yield "Procedure", list(procedure(about))
        yield "Scoring", list(scoring(about, cite))
        yield "Raters", list(about.rated)
        yield "Responses", list(unusable(about))
        statistics = list(analysis(about, cite))  # before the others: works are numbered in order
        statistics += [*over_amounts(about, cite), *over_other_amounts(about)]
        yield "Statistical analysis", statistics
        yield "Software", list(software_used(about, cite))
    disclaimers = (battery.disclaimer for battery in about.batteries if battery.disclaimer)
    yield "Scope", list(dict.fromkeys((RESEARCH_ONLY, *disclaimers)))
