"""Help: every key from the one table, the marks, the filter's terms, and what evidence weighs."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.filters import FILTER_TERMS
from bright_inspect.presentation.triage import weight_lines
from bright_inspect.tui import keymap
from bright_inspect.tui.screens.dialog import Dialog
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader

_MARKS = (
    ("★", "gold: judged relevant (the grade follows where it is above 1)"),
    ("○", "judged, and not relevant"),
    ("·", "unjudged: nobody said"),
    ("≡", "unjudged, but cut from the same page as a gold"),
    ("✗", "excluded for this query: removed before ranking"),
    ("⁰ ¹ ² ³ ˣ", "behind a mark: what you decided, ˣ unsure, whether or not a layer counts it"),
    ("┌│└", "scores tied as float32; document ids decide, descending, as in trec_eval"),
    ("≈", "the order of tied documents alone moves the value: worst–best, and what is to be expected of any order"),
    ("▲ 3", "three ranks higher than in the baseline, on live than in the run next to it; ▲ >100: not among its 100"),
    (">100", "not in the list, which is 100 deep"),
    ("lit words", "the query's telling words; a document opens where most of them meet, Home goes to its top"),
    ("", "on explain the words of every term that adds to the score, the row's own as a match"),
    ("no page known", "the data set does not say which pages the golds were cut from"),
)
_REWRITES = (
    ("kept, survive", "share of the original's words, each as often as it stands there, that the rewrite still has"),
    (
        "bridges",
        "words (as BM25's terms) that the rewrite has, the original has not, and a gold has; part: what the word",
    ),
    ("", "adds to that gold's score, in the document where it adds most; golds, others: in how many of them it is"),
    ("drift", "the same in other documents that rank higher by the rewrite than by the original, in its first ten"),
    ("folded", "words in over 10 % of the documents at hand: they tell little of any"),
    ("moved most by", "the words whose parts in the document's score differ most between the two texts"),
    ("recomputed", "a stored run's scores, worked out here: idf is over the documents at hand, so a part of a corpus"),
    ("", "gives other scores; off: |here − stored| / the larger"),
    ("shared", "eight words in a row or more that the rewrite has from a gold and not from the query"),
    ("spread", "the best value of a row's runs less the worst"),
    ("¶ § • ? ⌘ ‹›", "outline: paragraph, heading, step, sub-query, code, tag of a thought"),
)
_NUMBERS = (
    "Values are ×100. The mean is over all judged queries; a query without a list counts as 0 (trec_eval -c).",
    "Over several tasks the headline is the mean of the tasks' means; under a filter, of the queries shown.",
    "The layer is the set of judgments that counts: original is the data set's own, others are given with --qrels.",
    "Values follow trec_eval's rule for ties unless --ties says another; ≈ is what any other order could make of them.",
    "Δ = run − baseline. A win is Δ > 1e-9. Ties count apart where both are 0.",
    "BRIGHT judges only relevant documents, so Judged@k would equal P@k there.",
)


class HelpScreen(Dialog[None]):
    """A page of help over the screen."""

    def __init__(self, keys: dict[str, str]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield CellLine((Span("Help", "strong"),), (Span("Esc closes · ↑ ↓ scrolls", "dim"),))
            yield TextReader(id="help")

    def on_mount(self) -> None:

        lines: list[Cell] = []
        for scope, title in keymap.SCOPE_TITLES.items():
            lines += [(Span(title, "accent"),)]
            for key in keymap.KEYS:
                if key.scope == scope:
                    shown = keymap.display_keys(self._keys.get(key.id, key.keys))
                    lines.append((Span(f"  {shown:<14}", "strong"), Span(key.help)))
            lines.append(())
        lines.append((Span("marks", "accent"),))
        lines += [(Span(f"  {mark:<14}", "strong"), Span(text)) for mark, text in _MARKS]
        lines += [
            (),
            (Span("rewrites", "accent"),),
            *((Span(f"  {term:<14}", "strong"), Span(text)) for term, text in _REWRITES),
            (),
            (Span("filter", "accent"),),
            *((Span(f"  {term:<24}", "strong"), Span(text)) for term, text in FILTER_TERMS),
            (),
            (Span("numbers", "accent"),),
        ]
        lines += [(Span(f"  {text}"),) for text in _NUMBERS]
        lines += [(), (Span("evidence, and the points of a value of 1", "accent"),), *weight_lines()]
        lines += [
            (),
            (Span("keys of your own", "accent"),),
            (Span(f'  [keys] next-query = "n"  in {keymap.key_file()}'),),
        ]
        for reader in self.query(TextReader):  # none is left if a fast key closed the dialog already
            reader.set_lines(lines)
            reader.focus()
