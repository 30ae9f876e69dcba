"""``bright-inspect judge``: decisions of annotators, kept in a journal, by script."""

from __future__ import annotations

import importlib

import click

# Command name -> one line for --help; the module is bright_inspect.cli.judge_{name}.
_COMMANDS = {
    "set": "Keep decisions: one by options, or many as JSON Lines on stdin.",
    "status": "Say how much is judged, by task and annotator.",
    "agreement": "Say how far annotators agree, and where they do not.",
    "export": "Write decisions as TREC qrels, JSON Lines or CSV.",
    "import": "Take in judgments of others: TREC qrels, JSON Lines, CSV, labels of a model.",
}


class _Judge(click.Group):
    """A group whose commands load on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"bright_inspect.cli.judge_{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Judge)
def command() -> None:
    """Keep, count, compare and hand over decisions: which document is relevant for which query, and who says so.

    They are lines of a journal that is only ever added to, bright-inspect.judgments.jsonl in the working folder unless
    --journal names another; what was acknowledged is on disk. eval, compare and others count them where --layer says
    so: mine:ANNOTATOR, majority, unanimous, union.
    """
