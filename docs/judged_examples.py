"""Compare judges' verdicts on the source paper's examples with the paper's labels.

``python docs/judged_examples.py [--judge SPEC]...`` writes ``judged-examples.md``: the two
transcripts of appendix D.3 and the five responses of appendix C. Without ``--judge`` it uses the
judges that run without a network. No check compares the page: a model's verdicts may differ between
machines.
"""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Response, Verdict
from tabwb.records.ratings import Rating
from tabwb.records.states import RatingStatus, ResponseKind, ResponseStatus

PAGE = Path(__file__).with_name("judged-examples.md")
PUBLISHED = Path(__file__).parents[1] / "tests" / "data" / "rules_published.json"
JUDGES = (
    "rules-2",
    "tab-2026:bundled",
    "tab-2026+likelihood:bundled",
    "tab-2026+likelihood+null:bundled",
)
SIGNS = {
    RatingStatus.UNDEFINED: "·",
    RatingStatus.UNPARSED: "unparsed",
    RatingStatus.ERROR: "error",
}
HEAD = """\
# Verdicts on the paper's examples

The two transcripts of TAB, appendix D.3 (both are examples in the judge's own prompt), and the five
responses of appendix C, rated by the judges that run without a network. 1 is present, 0 absent, ·
undefined. The paper labels all 19 features of the transcripts. Of the responses it names only the
symptoms that each illustrates: a blank there does not mean that a feature is absent.

The bundled model is a demonstration of 1.2 million parameters that was not trained on judges'
prompts: its columns show that the steps from prompt to verdict work, and that a judge's numbers
must be checked before use. `python docs/judged_examples.py` writes this page; `--judge SPEC` uses
other judges.
"""


@dataclass(frozen=True, slots=True)
class Example:
    """A published text with the paper's labels.

    Attributes:
        labels: feature to 1 or 0, only for features that the paper mentions.
    """

    title: str
    response: Response
    labels: Mapping[str, int]


def examples(features: Sequence[str]) -> Iterator[Example]:
    """Yield the published texts with the paper's labels."""
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    for number, entry in enumerate(published["judged"], 1):
        yield Example(
            f"D.3, transcript {number}",
            _response(entry["text"], ResponseKind.CONNECTED_TEXT, "", spoken=True),
            {feature: int(feature in entry["present"]) for feature in features},
        )
    for number, entry in enumerate(published["illustrated"], 1):
        yield Example(
            f"C, example {number}",
            _response(entry["text"], ResponseKind(entry["kind"]), entry["prompt"]),
            dict.fromkeys(entry["present"], 1),
        )


def _response(text: str, kind: ResponseKind, prompt: str, *, spoken: bool = False) -> Response:
    return Response(text, ResponseStatus.OK, prompt, prompt, kind, spoken=spoken)


def verdicts(
    plugins: Plugins, battery: Battery, spec: str, given: Sequence[Example]
) -> tuple[str, list[Mapping[str, Rating]]]:
    """Return a judge's rater id and its ratings of each example, by measure."""
    judge = plugins.judge(spec)
    responses = [example.response for example in given]
    ratings: list[Sequence[Rating]] = [()] * len(given)
    if judge.examinee:
        judge.open()
        try:
            for index, piece in judge.judge_many(responses, battery.features, threading.Event()):
                if isinstance(piece, Verdict):
                    ratings[index] = piece.ratings
        finally:
            judge.close()
    else:
        ratings = [judge.judge(response, battery.features) for response in responses]
    return judge.rater, [{rating.measure: rating for rating in of_text} for of_text in ratings]


def page(plugins: Plugins, judges: Sequence[str]) -> str:
    """Return the whole page."""
    from tabwb.administer.session.setup import find_battery

    battery = find_battery(plugins, "tab")
    given = list(examples([feature.id for feature in battery.features]))
    judged = [verdicts(plugins, battery, spec, given) for spec in judges]
    parts = [HEAD, *(_table(battery, n, example, judged) for n, example in enumerate(given))]
    parts.append(_agreement(given, judged))
    return "\n".join(parts)


def _table(
    battery: Battery,
    place: int,
    example: Example,
    judged: Sequence[tuple[str, Sequence[Mapping[str, Rating]]]],
) -> str:
    rows = [
        f"## {example.title}",
        "",
        f"> {example.response.text}",
        "",
        f"| feature | paper | {' | '.join(rater for rater, _ in judged)} |",
        f"|---|---|{'---|' * len(judged)}",
    ]
    for feature in battery.features:
        label = example.labels.get(feature.id)
        cells = [_cell(ratings[place].get(feature.id)) for _, ratings in judged]
        if label is None and not any(cell in {"1", *list(SIGNS.values())[1:]} for cell in cells):
            continue
        shown = "" if label is None else str(label)
        rows.append(f"| {feature.title} | {shown} | {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def _cell(rating: Rating | None) -> str:
    if rating is None:
        return ""
    return SIGNS.get(rating.status) or f"{rating.value:.0f}"


def _agreement(
    given: Sequence[Example], judged: Sequence[tuple[str, Sequence[Mapping[str, Rating]]]]
) -> str:
    """Return the agreement of each judge with the paper's labels, transcripts only."""
    rows = [
        "## Agreement on the two transcripts",
        "",
        "| judge | verdicts | same as the paper | present in both | present by the judge only |",
        "|---|---:|---:|---:|---:|",
    ]
    for rater, ratings in judged:
        pairs = [
            (label, ratings[place][feature].value)
            for place, example in enumerate(given)
            if example.title.startswith("D.3")
            for feature, label in example.labels.items()
            if feature in ratings[place] and ratings[place][feature].value is not None
        ]
        same = sum(label == value for label, value in pairs)
        hits = sum(label == 1 == value for label, value in pairs)
        beyond = sum(label == 0 and value == 1 for label, value in pairs)
        positives = sum(label for example in given[:2] for label in example.labels.values())
        rows.append(f"| {rater} | {len(pairs)} | {same} | {hits} of {positives} | {beyond} |")
    return "\n".join([*rows, ""])


def main() -> None:
    """Run the judges and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", action="append", metavar="SPEC")
    options = parser.parse_args()
    plugins = Plugins.load()
    try:
        PAGE.write_text(page(plugins, options.judge or JUDGES), encoding="utf-8")
    finally:
        plugins.close()


if __name__ == "__main__":
    main()
