"""Every key, once: the footer, the help screen, the README's table and the user's remapping come from this table.

The ids are for users' key files: they do not change without a note in the changelog.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs
from textual.binding import Binding, BindingType

from bright_inspect.errors import UsageError

Scope = Literal[
    "everywhere",
    "overview",
    "queries",
    "inspect",
    "audit",
    "live",
    "explain",
    "ablation",
    "triage",
    "lens",
    "trace",
    "variants",
    "lists",
    "reader",
]


@dataclass(frozen=True, slots=True)
class Key:
    """One thing a key does. ``keys`` are Textual's names, separated by commas; ``action`` is the screen's."""

    id: str
    keys: str
    action: str
    label: str
    help: str
    scope: Scope
    shown: bool = False


KEYS: tuple[Key, ...] = (
    Key("help", "question_mark,f1", "app.help", "help", "this list: keys, marks, filter terms", "everywhere", True),
    Key("palette", "colon", "app.command_palette", "commands", "search everything that is possible now", "everywhere"),
    Key("back", "q,escape", "app.back", "back", "leave this level, at last the program", "everywhere", True),
    Key("audit", "a", "app.audit", "audit",
        "where the value under the cursor comes from, and what other tools make of it",
        "everywhere", True),
    Key("variants", "v", "app.variants", "variants",
        "what each variant of the queries does to the runs; on a query, what a rewrite of it did",
        "everywhere", True),
    Key("findings", "exclamation_mark", "app.findings", "findings", "what was odd in the files, and what it changes",
        "everywhere", True),
    Key("measure", "M", "app.choose_measure", "measure", "choose measure and cutoff", "everywhere", True),
    Key("layers", "L", "app.choose_layer", "layers", "which judgments count, and what another layer changes",
        "everywhere"),
    Key("baseline", "b", "app.next_baseline", "baseline", "make the next run the baseline; every Δ is signed anew",
        "everywhere", True),
    Key("compared", "c", "app.next_run", "compare", "compare the next run with the baseline", "everywhere"),
    Key("triage", "J", "app.triage", "judge", "judge the unjudged documents of these queries, one by one",
        "everywhere", True),
    Key("save", "W", "app.save_session", "save", "save the session as one file, which bright-inspect opens again",
        "everywhere"),
    Key("theme", "T", "app.next_theme", "theme", "dark, light, or the terminal's own colours", "everywhere"),
    Key("all-queries", "A", "all_queries", "all queries", "the queries of all tasks in one list", "overview", True),
    Key("largest", "equals_sign", "sort_change", "|Δ|", "largest |Δ| first", "queries", True),
    Key("worst", "less_than_sign", "sort_worst", "worst", "largest losses first", "queries", True),
    Key("best", "greater_than_sign", "sort_best", "best", "largest wins first", "queries", True),
    Key("filter", "slash", "filter", "filter", "show only queries with these words or terms", "queries", True),
    Key("sort", "s", "next_sort", "sort", "sort by the next column (or click its title)", "queries", True),
    Key("reverse", "S", "reverse_sort", "reverse", "turn the order around", "queries"),
    Key("next-query", "n", "next_query", "next", "next query of the list", "inspect", True),
    Key("previous-query", "p", "previous_query", "previous", "previous query of the list", "inspect", True),
    Key("next-gold", "right_square_bracket", "next_gold(1)", "gold", "next gold", "inspect", True),
    Key("previous-gold", "left_square_bracket", "next_gold(-1)", "gold", "previous gold", "inspect"),
    Key("next-unjudged", "u", "next_unjudged(1)", "unjudged", "next unjudged document of the list", "inspect", True),
    Key("previous-unjudged", "U", "next_unjudged(-1)", "unjudged", "previous unjudged document", "inspect"),
    Key("next-pane", "tab", "app.focus_next", "pane", "next list, or the reader", "inspect", True),
    Key("next-tab", "right,l", "next_tab(1)", "tab", "next tab of the reader", "inspect", True),
    Key("previous-tab", "left,h", "next_tab(-1)", "tab", "previous tab of the reader", "inspect"),
    Key("merged", "m", "toggle_merged", "merged", "all lists as one, or side by side", "inspect", True),
    Key("full-reader", "d", "toggle_full", "full", "the reader over the whole screen, and back", "inspect", True),
    Key("copy-id", "y", "copy_id", "copy id", "copy the document's id (OSC 52)", "inspect"),
    Key("copy-text", "Y", "copy_text", "copy text", "copy the text in the reader (OSC 52)", "inspect"),
    Key("inspect-judge-0", "0", "app.judge(0)", "not", "judge the document: not relevant", "inspect"),
    Key("inspect-judge-1", "1", "app.judge(1)", "relevant", "judge the document: relevant", "inspect"),
    Key("inspect-judge-2", "2", "app.judge(2)", "2", "judge the document: relevant, grade 2", "inspect"),
    Key("inspect-judge-3", "3", "app.judge(3)", "3", "judge the document: relevant, grade 3", "inspect"),
    Key("inspect-tag", "t", "app.tag_query", "tag", "put a tag on the query; tag: in a filter finds it", "inspect"),
    Key("inspect-note", "semicolon", "app.note_query", "note", "write a note on the query", "inspect"),
    Key("inspect-undo", "z", "app.take_back", "undo", "take your last decision back, at any depth", "inspect"),
    Key("explain", "e", "app.explain", "explain",
        "why bm25, or what searched live last, scores the document as it does", "inspect", True),
    Key("trace", "o", "app.trace", "outline", "read a rewrite, the reasoning or a reranker's words by its outline",
        "inspect"),
    Key("live", "r", "app.live", "run live", "search the query again, edited or not; the new list beside the run's",
        "inspect", True),
    Key("live-search", "f5", "search", "search", "search the text as it is now", "live", True),
    Key("live-variant", "f2", "next_variant", "text", "the text of the next variant", "live", True),
    Key("live-retriever", "f3", "choose_retriever", "retriever", "choose what searches", "live", True),
    Key("live-rerank", "f4", "choose_reranker", "rerank", "choose what reranks the top 100, or nothing", "live", True),
    Key("live-restrict", "f6", "restrict", "restrict",
        "the stored lists among the documents that were searched, and back", "live", True),
    Key("live-depth", "f7", "next_depth", "depth", "ask for 10, 100 or 1,000 documents", "live"),
    Key("live-keep", "f8", "keep", "keep", "keep the new list as a run file below runs/live", "live", True),
    Key("live-ablate", "f9", "ablate", "sentences", "search without each sentence of the text in turn", "live", True),
    Key("live-rewrite", "f10", "rewrite", "rewrite", "have a model rewrite the text, by a prompt to edit", "live",
        True),
    Key("live-text-before", "f12", "text_before", "text before", "the text before the rewrite, and back", "live"),
    Key("live-explain", "e", "explain", "explain", "why the document under the cursor is scored as it is", "live",
        True),
    Key("live-copy-id", "y", "copy_id", "copy id", "copy the document's id (OSC 52)", "live"),
    Key("live-copy-text", "Y", "copy_text", "copy text", "copy the text in the reader (OSC 52)", "live"),
    Key("explain-pane", "tab", "app.focus_next", "pane", "the table, or the document", "explain", True),
    Key("explain-copy-id", "y", "copy_id", "copy id", "copy the document's id (OSC 52)", "explain", True),
    Key("explain-copy-text", "Y", "copy_text", "copy text", "copy the document's text (OSC 52)", "explain"),
    Key("ablation-pane", "tab", "app.focus_next", "pane", "the table, or the query", "ablation", True),
    Key("audit-run", "o", "next_run_here", "other run", "the same of the next run", "audit", True),
    Key("audit-next-table", "right,l", "next_tab(1)", "table", "next table", "audit", True),
    Key("audit-previous-table", "left,h", "next_tab(-1)", "table", "previous table", "audit"),
    Key("judge-0", "0", "judge(0)", "not", "not relevant", "triage", True),
    Key("judge-1", "1", "judge(1)", "relevant", "relevant", "triage", True),
    Key("judge-2", "2", "judge(2)", "2", "relevant, grade 2", "triage"),
    Key("judge-3", "3", "judge(3)", "3", "relevant, grade 3", "triage"),
    Key("judge-unsure", "x", "judge(-1)", "unsure", "unsure: it stays unjudged in every layer", "triage", True),
    Key("judge-skip", "s", "skip", "skip", "leave it for now; that is kept too", "triage", True),
    Key("judge-undo", "z", "undo", "undo", "take the last decision back, at any depth", "triage", True),
    Key("judge-next-text", "tab", "next_text", "text", "query, reasoning, golds", "triage", True),
    Key("judge-what-if", "w", "what_if", "runs", "what the judgments do to the runs, what each does, and back",
        "triage", True),
    Key("judge-note", "semicolon", "note", "note", "a note that is kept with the decision", "triage", True),
    Key("judge-why", "apostrophe", "why", "why", "why it helps, kept with the decision", "triage"),
    Key("judge-tag", "t", "tag", "tag", "a tag that is kept with the decision", "triage", True),
    Key("judge-next", "n", "next_item", "next", "pass it over; it comes round again", "triage"),
    Key("judge-previous", "p", "previous_item", "previous", "the document shown before", "triage"),
    Key("judge-guidelines", "i", "guidelines", "guidelines", "the project's guidelines", "triage"),
    Key("judge-copy-id", "y", "copy_id", "copy id", "copy the document's id (OSC 52)", "triage"),
    Key("lens-next-tab", "right,l", "next_tab(1)", "table", "words, bridges, drift, documents, shared passages", "lens",
        True),
    Key("lens-previous-tab", "left,h", "next_tab(-1)", "table", "previous table", "lens"),
    Key("lens-variant", "f2", "next_variant", "rewrite", "the next rewrite of the query", "lens", True),
    Key("lens-retriever", "f3", "next_retriever", "BM25", "BM25 in another of its three forms", "lens", True),
    Key("lens-inline", "d", "toggle_inline", "one text", "both texts as one, with what went and came; and back", "lens",
        True),
    Key("lens-next-query", "n", "next_query(1)", "next", "next query of the list", "lens", True),
    Key("lens-previous-query", "p", "next_query(-1)", "previous", "previous query of the list", "lens", True),
    Key("lens-pane", "tab", "app.focus_next", "pane", "the table, or one of the texts", "lens", True),
    Key("lens-trace", "o", "app.trace", "outline", "read the rewrite, or any trace, by its outline", "lens", True),
    Key("lens-sentences", "f9", "sentences", "sentences",
        "search the rewrite without each of its sentences, by what searched live last", "lens", True),
    Key("lens-inspect", "i", "inspect", "lists", "the lists of the runs for this query", "lens", True),
    Key("lens-live", "r", "live", "run live", "search the query again, edited or not", "lens", True),
    Key("lens-look", "f5", "look", "search", "search both texts again, if that was stopped", "lens"),
    Key("lens-copy-id", "y", "copy_id", "copy id", "copy the document's id (OSC 52)", "lens"),
    Key("lens-copy-text", "Y", "copy_text", "copy text", "copy the text in the right reader (OSC 52)", "lens"),
    Key("trace-search", "slash", "search", "find", "find words in the text", "trace", True),
    Key("trace-next-match", "n", "next_match(1)", "next", "next place of what was found", "trace", True),
    Key("trace-previous-match", "p", "next_match(-1)", "previous", "previous place of what was found", "trace", True),
    Key("trace-fold", "f", "fold", "fold", "fold the part with what is below it, or open it (Enter too)", "trace",
        True),
    Key("trace-fold-all", "z", "fold_thoughts", "final only", "fold all but the final text, or open everything",
        "trace", True),
    Key("trace-next", "o", "next_trace", "other text", "rewrites, reasoning, gold answer, reranker's words, the query",
        "trace", True),
    Key("trace-copy", "y", "copy_final", "copy", "copy the final text, or the whole where there is none (OSC 52)",
        "trace"),
    Key("trace-pane", "tab", "app.focus_next", "pane", "the outline, or the text", "trace", True),
    Key("variants-table", "tab", "next_table", "table", "the tasks, or the queries", "variants", True),
    Key("variants-next", "right,l", "shift_runs(1)", "more runs", "the runs further right, where not all fit",
        "variants", True),
    Key("variants-previous", "left,h", "shift_runs(-1)", "runs", "the runs further left", "variants"),
    Key("variants-filter", "slash", "filter", "filter", "show only queries with these words or terms", "variants",
        True),
    Key("variants-sort", "s", "next_sort", "sort", "sort by the next column (or click its title)", "variants", True),
    Key("variants-reverse", "S", "reverse_sort", "reverse", "turn the order around", "variants"),
    Key("variants-spread", "equals_sign", "sort_spread", "spread",
        "queries between whose variants most lies first; tasks in their order", "variants", True),
    Key("variants-loss", "less_than_sign", "sort_loss", "loss", "what a variant harms most first", "variants", True),
    Key("variants-gain", "greater_than_sign", "sort_gain", "gain", "what a variant helps most first", "variants", True),
    Key("variants-name", "V", "name_variant", "name variant", "say which variant a run was made with", "variants",
        True),
    Key("table-up", "up,k", "", "", "up", "lists"),
    Key("table-down", "down,j", "", "", "down", "lists"),
    Key("table-page-up", "pageup", "", "", "a page up", "lists"),
    Key("table-page-down", "pagedown", "", "", "a page down", "lists"),
    Key("table-first", "home,g", "", "", "first row", "lists"),
    Key("table-last", "end,G", "", "", "last row", "lists"),
    Key("table-choose", "enter", "", "", "open what is under the cursor", "lists"),
    Key("reader-up", "up,k", "", "", "a line up", "reader"),
    Key("reader-down", "down,j", "", "", "a line down", "reader"),
    Key("reader-page-up", "pageup", "", "", "a page up", "reader"),
    Key("reader-page-down", "pagedown,space", "", "", "a page down", "reader"),
    Key("reader-first", "home,g", "", "", "top of the text", "reader"),
    Key("reader-last", "end,G", "", "", "end of the text", "reader"),
)  # fmt: skip

SCOPE_TITLES: dict[Scope, str] = {
    "everywhere": "everywhere",
    "overview": "overview",
    "queries": "queries",
    "inspect": "inspect",
    "audit": "audit",
    "live": "live",
    "explain": "explain",
    "ablation": "sentences",
    "triage": "triage",
    "lens": "lens",
    "trace": "outline",
    "variants": "variants",
    "lists": "in a list",
    "reader": "in the reader",
}
_DISPLAY = {
    "question_mark": "?", "colon": ":", "exclamation_mark": "!", "equals_sign": "=", "less_than_sign": "<",
    "greater_than_sign": ">", "slash": "/", "left_square_bracket": "[", "right_square_bracket": "]", "escape": "Esc",
    "enter": "Enter", "semicolon": ";", "apostrophe": "'",
    "up": "↑", "down": "↓", "left": "←", "right": "→", "pageup": "PgUp", "pagedown": "PgDn",
    "home": "Home", "end": "End", "space": "Space", "tab": "Tab", "f1": "F1",
    **{f"f{number}": f"F{number}" for number in range(2, 13)},
}  # fmt: skip


def display_keys(keys: str) -> str:
    """Keys as a person writes them: ``? F1`` for ``question_mark,f1``."""
    return " ".join(_DISPLAY.get(key, key) for key in keys.split(","))


def markdown_table() -> str:
    """The keys as README.md shows them."""
    lines = ["| where | key | what it does | id |", "|---|---|---|---|"]
    for scope, title in SCOPE_TITLES.items():
        for key in KEYS:
            if key.scope == scope:
                shown = " ".join(f"`{each}`" for each in display_keys(key.keys).split(" "))
                lines.append(f"| {title} | {shown} | {key.help} | {key.id} |")
    return "\n".join(lines)


def bindings(*scopes: Scope) -> list[BindingType]:
    """Textual's bindings of these scopes, in the order of the table."""
    return [
        Binding(
            key.keys,
            key.action,
            key.label,
            show=key.shown,
            key_display=display_keys(key.keys).split(" ")[0],
            tooltip=key.help,
            id=key.id,
        )
        for key in KEYS
        if key.scope in scopes and key.action
    ]


