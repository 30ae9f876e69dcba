"""The order of a run's rows: which scores count as equal, and what then comes first."""

from __future__ import annotations

from dataclasses import dataclass

from bright_inspect.domain.ordering import TieRule


def float32_sql(score: str) -> str:
    """SQL for a score as trec_eval 9 holds it: float32, and infinite where that is too small for it. DuckDB's plain
    cast refuses such scores."""
    return f"coalesce(try_cast({score} AS FLOAT), if({score} > 0, 'inf', '-inf')::FLOAT)"


@dataclass(frozen=True, slots=True)
class RowOrder:
    """Score descending, then ``breaker``. ``key`` is the score as the rule compares it: rows with one key are tied.

    All three are SQL over the columns ``doc_id, score, given_rank, position``.
    """

    key: str
    breaker: str
    descending: bool

    @property
    def order_by(self) -> str:
        return f"{self.key} DESC, {self.breaker} {'DESC' if self.descending else 'ASC'}"

    @property
    def not_after(self) -> str:
        """The comparison that is true between the breakers of a row and of one that comes later, or of itself."""
        return ">=" if self.descending else "<="


# trec: score descending as float32, then document id descending by bytes (trec_eval 9 form_res_rels.c; FORMATS F.1).
# float64: the same in double precision (trec_eval 10 trec_format.h).
_ORDERS: dict[TieRule, RowOrder] = {
    "trec": RowOrder(float32_sql("score"), "doc_id", descending=True),
    "float64": RowOrder("score", "doc_id", descending=True),
    "file": RowOrder("score", "position", descending=False),
    "rank": RowOrder("score", "(coalesce(given_rank, 2147483647), position)", descending=False),
}


def row_order(ties: TieRule) -> RowOrder:
    """The order by which tied documents are ranked under a rule."""
    return _ORDERS[ties]
