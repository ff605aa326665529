"""``tabwb``: one module per command group, each imported when it is called and not before."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

import click

import tabwb
from tabwb.cli import process
from tabwb.cli.common import (
    fail,
    note,
    offline_option,
    reset_verbosity,
    shortened,
    store_option,
    verbosity_options,
)
from tabwb.records import system
from tabwb.records.errors import TabwbError, error_text
from tabwb.records.system import switch_telemetry_off
from tabwb.records.words import near

Workbench = Callable[[str | None, bool, str | None, str | None], int]
"""Opens the workbench: store, offline, battery and model to begin with; gives the exit status."""
SpeakerView = Callable[[str | None], int]
"""Shows the picture of a naming administration alone: store; gives the exit status."""
RatingPage = Callable[[str | None, str, str], int]
"""Opens the rating page alone: store, uid of the set, code of the rater; gives the exit status."""
Faces = tuple[Workbench, SpeakerView, RatingPage | None]
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("run", "Give a battery to a model or to a person who types."),
    "name": ("naming", "Give a naming battery to a person: from files or through the microphone."),
    "resume": ("run", "Resume an administration; answered items are not given again."),
    "results": ("results", "Show results, or list administrations."),
    "responses": ("results", "Show what was said, and the words on which features were found."),
    "tag": ("groups", "Give titles and tags to administrations."),
    "diff": ("results", "Compare two examinees on the same items."),
    "change": ("results", "Compare the sessions of one participant, item by item."),
    "export": ("groups", "Write results to a file."),
    "report": ("groups", "Write methods, tables and figures into one file."),
    "figure": ("groups", "Draw a figure for a paper."),
    "speaker": ("speaker", "Manage speakers: records, consents, log, deletion."),
    "import": ("groups", "Read answers from tables and logs of other tools, and spoken naming."),
    "trial": ("groups", "Declare a trial void, write a note, undo, rescore."),
    "judge": ("agreement", "Judge stored responses, compare judges, show their prompts."),
    "rate": ("rate", "Plan rating sets, rate them, settle disagreements."),
    "agreement": ("agreement", "Show how far raters agree: people, judges, listeners."),
    "serve": ("rate", "Let raters rate in a browser."),
    "transcribe": ("groups", "Transcribe sound files to phonemes."),
    "phonemes": ("phonemes", "Score phoneme transcripts against references."),
    "reproduce": ("groups", "Compute the printed values of a paper again and compare them."),
    "microphone": ("microphone", "List and test microphones."),
    "model": ("groups", "List models, write profiles, test a model."),
    "lesion": ("groups", "Show which parts of a model can be lesioned, and what a lesion changes."),
    "battery": ("battery", "List, show, check and write batteries."),
    "key": ("key", "Keep keys of remote services in the system keyring."),
    "plugins": ("plugins", "List, write and trust plugins."),
    "trust": ("plugins", "Trust the tabwb.toml of a folder."),
    "norms": (
        "groups",
        "List, add and make norms: groups with which people's values are compared.",
    ),
    "store": ("groups", "Manage the store: info, backup, check."),
    "doctor": ("doctor", "Check this installation and show remedies."),
}
"""Command: (module in tabwb.cli, help). The help is here so that --help imports nothing."""


class ReaderGone(Exception):
    """Nobody reads stdout any more. Click would end the process itself at a BrokenPipeError."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGone from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command of :data:`COMMANDS`, or one of a plugin."""
        if cmd_name not in COMMANDS:
            from tabwb.cli.plugins import plugin_command

            return plugin_command(cmd_name)
        module = importlib.import_module(f"tabwb.cli.{COMMANDS[cmd_name][0]}")
        command = getattr(module, cmd_name, None) or module.made(cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])
        formatter.write_paragraph()
        formatter.write_text("'tabwb plugins list' shows the commands of plugins.")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            meant = near(args[0], COMMANDS)
            hint = f" Did you mean '{meant}'?" if meant else ""
            raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx) from None


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(tabwb.__version__, prog_name="tabwb")
@click.option(
    "--demo",
    is_flag=True,
    help="Open with the demonstration: TAB, intact and lesioned, and the dial.",
)
@click.option(
    "--speaker-view",
    is_flag=True,
    help="In a second terminal: show only the participant's view, to type there.",
)
@verbosity_options
@store_option
@offline_option
@click.pass_context
def cli(
    context: click.Context,
    demo: bool,
    speaker_view: bool,
    store_location: str | None,
    offline: bool | None,
) -> None:
    """A workbench for aphasia batteries.

    Without a command the workbench opens. tabwb is an instrument for research. It is not a medical
    device and does not diagnose.
    """
    if context.invoked_subcommand is not None:
        context.with_resource(process.own_interrupts())
        if store_location is not None:
            os.environ["TABWB_STORE"] = store_location
        if offline:
            os.environ["TABWB_OFFLINE"] = "1"
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        if not demo:
            raise click.UsageError(
                "the workbench needs a terminal. Use a command, for example "
                "'tabwb run tab --model bundled' ('tabwb --help' lists them)."
            )
        headless = importlib.import_module("tabwb.cli.run").run
        context.invoke(
            headless, battery="tab", model="bundled", store_location=store_location, offline=offline
        )
        return
    faces: Faces | None = context.obj
    if faces is None:
        raise click.UsageError(
            "the workbench is not part of this call; start it with the program 'tabwb'"
        )
    workbench, view, _ = faces
    if speaker_view:
        context.exit(view(store_location))
    battery, model = ("tab", "bundled") if demo else (None, None)
    context.exit(workbench(store_location, bool(offline), battery, model))