def key_file() -> Path:
    """Where a user's own keys are looked for."""
    return Path(platformdirs.user_config_dir("bright-inspect")) / "keys.toml"


def read_key_file(path: Path) -> dict[str, str]:
    """Read ``[keys]`` of a TOML file: ``next-query = "n,ctrl+n"``; an absent file changes nothing.

    Raises:
        UsageError: not TOML, an id that does not exist, or a value that is no text; the message names it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error}).", "Mend or remove the file.") from None
    import tomllib  # few have a key file, and everyone waits for the first frame

    try:
        keys = tomllib.loads(text).get("keys", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not TOML: {error}.", 'Expected [keys] and lines such as next-query = "n".') from None
    known = {key.id for key in KEYS}
    for name, value in keys.items() if isinstance(keys, dict) else [("keys", keys)]:
        if name not in known:
            raise UsageError(f"{path}: no key is called {name!r}.", f"Known: {', '.join(sorted(known))}.")
        if not isinstance(value, str) or not value:
            raise UsageError(f"{path}: {name} = {value!r} is no key.", 'Write it as "n" or "n,ctrl+n".')
    _refuse_clashes(path, dict(keys))
    return dict(keys)


def _refuse_clashes(path: Path, own: dict[str, str]) -> None:
    """Raises UsageError if one of the user's keys does something else on the same screen already."""
    for changed in (key for key in KEYS if key.id in own):
        theirs = set(own[changed.id].split(","))
        for other in KEYS:
            same_screen = other.scope in (changed.scope, "everywhere") or changed.scope == "everywhere"
            taken = theirs & set(own.get(other.id, other.keys).split(","))
            if other.id != changed.id and same_screen and taken:
                raise UsageError(
                    f"{path}: {changed.id} = {own[changed.id]!r}, but {other.id} has {', '.join(sorted(taken))}.",
                    f"Choose another key, or give {other.id} one.",
                )
