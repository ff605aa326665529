"""An example plugin: pronouns in connected text, as a statistic, a command and a result page.

Empty speech refers by pronouns where a noun is expected, so the share of pronouns among all words
is a measure that some studies report beside it.
"""

import re
from collections import Counter

from tabwb.plugin_api import CommandSource, PageSource, Statistic, StatisticValue, hookimpl

PRONOUNS = frozenset(
    {"i", "me", "you", "he", "him", "she", "her", "it", "we", "us", "they", "them"}
    | {"this", "that", "these", "those", "one", "something"}
)


def words_of(text):
    """Return the words of a text in lower case."""
    return re.findall(r"[a-z']+", text.lower())


def pronoun_share(responses):
    """Return the share of pronouns, as a mean of items, with the interval of Student's t."""
    subtests = {each.id for each in responses.battery.subtests if each.task.connected}
    shares = {}
    for subtest, item, text, usable in responses.table.select(
        ["subtest", "item", "response", "usable"]
    ).rows():
        words = words_of(text)
        if subtest in subtests and usable and words:
            share = sum(word in PRONOUNS for word in words) / len(words)
            shares.setdefault(item, []).append(share)
    if not shares:
        return StatisticValue(None, reason="no usable connected text", n=0)
    means = [sum(values) / len(values) for values in shares.values()]
    n = sum(map(len, shares.values()))
    mean = sum(means) / len(means)
    if len(means) < 2:
        return StatisticValue(mean, n=n)
    from tabwb.plugin_api import t_quantile

    variance = sum((value - mean) ** 2 for value in means) / (len(means) - 1)
    half = t_quantile(0.975, len(means) - 1) * (variance / len(means)) ** 0.5
    return StatisticValue(mean, max(0.0, mean - half), min(1.0, mean + half), n)


STATISTIC = Statistic(
    "pronoun-share",
    "pronouns",
    "share of pronouns among the words of connected text, mean of the items",
    pronoun_share,
    unit="share",
    digits=1,
    percent=True,
)


def load_command():
    """Return the command; click is imported here and not before."""
    import click

    @click.command("pronouns")
    @click.argument("text")
    def pronouns(text):
        """Count the pronouns in TEXT."""
        words = words_of(text)
        click.echo(f"{sum(word in PRONOUNS for word in words)} of {len(words)} words")

    return pronouns


def frequent_words(data):
    """Return, for each group, its most frequent words, for the result page."""
    lines = []
    for name, responses in data.responses:
        counts = Counter()
        for text in responses.table["response"].to_list():
            counts.update(words_of(text))
        most = ", ".join(f"{word} {n}" for word, n in counts.most_common(10))
        lines.append(f"{name}: {most or 'no words'}")
    return "\n".join(lines)


@hookimpl
def tabwb_register_statistics(register):
    register(STATISTIC)


@hookimpl
def tabwb_register_commands(register):
    register(CommandSource("pronouns", "Count the pronouns in a text.", load_command))


@hookimpl
def tabwb_register_pages(register):
    register(PageSource("frequent-words", "Frequent words", "The words used most.", frequent_words))
