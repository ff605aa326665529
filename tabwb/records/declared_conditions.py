"""The declaration of each condition under which a battery is given.

A new condition is a field of :class:`~tabwb.records.conditions.Conditions` and its entry in
:data:`CONDITIONS`; the command line, the dialog, documents, exports and comparisons take it from
there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.records.condition_kinds import (
    MODEL,
    PERSON,
    SPOKEN,
    WRITTEN,
    Column,
    Comparison,
    Component,
    Components,
    Condition,
    Field,
    Ids,
    Line,
    OneOf,
    Option,
    Real,
    Switch,
    Text,
    Texts,
    Whole,
)
from tabwb.records.states import Protocol

if TYPE_CHECKING:
    from tabwb.records.conditions import Conditions

_GENERATE = "generate"
_TRANSCRIBER = "bundled-words"


def _token_limit(conditions: Conditions) -> str:
    limit = conditions.decoding.max_tokens
    if conditions.token_limits == "battery":
        return "the battery's token limits"
    return f"{limit} tokens" if conditions.token_limits == "run" else f"at most {limit} tokens"


_PART = Comparison("part", "part of the battery", bare=True)


def _part(conditions: Conditions) -> str:
    return conditions.part


def _draws(conditions: Conditions) -> bool:
    """Return whether anything may be drawn at random: a person has only orders."""
    orders = conditions.item_order, conditions.option_order
    return conditions.kind == "model" or "shuffled" in orders


CONDITIONS: tuple[Condition, ...] = (
    Condition(
        "seed",
        Whole(-(2**53), 2**53),  # what every store and every reader of JSON keeps exactly
        options=(
            Option("--seed", "The seed of random orders and sampling.", default=1),
            Option("--seed", "Of the items' order.", command="name", default=1),
        ),
        field=Field(
            "Seed",
            "of random orders and of sampling; greedy answers do not depend on it",
        ),
        column=Column("of the run; decoding_seed is the reply's own"),
        stored=True,
        line=Line("seed {}", always=_draws),
    ),
    Condition(
        "temperature",
        Real(0, 10),
        path="decoding.temperature",
        given_to=MODEL,
        options=(Option("--temperature", "0 is greedy decoding.", default=0.0),),
        field=Field(
            "Temperature", "0 is greedy decoding; above 0 answers are sampled, by the seed"
        ),
        column=Column("sent with this response's request; 0 is greedy"),
        words=lambda conditions: conditions.drawn,
        line=Line(always=lambda conditions: True),
        comparison=Comparison("decoding", "decoding", bare=True),
    ),
    Condition(
        "top_p",
        Real(0, 1, above=True),
        path="decoding.top_p",
        given_to=MODEL,
        options=(Option("--top-p", None, default=1.0),),
        field=Field("Top p", "nucleus mass, above 0 to 1"),
        column=Column("sent with this request; empty if it was not", "probability"),
        words=lambda conditions: conditions.drawn,
        comparison=Comparison("decoding", "decoding", bare=True),
    ),
    Condition(
        "max_tokens",
        Whole(1, 100_000, optional=True),
        path="decoding.max_tokens",
        given_to=MODEL,
        options=(
            Option(
                "--max-tokens",
                "Token limit of every reply, instead of the battery's own limits. Without it each "
                "subtest's limit holds, and 256 where it has none.",
            ),
        ),
        field=Field(
            "Max tokens",
            "token limit of every reply; empty: the battery's limits (256 where it has none)",
            "as in the battery",
        ),
        # Where each subtest has its own, no one number is true of the whole.
        reported=lambda conditions: (
            None if conditions.token_limits == "battery" else conditions.decoding.max_tokens
        ),
        column=Column("token limit sent with this request", "tokens"),
        words=_token_limit,
        comparison=Comparison("limits", "token limits", bare=True, stated="decoding"),
    ),
    Condition(
        "token_limits",
        OneOf({"battery": "", "run": "", "smaller": ""}),
        key="decoding.token_limits",
        given_to=MODEL,
        before="smaller",  # the only rule before there was a choice
        words=_token_limit,
        comparison=Comparison("limits", "token limits", bare=True, stated="decoding"),
    ),
    Condition(
        "stop",
        Texts(),
        path="decoding.stop",
        given_to=MODEL,
        options=(Option("--stop", "Ends a reply; repeatable.", metavar="TEXT"),),
        field=Field(
            "Stop sequences",
            "texts that end a reply, two spaces between them; \\n is a new line",
        ),
        column=Column("stop sequences of this request"),
        words=lambda conditions: " | ".join(conditions.decoding.stop),
        comparison=Comparison("stop", "stop sequences", stated=""),
    ),
    Condition(
        "replicates",
        Whole(1, 100_000),
        given_to=WRITTEN,
        options=(
            Option(
                "--replicates",
                "Number of times each item is given. Default: 1; for replay:FILE as in the file.",
            ),
        ),
        field=Field("Replicates", "how often each item is given; greedy answers repeat themselves"),
        column=Column("the planned number of times of each item"),
        line=Line("{} replicates"),
    ),
    Condition(
        "protocol",
        OneOf(
            {
                _GENERATE: "written freely (generate)",
                "enforced": "held to the options (enforced)",
                "likelihood": "the likeliest option (likelihood)",
            },
            Protocol,
        ),
        given_to=MODEL,
        options=(
            Option(
                "--protocol",
                "How a model answers items with options: freely, restricted to the options, or by "
                "the likeliest option. Items without options are always answered freely.",
                default=_GENERATE,
            ),
        ),
        field=Field(
            "Answers", "how items with options are answered; the others are always answered freely"
        ),
        column=Column("of the run: generate, enforced or likelihood"),
        stored=True,
        line=Line("protocol {}", always=lambda conditions: True),
        comparison=Comparison("protocol", "protocol"),
    ),
    Condition(
        "lesion",
        Text(),
        given_to=MODEL,
        options=(
            Option(
                "--lesion",
                "Lesion of the model: TARGET:OP[:AMOUNT][@key=value,...], several joined by +, for "
                "example mlp.down:zero:0.3@seed=7. 'tabwb lesion targets' lists what a model has.",
                metavar="SPEC",
            ),
        ),
        field=Field(
            "Lesion",
            "TARGET:OPERATION[:AMOUNT][@key=value,...], for example mlp.down:zero:0.3@seed=7; "
            "empty: the intact model. The laboratory (b on the first page) makes such a spec",
            "none",
        ),
        column=Column("the lesion's spec"),
        stored=True,
        line=Line("lesion {}"),
        comparison=Comparison("lesion", "lesion", stated=""),
    ),
    Condition(
        "prompt_noise",
        Text(),
        given_to=MODEL,
        options=(
            Option(
                "--prompt-noise",
                "Perturbation of the items' texts: UNIT:OPERATION[:AMOUNT][@seed=N], for example "
                "words:drop:0.2@seed=3 or characters:swap:0.1. Options and instructions stay.",
                metavar="SPEC",
            ),
        ),
        column=Column("the spec of the perturbation of the items' texts"),
        line=Line("prompt noise {}"),
        comparison=Comparison("prompt-noise", "prompt noise"),
    ),
    Condition(
        "system_message",
        Text(),
        given_to=MODEL,
        options=(
            Option(
                "--system",
                "Send this system message in place of the battery's; 'none' sends no system "
                "message.",
                metavar="TEXT",
            ),
        ),
        column=Column("the system message sent in place of the battery's, or none"),
        line=Line("system message {}"),
        comparison=Comparison("system-message", "system message"),
    ),
    Condition(
        "conversation",
        Switch("fresh for each", "one conversation"),
        given_to=MODEL,
        options=(Option("--conversation", "Keep one context over all items."),),
        field=Field(
            "Context", "one conversation: earlier items and answers are sent before each prompt"
        ),
        column=Column("whether the context contains the earlier items"),
        words=lambda conditions: "one conversation" if conditions.conversation else "item by item",
        line=Line(),
        comparison=Comparison("context", "context", bare=True),
    ),
    Condition(
        "item_order",
        OneOf({"as-given": "as given", "shuffled": "shuffled"}),
        options=tuple(
            Option(
                "--shuffle-items",
                "Shuffle items within their subtest.",
                command=command,
                value="shuffled",
            )
            for command in ("run", "name")
        ),
        field=Field("Items", "items keep to their subtest"),
        column=Column("as-given or shuffled"),
        line=Line("items {}"),
        # The order matters only in one conversation: elsewhere each item is sent by itself.
        comparison=Comparison(
            "items", "item order", applies=lambda conditions: conditions.conversation
        ),
    ),
    Condition(
        "option_order",
        OneOf({"as-given": "as given", "shuffled": "shuffled", "rotated": "in all rotations"}),
        given_to=WRITTEN,
        options=(
            Option("--shuffle-options", "Shuffle the options of each item.", value="shuffled"),
            Option("--rotate-options", "Give each item in all its rotations.", value="rotated"),
        ),
        field=Field(
            "Options", "in all rotations: each item once for every rotation of its options"
        ),
        column=Column("as-given, shuffled or rotated"),
        line=Line("options {}"),
        comparison=Comparison("options", "option order"),
    ),
    Condition(
        "part_subtests",
        Ids(),
        given_to=WRITTEN,
        options=(Option("--subtest", "Give only this subtest; repeatable.", metavar="ID"),),
        field=Field("Subtests", "ids of the subtests to give, with spaces between; empty: all"),
        column=Column("the subtests given; empty: all"),
        words=_part,
        line=Line(),
        comparison=_PART,
    ),
    Condition(
        "part_items",
        Ids(),
        given_to=WRITTEN,
        options=(
            Option(
                "--item",
                "Give only this item; repeatable. SUBTEST/ITEM if the id is not unique.",
                metavar="ID",
            ),
        ),
        field=Field("Items only", "ids of the items to give, with spaces between; empty: all"),
        column=Column("the items given; empty: all"),
        words=_part,
        comparison=_PART,
    ),
    Condition(
        "part_limit",
        Whole(1, 100_000, optional=True),
        given_to=WRITTEN,
        options=(
            Option("--limit", "Give only this number of items of each subtest, the first ones."),
        ),
        field=Field(
            "Item limit", "number of items of each subtest, the first ones; empty: all", "all"
        ),
        column=Column("the number of items of each subtest; empty: all", "items"),
        words=_part,
        comparison=_PART,
    ),
    Condition(
        "research_protocol",
        Text(),
        given_to=PERSON,
        options=(
            Option(
                "--research-protocol",
                "The protocol under which a battery made for models is given to a person.",
                metavar="ID",
            ),
        ),
        field=Field(
            "Protocol ID", "the approved protocol under which this battery is given to a person"
        ),
        column=Column("the protocol under which a person took a battery for models"),
        stored=True,
        line=Line("research protocol {}"),
    ),
    Condition(
        "judges",
        Components("judges"),
        given_to=WRITTEN | {"described"},
        asked=("rules",),
        otherwise=(),
        options=(
            Option(
                "--judge",
                "Judge of connected text; repeatable. Default: rules. 'none': no judge.",
                metavar="SPEC",
            ),
        ),
        field=Field(
            "Judges",
            "specs of judges with spaces between, or none; down lists them; one that asks a model "
            "is named with it (tab-2026:gemini:gemini-2.5-flash) and judges afterwards",
        ),
    ),
    Condition(
        "transcriber",
        Component("transcribers"),
        given_to=SPOKEN,
        asked=_TRANSCRIBER,
        options=(
            Option(
                "--transcriber",
                "The transcriber of the responses; 'none': no transcription. With --resume: the "
                "transcriber from now on.",
                command="name",
                metavar="SPEC",
                default=_TRANSCRIBER,
            ),
        ),
        field=Field(
            "Transcriber", "what hears the responses, a draft; or none: descriptions are then typed"
        ),
        key="",
    ),
    Condition(
        "rater",
        Text(""),
        given_to=SPOKEN,
        options=(
            Option(
                "--rater",
                "Rater code of the person who scores by ear.",
                command="name",
                metavar="ID",
            ),
        ),
        field=Field("Scored by", "the rater code of the person who scores by ear; may be empty"),
        key="",
    ),
)
"""Every condition, in the order in which documents, tables and screens have them."""


SUBJECT = frozenset(
    {
        *("examinee", "kind", "decoding", "labels"),
        *("origin", "participant", "session_date", "unknown"),
    }
)
"""Fields of the record that say who was given a battery and when; ``decoding`` holds conditions."""
