"""``judge run``: judges rate stored responses, now or at any later time."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tabwb.operations.battery import Checked, CheckFile
from tabwb.operations.model import missing_extra, spec_shape
from tabwb.operations.operation import (
    EVERYTHING,
    MAX_COST,
    MAX_REQUESTS,
    WHERE,
    Arg,
    Ids,
    Operation,
    Progress,
    Told,
    Tools,
    check_chosen,
    numbers_of,
)
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.files import expanded
from tabwb.records.words import did_you_mean, plural

if TYPE_CHECKING:
    from tabwb.administer.cost import Limits
    from tabwb.administer.judging import Estimate, Judging, Task
    from tabwb.host.plugins import Plugins
    from tabwb.plugin_api.descriptors import Descriptor

AGAIN = "the same judging again asks about these"


@dataclass(frozen=True, kw_only=True)
class JudgeRun(Operation):
    """Judge the responses of administrations ID... (or --all, or those --where) with judges.

    Judged responses are skipped, interrupted ones continued. Exit status: 0 done, 1 no verdict of a
    judge could be read, 3 stopped early or with calls in error (a limit, ctrl+c, a model that does
    not answer); then repeat the command.
    """

    NAME, TITLE, DOING, TOLD = "judge run", "Judge", "Judging", "judged"
    ESTIMATE: ClassVar[str] = "Print every request and the estimate; send nothing."
    NOTE: ClassVar[str] = "Estimate shows requests and cost. Nothing is sent before Judge."
    CONTINUES: ClassVar[str] = "Judge continues with the responses that are left."
    ids: Annotated[
        Ids, Arg("Numbers or uids of administrations.", metavar="[ID]...", positional=True)
    ] = ()
    everything: Annotated[bool, EVERYTHING] = False
    where: Annotated[tuple[str, ...], WHERE] = ()
    judge: Annotated[
        tuple[str, ...],
        Arg(
            "A judge, for example tab-2026:gemini:gemini-2.5-flash; 'tabwb judge list' shows them.",
            "Judge", metavar="SPEC", kind="judges",
            more="A judge that asks a model is written with the model. **down** lists the known "
            "judges; type the model's name after the colon.",
        ),
    ] = ()  # fmt: skip
    scope: Annotated[
        Literal["connected-text", "all"],
        Arg(
            "The responses: connected text, or all (also choices, yes or no, repetitions).",
            "Scope", words=("connected text", "everything"),
            more="TAB's features are made for connected text.",
        ),
    ] = "connected-text"  # fmt: skip
    repeats: Annotated[
        int,
        Arg(
            "Judge this number of times without stored verdicts, and report the judge's agreement "
            "with itself. The first verdict counts.",
            "Repeats", "--repeat", low=1, high=100,
        ),
    ] = 1  # fmt: skip
    again: Annotated[
        bool,
        Arg("Judge again responses that this judge has judged.", "Answers",
            words=("not judged yet", "all again")),
    ] = False  # fmt: skip
    max_requests: Annotated[int | None, MAX_REQUESTS] = None
    max_cost: Annotated[float | None, MAX_COST] = None

    @property
    def about(self) -> str:
        """The judges and the administrations."""
        return f"{', '.join(self.judge)} on {', '.join(f'#{one}' for one in self.ids)}"

    @property
    def rest(self) -> Operation:
        """The responses that are not judged yet."""
        return replace(self, again=False)

    def check(self, plugins: Plugins) -> None:
        """Refuse limits that a judge cannot keep."""
        from tabwb.administer.cost import Limits
        from tabwb.administer.judging import check_limits

        check_chosen(self.ids, self.where, everything=self.everything)
        if not self.judge:
            raise UsageError(
                "no judge is given", where="judge",
                hint="without a network, for example: rules; 'tabwb judge list' shows all",
            )  # fmt: skip
        limits = Limits(self.max_requests, self.max_cost)
        for spec in self.judge if self.max_requests is not None else ():
            check_limits(plugins.judge(spec), limits)

    def estimate(self, tools: Tools) -> Progress:
        """Tell the number of requests, their tokens and cost, for each judge and administration."""
        rows = tools.document["judging"] = []
        for task in self._tasks(tools):
            for number in self._numbers(tools):
                judging = self._judging(tools, task, number)
                estimate = judging.estimate()
                row = _heading(task, number) | {"price": _price(task)} | _plain(estimate)
                if tools.detail and tools.keeps:
                    row["requests"] = [
                        {
                            "trial": trial,
                            "messages": [asdict(message) for message in request.messages],
                            "max_tokens": request.decoding.max_tokens,
                        }
                        for trial, request in judging.requests()
                    ]
                elif tools.detail:
                    for trial, request in judging.requests():
                        tools.show(f"--- administration {number}, trial {trial}")
                        for message in request.messages:
                            tools.show(f"[{message.role}]\n{message.content}")
                rows.append(row)
                yield _told(task, number, estimate)

    def run(self, tools: Tools) -> Progress:
        """Judge what is left, one judge after another."""
        from tabwb.administer.cost import Limits
        from tabwb.administer.judging import check_verdicts

        limits, tasks = Limits(self.max_requests, self.max_cost), []
        numbers = self._numbers(tools)
        try:
            for task in self._tasks(tools):
                tasks.append(task)
                for number in numbers:
                    with tools.locked(number):
                        limits = yield from self._judge(tools, task, number, limits)
        except Interrupted as error:
            raise Interrupted(error.message, hint=f"{tools.same} continues from here") from error
        check_verdicts(tasks, AGAIN)

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield how far a judge agrees with itself."""
        for row in document.get("judging", ()):
            for one in row.get("self_agreement", ()):
                share, kappa = (
                    "undefined" if one[name] is None else f"{one[name]:.2f}"
                    for name in ("percent", "kappa")
                )
                yield (
                    f"{one['feature']:32} same verdict {share} of {one['pairs']} pairs, "
                    f"kappa {kappa}"
                )

    def brief(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the mean agreement of a judge with itself."""
        for row in document.get("judging", ()):
            shares = [one["percent"] for one in row.get("self_agreement", ())]
            defined = [share for share in shares if share is not None]
            if defined:
                yield f"same verdict when asked again: {sum(defined) / len(defined):.2f} (mean)"

    def _numbers(self, tools: Tools) -> list[int]:
        return numbers_of(tools, self.ids, self.where, everything=self.everything)

    def _tasks(self, tools: Tools) -> Iterator[Task]:
        from tabwb.administer.judging import Task

        for spec in dict.fromkeys(self.judge):
            with Task(
                tools.store, tools.plugins, spec,
                scope=self.scope, repeats=self.repeats, again=self.again,
            ) as task:  # fmt: skip
                yield task

    def _judging(self, tools: Tools, task: Task, number: int) -> Judging:
        for warning in task.warnings(number):
            tools.warn(warning)
        return task.judging(number)

    def _judge(
        self, tools: Tools, task: Task, number: int, limits: Limits
    ) -> Generator[Told, None, Limits]:
        from tabwb.administer.judging import format_spent, format_tally
        from tabwb.records.events import JudgementRecorded, Waiting

        judging = self._judging(tools, task, number)
        estimate, tally = judging.estimate(), judging.tally
        planned = estimate.to_ask + estimate.duplicates + estimate.from_store
        yield _told(task, number, estimate)._replace(planned=planned)
        try:
            for event in task.run(judging, limits, tools.cancel):
                asked = tally.judged - tally.from_store
                if isinstance(event, Waiting):
                    words = f"{event.reason}: waiting {event.seconds:.0f} s"
                    yield Told(words, tally.judged, planned, waits=True, event=event)
                elif isinstance(event, JudgementRecorded):
                    spent = format_spent(tally)
                    yield Told(spent, tally.judged, planned, asked, event=event)
                else:
                    yield Told("", tally.judged, planned, event=event)
        finally:
            tools.document.setdefault("judging", []).append(self._row(tools, task, judging))
            tools.say(format_tally(tally))
        return limits.after(tally)

    def _row(self, tools: Tools, task: Task, judging: Judging) -> dict[str, Any]:
        row = _heading(task, judging.number) | _plain(judging.tally) | {"price": _price(task)}
        if self.repeats > 1:
            from tabwb.analysis.judges import self_agreement  # loads numpy

            judged = tools.store.judgements(judging.number)
            agreements = self_agreement(judged, task.judge.rater, task.judge.features)
            row["self_agreement"] = [_plain(one) for one in agreements]
        return row


def judged_after(
    tools: Tools,
    numbers: Sequence[int],
    judges: Sequence[str],
    limits: Limits | None = None,
    *,
    held: bool = False,
) -> Generator[Told, None, TabwbError | None]:
    """Let judges rate what was just stored, with what is left of limits.

    Return why one could not, to be raised when all else is done. ``held``: the caller holds the
    administrations.
    """
    if not judges:
        return None
    operation = JudgeRun(
        ids=tuple(numbers), judge=tuple(judges),
        max_requests=None if limits is None else limits.requests,
        max_cost=None if limits is None else limits.cost,
    )  # fmt: skip
    # What there is to warn of was said before the administration began.
    own = replace(tools, warn=lambda words: None, document={})
    if held:
        own.holds = lambda number: nullcontext()
    try:
        for told in operation.run(own):
            yield told._replace(what=JudgeRun.TOLD)
    except TabwbError as error:
        if isinstance(error, Interrupted):
            options = " ".join(f"--judge {judge}" for judge in judges)
            words = " ".join(map(str, numbers))
            error.hint = f"continue with: tabwb judge run {words} {options}"
        return error
    return None


def _heading(task: Task, number: int) -> dict[str, Any]:
    return {"administration": number, "rater": task.judge.rater, "scope": task.scope}


def _price(task: Task) -> str | None:
    return None if task.price is None else str(task.price)


def _told(task: Task, number: int, estimate: Estimate) -> Told:
    from tabwb.administer.judging import format_estimate

    part = f"{task.judge.rater}, administration {number}"
    return Told(format_estimate(estimate, task.price), part=part)


def _plain(record: Any) -> dict[str, Any]:
    return {key: value for key, value in asdict(record).items() if key != "price"}


# -------------------------------------------------------------------- judges and their prompts


@dataclass(frozen=True, kw_only=True)
class ListJudges(Operation):
    """List the judges: features, and what each needs."""

    NAME, TITLE = "judge list", "List"
    STORE: ClassVar[bool] = False

    def do(self, tools: Tools) -> None:
        """Read them."""
        plugins = tools.plugins
        tools.document["judges"] = [
            _row(plugins, one.descriptor, one.owner) for one in plugins.components("judges")
        ]

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each, then how they are written."""
        rows = document["judges"]
        width = max(len(row["spec"]) for row in rows)
        for row in rows:
            known = row["features"] is not None
            features = f"{plural(len(row['features']), 'feature'):>11}" if known else ""
            version = f", version {row['version']}" if row["version"] else ""
            yield f"{row['spec']:<{width}}  {features:<11}  {row['title']}{version}"
            if row["problem"]:
                yield row["problem"]
        yield (
            "\nCHAT-MODEL and LOCAL-MODEL are specs of models ('tabwb model list'); a LOCAL-MODEL"
            "\nmust give log probabilities. 'tabwb judge show ID' prints a prompt."
            "\n'bundled' cannot be a CHAT-MODEL: it does not write JSON, so 'tab-2026:bundled'"
            " leaves\nevery answer unparsed. Without a network, judge with 'rules' or\n"
            "'tab-2026+likelihood:bundled'."
        )


@dataclass(frozen=True, kw_only=True)
class ShowJudge(Operation):
    """Show the messages that judge ID sends to a model, for a sample response."""

    NAME, TITLE = "judge show", "Show"
    STORE: ClassVar[bool] = False
    judge: Annotated[str, Arg("Of the judge.", metavar="ID", positional=True)]
    response: Annotated[str, Arg("A sample response.")] = "I wanted a pa pen I mean pencil"
    prompt: Annotated[str, Arg("A sample prompt of an item.")] = "Tell me about your first job."

    def do(self, tools: Tools) -> None:
        """Fill the prompt."""
        descriptor, file = _found(tools.plugins, self.judge)
        tools.document |= _prompt_document(descriptor, file, self.response, self.prompt)

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what the prompt is, its messages, and how replies are read."""
        one = document
        yield f"{one['title']}  ({one['id']} {one['version']}, {one['license']})"
        yield f"{plural(len(one['features']), 'feature')}; {one['file']}"
        yield f"sha256 {one['prompt_sha256']}"
        for name in ("citation", "sources", "caution"):
            if one[name]:
                yield from ("", f"{name}: {one[name]}")
        for gap in one["known_gaps"]:
            yield f"known gap: {gap}"
        for message in one["messages"]:
            yield from ("", f"== {message['role']} ==", message["content"])
        yield ""
        if one["threshold"] is None:
            decoding = one["decoding"]
            yield "== user, once, after a reply that cannot be read =="
            yield from (one["repair"], "")
            most = decoding["max_tokens"]
            yield f"temperature {decoding['temperature']:g}, at most {most} tokens"
        else:
            yield (
                "then the JSON object is filled in key by key: 1 where its probability is above "
                f"{one['threshold']:g}"
            )
        if one["null"] is not None:
            yield f"calibrated on the passage {one['null']!r}"


@dataclass(frozen=True, kw_only=True)
class CheckPrompt(CheckFile):
    """Check the judge prompt FILE: every problem with its line.

    FILE is a path, or the id of an installed prompt. Exit status 1 if there is a problem.
    """

    NAME = "judge check"
    DIGEST: ClassVar[str] = "prompt_sha256"

    def checked(self, plugins: Plugins) -> Checked:
        """Return what was found."""
        from tabwb.host.judge_prompt_files import read_prompt
        from tabwb.host.judge_prompts import prompt_files, sha256

        file = expanded(self.file)
        if not file.exists():
            file = prompt_files()[0].get(self.file, file)
        prompt, problems = read_prompt(file)
        if prompt is None:
            return Checked(file, problems)
        features, examples = len(prompt.features), len(prompt.examples)
        return Checked(
            file,
            problems,
            (prompt.id, prompt.version, sha256(prompt.canonical)),
            f"{plural(features, 'feature')}, {plural(examples, 'example')}",
        )


def _row(plugins: Plugins, descriptor: Descriptor, owner: str) -> dict[str, Any]:
    from tabwb.host.judge_prompt_files import load_prompt

    row: dict[str, Any] = {
        "id": descriptor.id,
        "spec": spec_shape(descriptor),
        "aliases": list(descriptor.aliases),
        "title": descriptor.title,
        "version": None,
        "features": None,
        "needs": list(descriptor.needs),
        "missing": missing_extra(descriptor),
        "file": None,
        "owner": owner,
        "problem": None,
    }
    if row["missing"]:
        return row
    try:
        path = _file_of(descriptor)
        if path is not None:
            row["file"] = str(path)
            prompt = load_prompt(path)
            row |= {
                "title": prompt.title + _way(descriptor),
                "version": prompt.version,
                "features": list(prompt.feature_ids),
            }
        elif not descriptor.name_required:
            row["features"] = list(plugins.judge(descriptor.id).features)
    except TabwbError as error:
        row["problem"] = str(error)
    return row


def _way(descriptor: Descriptor) -> str:
    from tabwb.host.judge_prompts import LIKELIHOOD, NULL

    if descriptor.id.endswith(NULL):
        return ", by log probabilities, calibrated"
    return ", by log probabilities" if descriptor.id.endswith(LIKELIHOOD) else ""


def _file_of(descriptor: Descriptor) -> Path | None:
    from tabwb.host.judge_prompts import prompt_files, prompt_id

    return prompt_files()[0].get(prompt_id(descriptor.id))


def _found(plugins: Plugins, judge: str) -> tuple[Descriptor, Path]:
    descriptors = plugins.descriptors("judges")
    with_prompt = [descriptor.id for descriptor in descriptors if _file_of(descriptor)]
    for descriptor in descriptors:
        if judge in (descriptor.id, *descriptor.aliases):
            if file := _file_of(descriptor):
                return descriptor, file
            raise UsageError(
                f"'{descriptor.id}' has no prompt for a model", allowed=", ".join(with_prompt)
            )
    raise UsageError(
        f"there is no judge '{judge}'" + did_you_mean(judge, with_prompt),
        allowed=", ".join(with_prompt),
    )


def _prompt_document(
    descriptor: Descriptor, path: Path, response: str, item_prompt: str
) -> dict[str, Any]:
    from tabwb.host.judge_prompt_files import load_prompt
    from tabwb.host.judge_prompts import LIKELIHOOD, NULL, sha256

    prompt = load_prompt(path)
    calibrated = descriptor.id.endswith(NULL)
    weighs = calibrated or descriptor.id.endswith(LIKELIHOOD)
    text = prompt.weighed(calibrated=calibrated) if weighs else prompt.canonical
    return {
        "id": descriptor.id,
        "title": prompt.title,
        "version": prompt.version,
        "license": prompt.license,
        "citation": prompt.citation,
        "sources": prompt.sources,
        "caution": prompt.caution,
        "known_gaps": list(prompt.known_gaps),
        "file": str(path),
        "prompt_sha256": sha256(text),
        "prompt_text": text,
        "features": [{"id": feature.id, "key": feature.key} for feature in prompt.features],
        "messages": [asdict(message) for message in prompt.messages(response, item_prompt)],
        "repair": None if weighs else prompt.templates.repair,
        "decoding": None
        if weighs
        else {"temperature": prompt.temperature, "max_tokens": prompt.max_tokens},
        "threshold": prompt.threshold if weighs else None,
        "null": prompt.null if calibrated else None,
    }
