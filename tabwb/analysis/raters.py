"""The scorers and judges whose ratings count: what they declared, and which plugins made them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.plain import Json, picked
from tabwb.records.ratings import (
    Declaration,
    MeasureKind,
    PluginVersion,
    RaterKind,
    measures_of,
)

NOT_RECORDED = "version not recorded"


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """A scorer or judge that rated."""

    rater: str
    kind: RaterKind
    measures: Mapping[str, MeasureKind]  # of a scorer; empty: it did not declare them
    plugins: tuple[PluginVersion | None, ...]  # oldest first; None where one is not recorded

    @property
    def versions(self) -> str:
        """The plugins as text.

        >>> made = None, PluginVersion("my-words", "0.2.0", "ab12cd34ef")
        >>> RaterSummary("my-words", "scorer", {}, made).versions
        'version not recorded, then my-words 0.2.0 (ab12cd34)'
        """
        return ", then ".join(NOT_RECORDED if one is None else str(one) for one in self.plugins)

    def to_json(self) -> Json:
        """Return plain data; a plugin that is not recorded is null."""
        return {
            **picked(self, "rater", "kind"),
            "measures": dict(self.measures),
            "plugins": [
                None if one is None else picked(one, "distribution", "version", "sha256")
                for one in self.plugins
            ],
        }


def raters_of(
    sources: Sequence[AdministrationData], rated: Mapping[str, Collection[int]]
) -> tuple[RaterSummary, ...]:
    """Return the scorers and judges that gave ratings, scorers first."""
    scorers = {name for one in sources for part in one.battery.subtests for name in part.scorers}
    made = []
    for rater, places in rated.items():
        given = [sources[place].declarations.get(rater) for place in sorted(places)]
        declared = [one for one in given if one is not None]
        kinds = {one.kind for one in declared} or ({"scorer"} if rater in scorers else set())
        if not kinds or "person" in kinds:
            continue
        kind: RaterKind = "scorer" if "scorer" in kinds else "judge"
        plugins = dict.fromkeys(
            plugin
            for one in given
            for plugin in ((None,) if one is None else (*one.earlier, one.plugin))
        )
        # A measure that was declared in two ways is a number.
        measures: dict[str, MeasureKind] = {}
        for one in given:
            for name, what in measures_of(rater, one).items():
                measures[name] = what if measures.get(name, what) == what else "number"
        made.append(RaterSummary(rater, kind, measures, tuple(plugins)))
    return tuple(sorted(made, key=lambda one: (one.kind != "scorer", one.rater)))


def declared_raters(declared: Mapping[str, Declaration]) -> dict[str, str]:
    """Return the versions of the plugins of raters, as text, by rater; not of people."""
    return {
        rater: RaterSummary(rater, one.kind, {}, (*one.earlier, one.plugin)).versions
        for rater, one in declared.items()
        if one.kind != "person"
    }


def rater_cautions(raters: Sequence[RaterSummary]) -> Iterator[str]:
    """Yield what must be known of the raters of a result."""
    for one in raters:
        if one.kind == "scorer" and not one.measures:
            yield (
                f"The scorer {one.rater} did not declare which of its measures are verdicts, as "
                "before version 0.2.0: none of its values says right or wrong. 'tabwb trial "
                "rescore ID' rates again."
            )
        if len(one.plugins) > 1:
            yield f"{one.rater} rated with several versions of its plugin: {one.versions}."
    unknown = [one.rater for one in raters if one.plugins == (None,)]
    if unknown:
        yield (
            "The version of the plugin was not recorded before version 0.2.0, for the ratings of: "
            f"{', '.join(unknown)}."
        )
