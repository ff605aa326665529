"""Names and meanings of the columns of the table of groups (``results --csv``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

LONGEST = 24
"""A judge with a longer name, or with an address in it, is called ``judge1``, ``judge2`` ..."""

GROUP: Mapping[str, str] = {
    "administration": "the administration that makes the group",
    "model": "the model's spec, with its lesion",
    "battery": "the battery's id",
    "lesion": "the lesion's spec",
    "protocol": "how answers were obtained",
    "family": "of the model, as its profile says",
    "tuning": "of the model, as its profile says",
    "apart": "the conditions by which this row is apart from others of the same name",
    "battery_version": "the battery's version",
    "administrations": "numbers of the administrations in the group",
    "tunings": "of the models in the group, as their profiles say",
    "parameters": "number of parameters, as the profile says",
    "answers": "responses that count",
    "answers_usable": "of these, how many can be described",
    "answers_n": "the same as answers",
    "answers_causes": "why the others cannot be described, with their numbers",
    "answers_few_usable": "true: fewer than half of the responses can be described",
    "answers_distinct": "different texts among the responses",
    "answers_words_mean": "mean number of words of a usable response",
    "answers_not_ok": "responses whose status is not ok",
    "answers_batch_inexact": "greedy responses that may change with batch size or device",
}
FIGURES: Mapping[str, str] = {
    "usable": "responses that can be described",
    "n": "responses",
    "causes": "why the others cannot be described, with their numbers",
    "few_usable": "true: the burden must not be ranked",
    "burden": "mean number of features present per response",
    "low": "lower end of the 95 % interval for prompts like these",
    "high": "upper end of the 95 % interval for prompts like these",
    "these_low": "lower end of the 95 % interval for exactly these prompts",
    "these_high": "upper end of the 95 % interval for exactly these prompts",
    "features": "number of features in the set",
    "scope": "which responses are judged",
    "prompt": "SHA-256 of the judge's prompt",
    "N": "responses judged or scored",
    "with_burden": "of these, responses that have a burden",
    "distinct": "different texts among them",
    "words_mean": "mean number of words of a usable response",
    "not_judged": "responses that this judge has not judged yet",
    "scored": "responses with a verdict under the policy exact",
    "correct_exact": "right answers under the policy exact",
    "correct_normalised": "right answers under the policy normalised",
    "correct_extracted": "right answers under the policy extracted",
    "accuracy": "share of right answers, policy exact",
    "repeated": "responses beyond the first to the same item",
    "baseline_always_first": "accuracy of always choosing the first option",
    "baseline_always_yes": "accuracy of always saying yes",
    "baseline_guessing": "accuracy of guessing",
    "chance_corrected": "(accuracy - guessing) / (1 - guessing), where a guess must be an option",
    "yes_rate": "share of answers that are yes, policy exact",
    "balanced_accuracy": "mean of the accuracies of yes and of no questions, policy exact",
}


def judge_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Return a short name for each judge, as the columns are called by it.

    >>> judge_names(["rules-1", "tab-2026:openai:m@base_url=http://localhost:1/v1"])
    ('rules-1', 'judge1')
    """
    numbers = count(1)
    return tuple(
        label if len(label) <= LONGEST and not set(label) & set(":/@") else f"judge{next(numbers)}"
        for label in labels
    )


def dictionary(columns: Sequence[str]) -> str:
    """Return what each column holds, one line each, for the text beside the table.

    >>> print(dictionary(["model", "rules-1 burden"]))
    Columns:
    - model: the model's spec, with its lesion
    - rules-1 burden: mean number of features present per response
    """
    return "\n".join(["Columns:", *_lines(columns)])


def _lines(columns: Sequence[str]) -> Iterator[str]:
    for column in columns:
        _, _, figure = column.rpartition(" ")
        if column in GROUP:
            meaning = GROUP[column]
        elif column.startswith("given_"):
            meaning = f"{column.removeprefix('given_')} under which the group was given"
        elif column.startswith("differing_"):
            meaning = f"{column.removeprefix('differing_')} in which the group's members differ"
        elif " " in column:
            meaning = FIGURES[figure]
        else:
            meaning = "the judge whose columns begin with this name"
        yield f"- {column}: {meaning}"
