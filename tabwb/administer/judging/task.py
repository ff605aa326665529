"""One judge at work on one administration after another, in the same way for every interface."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from types import TracebackType
from typing import Self

from tabwb.administer.judging.calls import Tally
from tabwb.administer.judging.judging import Judging
from tabwb.administer.limits import Limits
from tabwb.administer.session.remarks import of_language, unknown_features
from tabwb.battery.available import english_prompt
from tabwb.battery.loader import battery_from_canonical
from tabwb.battery.model import Battery
from tabwb.host.guarded import error_words, plugin_code
from tabwb.host.making import opened
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Cancel, ModelJudge
from tabwb.records.errors import ComponentError, Interrupted, TabwbError
from tabwb.records.events import Event
from tabwb.records.ratings import Scope
from tabwb.records.words import plural
from tabwb.store.store import Store


class Task:
    """A judge; its model is opened when it is first asked, and stays open until the end.

    Attributes:
        tallies: what was judged so far, one for each administration.
    """

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        spec: str,
        *,
        scope: Scope = "connected-text",
        repeats: int = 1,
        again: bool = False,
    ) -> None:
        self.judge = plugins.judge(spec)
        self.price = plugins.price_behind(self.judge)
        self.tallies: list[Tally] = []
        self.scope, self.repeats, self.again = scope, repeats, again
        self._store, self._plugins = store, plugins
        self._opened = False
        self._warned: set[str] = set()
        self._batteries: dict[str, Battery] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back the judge's model."""
        if isinstance(self.judge, ModelJudge):
            self.judge.close()

    def judging(self, number: int) -> Judging:
        """Return what is left to judge of an administration, without asking the judge."""
        return Judging(
            self._store,
            self._plugins,
            self._battery(number),
            number,
            self.judge,
            scope=self.scope,
            repeats=self.repeats,
            again=self.again,
            price=self.price,
        )

    def warnings(self, number: int) -> list[str]:
        """Return what the judge cannot rate in the battery or its language, each sentence once."""
        battery, judge = self._battery(number), self.judge
        said = [unknown_features(battery, judge)]
        if isinstance(judge, ModelJudge):
            said.append(english_prompt(battery, judge.rater))
        else:
            said += of_language(battery)
        new = [one for one in said if one and one not in self._warned]
        self._warned.update(new)
        return new

    def _battery(self, number: int) -> Battery:
        given = self._store.administration(number).battery_hash
        if given not in self._batteries:
            canonical = self._store.battery_canonical(given)
            self._batteries[given] = battery_from_canonical(canonical)
        return self._batteries[given]

    def run(self, judging: Judging, limits: Limits, cancel: Cancel) -> Generator[Event]:
        """Judge what is left of an administration; see :meth:`Judging.run`."""
        self.tallies.append(judging.tally)
        if not self._opened and isinstance(self.judge, ModelJudge) and judging.estimate().to_ask:
            self._open(self.judge, cancel)
            self._opened = True
        yield from judging.run(limits, cancel)

    @staticmethod
    def _open(judge: ModelJudge, cancel: Cancel) -> None:
        try:
            with plugin_code:
                opened(judge, cancel)
        except TabwbError:
            raise
        except Exception as error:
            raise ComponentError(
                f"open() of judge '{judge.rater}' failed: {error_words(error)}"
            ) from error


def check_verdicts(tasks: Iterable[Task], hint: str) -> None:
    """Check that calls of judges succeeded, and that some of their replies could be read."""
    by_rater: dict[str, list[Tally]] = {}
    for task in tasks:
        by_rater.setdefault(task.judge.rater, []).extend(task.tallies)
    for rater, tallies in by_rater.items():
        if failed := sum(tally.in_error for tally in tallies):
            problem = next(filter(None, (tally.problem for tally in tallies)), "")
            raise Interrupted(
                f"{plural(failed, 'call')} of {rater} failed: there is no verdict on the "
                f"responses; the first one: {problem}",
                hint=hint,
            )
    for rater, tallies in by_rater.items():
        judged, unparsed = _sums(tallies)
        if 0 < judged <= unparsed:
            raise TabwbError(
                f"{rater} gave no verdict: none of {plural(judged, 'reply', 'replies')} can be "
                "read",
                hint="the replies are kept (tabwb results ID --json); --again repeats the "
                "requests; another model or prompt may work better",
            )


def _sums(tallies: Sequence[Tally]) -> tuple[int, int]:
    return sum(one.judged for one in tallies), sum(one.unparsed for one in tallies)
