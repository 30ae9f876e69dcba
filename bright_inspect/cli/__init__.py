"""The command line. Each command is a module of its own, loaded when called, so that ``--version`` stays quick."""

from __future__ import annotations

import importlib
import io
import os
import sys

import click

from bright_inspect import __version__
from bright_inspect.errors import BrightInspectError

# Command name -> one line for --help; the module is bright_inspect.cli.{name}_command.
COMMANDS = {
    "open": "Open runs in the terminal program (also: bright-inspect RUN...).",
    "demo": "Open the demo data set that comes with the program.",
    "eval": "Score runs: means, n of N, and per query.",
    "compare": "Compare runs with a baseline: deltas, wins, ties, losses.",
    "explain": "Say where a query's value comes from, and what other tools make of it.",
    "verify": "Compare reported values with recomputed ones, and explain differences.",
    "layers": "List the layers of judgments, and in what two of them differ.",
    "variants": "List the texts that queries can be searched by, files of rewrites included.",
    "lens": "Say which added words moved which documents, query by query.",
    "judge": "Keep, count, compare and hand over decisions of annotators.",
    "retrieve": "Search a task's corpus for all of its queries, and keep the run.",
    "encode": "Encode a task's corpus for a dense retriever.",
    "models": "List the retrievers, rerankers and writers that can be used here.",
    "rewrite": "Rewrite a task's queries by a model, and keep them as a variant.",
    "rerank": "Rerank the top of a run by a model.",
    "fuse": "Fuse runs into one, by ranks or by scores.",
    "save": "Save runs and all that is shown with them as one DuckDB file, to hand over.",
    "check": "Say what is odd in run files, and what it changes.",
    "formats": "List the run formats that are read, with an example each.",
    "fetch": "Download a data set: bright-inspect fetch bright.",
}


class _CommandLine(click.Group):
    """A group whose commands load on use; a first argument that is no command means ``open``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"bright_inspect.cli.{cmd_name}_command")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] in COMMANDS else ["open", *args])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Options of open may come before the runs: bright-inspect --data DIR A B
        if args and args[0].startswith("-") and args[0] not in ("--help", "-h", "--version"):
            args = ["open", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The reader (head, less) has seen enough; Python must not complain again while it closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_CommandLine,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="bright-inspect")
@click.pass_context
def command_line(ctx: click.Context) -> None:
    """Read BRIGHT retrieval runs side by side: where they differ, and why.

    \b
    bright-inspect RUN...            open run files or folders; the last one is the baseline
    bright-inspect demo              open the demo
    bright-inspect COMMAND --help    what a command takes
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _complain(message: str, code: int) -> int:
    """One line on stderr, whatever the paths and texts in it hold."""
    from bright_inspect.domain.visible import visible

    click.echo(f"bright-inspect: {visible(message)}", err=True)
    return code


def main() -> None:
    """Run the command line.

    Exit codes: 0 done, 1 findings under --strict or queries without a rewrite, 2 usage or unreadable input, 130
    interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        # A path may hold bytes, and a terminal speak an encoding, that not every text can be written in.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = command_line.main(prog_name="bright-inspect", standalone_mode=False)
    except click.exceptions.Abort:
        code = 130
    except KeyboardInterrupt:
        code = 130
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "bright-inspect"
        code = _complain(f"{error.format_message()} Try: {command} --help", 2)
    except click.ClickException as error:
        code = _complain(error.format_message(), 2)
    except BrightInspectError as error:
        code = _complain(str(error), error.exit_code)
    except OSError as error:
        code = _complain(f"{error.filename or 'input or output'}: {error.strerror or error}.", 2)
    sys.exit(code if isinstance(code, int) else 0)