def main(
    arguments: Sequence[str] | None = None,
    workbench: Workbench | None = None,
    speaker_view: SpeakerView | None = None,
    rating_page: RatingPage | None = None,
) -> int:
    """Run the command line."""
    process.prepare()
    switch_telemetry_off(os.environ)  # before a plugin can import onnxruntime
    reset_verbosity()
    faces = (workbench, speaker_view, rating_page) if workbench and speaker_view else None
    status = _guarded(lambda: _command(arguments, faces))
    # What is still in the buffer may be refused too; the first thing that went wrong is reported.
    if not sys.stdout.closed:  # a command of a plugin may close it
        status = status or _guarded(sys.stdout.flush)
    if arguments is None:
        process.end(status)
    return status


def _command(arguments: Sequence[str] | None, faces: Faces | None) -> object:
    # Help runs no plugin; starting the watchdog would take a tenth of its time.
    if arguments is None and not {"-h", "--help", "--version"}.intersection(sys.argv):
        process.watch()
    return cli.main(
        args=None if arguments is None else list(arguments),
        prog_name="tabwb",
        standalone_mode=False,
        obj=faces,
    )


def _guarded(work: Callable[[], object]) -> int:
    try:
        status = work()
        return status if isinstance(status, int) else 0
    except TabwbError as error:
        return fail(error)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        with suppress(OSError):
            click.echo(shortened(shown.getvalue()), err=True, nl=False)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort) as stopped:
        words = str(stopped.__cause__ or stopped)  # click raises its own from ours
        note(f"stopped: {words}" if words else "stopped")
        return 130
    except (ReaderGone, BrokenPipeError):
        # A pager or head stopped reading: what it wanted it has.
        process.give_up(sys.stdout)
        return 0
    except OSError as error:
        if os.environ.get("TABWB_DEBUG"):
            raise
        process.give_up(sys.stdout)
        if (exhausted := system.exhausted(error)) is not None:
            return fail(exhausted)
        # Only asking for the current folder fails without a name and with this error.
        place = "the current folder" if isinstance(error, FileNotFoundError) else "output"
        if error.filename is not None:
            place = os.fsdecode(error.filename)
        reason = error.strerror or str(error)
        return fail(TabwbError(f"cannot be read or written: {reason}", where=place))
    except Exception as error:  # the outermost edge: one message, no traceback
        if os.environ.get("TABWB_DEBUG"):
            raise
        if (exhausted := system.exhausted(error)) is not None:
            error.__traceback__ = None  # frees what the command held
            return fail(exhausted)
        return fail(
            TabwbError(
                f"unexpected {error_text(error)}",
                hint="the store may be damaged: 'tabwb store check'; where it is whole, this is a "
                "defect in tabwb or a plugin, and TABWB_DEBUG=1 shows its location",
            )
        )


if __name__ == "__main__":
    raise SystemExit(main())
