"""What is searched live: the corpora, retrievers and rerankers that were asked for, kept for the session.

Methods run in workers. A retriever and a reranker serve one of them at a time, and making one may take minutes; work
that was stopped ends with its present step, and only those who ask for the same wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.db import Cursor
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.errors import BrightInspectError
from bright_inspect.evaluation.ablation import Ablation, ablate
from bright_inspect.evaluation.explaining import Explanation, explain
from bright_inspect.evaluation.live import LiveRequest, LiveResult, documents_at_hand, search_live
from bright_inspect.retrieval.protocol import Corpus, Explains, ModelOptions, Progress, Reranker, Retriever
from bright_inspect.retrieval.registry import find_reranker, find_retriever, known_rerankers, known_retrievers
from bright_inspect.retrieval.rerank import RerankingRetriever
from bright_inspect.rewriting.lens import Lens, look
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.corpus import corpus_texts_of, task_corpus
from bright_inspect.store.keeping import keep_ranking
from bright_inspect.store.progress import CancelToken
from bright_inspect.store.query_view import QueryView
from bright_inspect.store.run_cache import cache_folder
from bright_inspect.store.session import Session
from bright_inspect.tui.locks import held
from bright_inspect.tui.rewriting_desk import RewritingDesk

#: What is searched by until another retriever is chosen.
FIRST_RETRIEVER = "bm25"


@dataclass(frozen=True, slots=True)
class Choice:
    """A retriever or reranker to choose; ``needs`` says what is missing where it cannot be used here."""

    name: str
    title: str
    needs: str | None


class LiveDesk:
    """Searches, explains and keeps for a session."""

    def __init__(
        self,
        session: Session,
        cursor: Callable[[CancelToken], AbstractContextManager[Cursor]],
        wanted: Sequence[str],
        options: ModelOptions,
    ) -> None:
        self._session, self._cursor, self._wanted, self._options = session, cursor, tuple(wanted), options
        self._locks: dict[str, threading.Lock] = {}
        self._corpora: dict[TaskKey, Corpus] = {}
        self._retrievers: dict[tuple[TaskKey, str], Retriever] = {}
        self._rerankers: dict[str, Reranker] = {}
        #: What rerankers said of documents in this session, which speaks for a candidate to judge.
        self.reranked: dict[QueryKey, dict[str, float]] = {}
        self._choices: tuple[list[Choice], list[Choice]] | None = None
        #: Whether what searching loaded is kept out of full collections.
        self.is_kept_out = False
        #: Who rewrites what is searched.
        self.rewriting = RewritingDesk(options)
        #: What was asked last, which the next query is asked too.
        self.retriever = self._wanted[0] if self._wanted else FIRST_RETRIEVER
        self.reranker: str | None = None
        self.depth = 100

    def choices(self, token: CancelToken) -> tuple[list[Choice], list[Choice]]:
        """The retrievers and the rerankers to choose from, those that can be used here first."""
        if self._choices is None:
            known = {name: find_retriever(name, self._options) for name in self._wanted}
            known.update(known_retrievers(self._options))
            rerankers = known_rerankers(self._options).values()
            self._choices = (
                [Choice(spec.name, spec.title, spec.needs) for spec in known.values()],
                [Choice(spec.name, spec.title, spec.needs) for spec in rerankers],
            )
        token.check()
        return self._choices

    def search(
        self, view: QueryView, request: LiveRequest, measure: Measure, tell: Progress, token: CancelToken
    ) -> tuple[LiveResult, frozenset[str]]:
        """Search for a query; with the result come the documents of the stored lists that the corpus at hand has.

        Raises:
            BrightInspectError: there is no corpus at hand, or the retriever or reranker cannot be made.
        """
        task = (view.key.dataset, view.key.task)
        with self._using(token, request.retriever, request.reranker), self._cursor(token) as cursor:
            corpus = self._corpus(cursor, task, tell)
            retriever = self._asked(cursor, task, corpus, request, tell, token)
            result = search_live(retriever, corpus, view, request, measure, token.check)
            if result.reranking is not None:
                top = result.ranking.docs[: result.reranking.scored]
                self.reranked[view.key] = {doc.doc_id: doc.score for doc in top}
            listed = {doc.doc_id for ranking in view.rankings if ranking for doc in ranking.docs}
            return result, documents_at_hand(cursor, self._session, view.key, listed)

    def explain(
        self, view: QueryView, name: str, text: str, doc_id: str, tell: Progress, token: CancelToken
    ) -> Explanation:
        """Say why a retriever scores a document as it does; it is made if it was not asked for before.

        Raises:
            BrightInspectError: as ``search``; the retriever cannot say.
        """
        task = (view.key.dataset, view.key.task)
        with self._using(token, name), self._cursor(token) as cursor:
            corpus = self._corpus(cursor, task, tell)
            retriever = self._retriever(task, name, corpus, tell, token)
            document = corpus_texts_of(cursor, self._session.collections, task, [doc_id]).get(doc_id)
            return explain(retriever, corpus, text, doc_id, document, token.check)

    def ablate(
        self, view: QueryView, request: LiveRequest, measure: Measure, tell: Progress, token: CancelToken
    ) -> Ablation:
        """Drop each sentence of the text in turn.

        Raises:
            BrightInspectError: as ``search``.
        """
        task = (view.key.dataset, view.key.task)
        with self._using(token, request.retriever, request.reranker), self._cursor(token) as cursor:
            corpus = self._corpus(cursor, task, tell)
            retriever = self._asked(cursor, task, corpus, request, tell, token)
            return ablate(retriever, view, request.text, request.depth, measure, token.check, tell)

    def lens(
        self,
        view: QueryView,
        name: str,
        rewrite: str,
        stored: Mapping[int, str],
        measure: Measure,
        tell: Progress,
        token: CancelToken,
    ) -> Lens:
        """Look at a query by its original text and by a rewrite; ``stored`` as ``rewriting.lens.look``.

        Raises:
            BrightInspectError: as ``search``; the retriever's scores are no sums over terms.
        """  # fmt: skip
        task = (view.key.dataset, view.key.task)
        with self._using(token, name), self._cursor(token) as cursor:
            corpus = self._corpus(cursor, task, tell)
            retriever = self._retriever(task, name, corpus, tell, token)
            tell(0, 1, "taking the scores apart")
            return look(retriever, corpus, view, view.text or "", rewrite, measure, stored, token.check)

    def document_terms(
        self, view: QueryView, name: str, doc_id: str, text: str | None, token: CancelToken
    ) -> tuple[str | None, Mapping[str, Sequence[tuple[int, int]]]]:
        """A document's text, looked for if it is not given, and where the words of each term stand in it, as a
        retriever that searched the query's task cuts it."""
        task = (view.key.dataset, view.key.task)
        with self._using(token, name), self._cursor(token) as cursor:
            if text is None:
                text = corpus_texts_of(cursor, self._session.collections, task, [doc_id]).get(doc_id)
            retriever = self._retrievers.get((task, name))
            if text is None or retriever is None:
                return text, {}
            return text, retriever.term_places(text) if isinstance(retriever, Explains) else {}

    @contextmanager
    def indexed(self, tasks: Sequence[TaskKey], token: CancelToken) -> Iterator[dict[TaskKey, Retriever]]:
        """For each of the tasks the retriever that searched it last, where one did; held while they are used."""
        made = {task: retriever for (task, _), retriever in self._retrievers.items() if task in tasks}
        names = {name for (task, name), retriever in self._retrievers.items() if made.get(task) is retriever}
        with self._using(token, *names):
            yield made

    def keep(self, result: LiveResult, token: CancelToken) -> Path:
        """Keep a live list as a run file below the working folder."""
        token.check()
        return keep_ranking(result.ranking, result.provenance).absolute()

    @contextmanager
    def _using(self, token: CancelToken, *names: str | None) -> Iterator[None]:
        """Hold the locks of these retrievers and rerankers, always in the same order."""
        with ExitStack() as locks:
            for name in sorted({name for name in names if name is not None}):
                locks.enter_context(held(self._locks.setdefault(name, threading.Lock()), token))
            yield

    def _corpus(self, cursor: Cursor, task: TaskKey, tell: Progress) -> Corpus:
        corpus = self._corpora.get(task)
        if corpus is None:
            tell(0, 1, f"reading the corpus of {task[1]}")
            corpus = task_corpus(self._session.database, cursor, self._session.collections, task)
        if corpus is None:
            raise BrightInspectError(f"there is no corpus of {task[1]} at hand.", "Give --data DIR with documents/.")
        self._corpora[task] = corpus
        return corpus

    def _asked(
        self,
        cursor: Cursor,
        task: TaskKey,
        corpus: Corpus,
        request: LiveRequest,
        tell: Progress,
        token: CancelToken,
    ) -> Retriever:
        reranker = None if request.reranker is None else self._reranker(request.reranker, tell, token)
        retriever = self._retriever(task, request.retriever, corpus, tell, token)
        if reranker is None:
            return retriever

        def texts(doc_ids: Collection[str]) -> dict[str, str]:
            return corpus_texts_of(cursor, self._session.collections, task, doc_ids)

        return RerankingRetriever(retriever, reranker, request.top, texts, tell)

    def _retriever(self, task: TaskKey, name: str, corpus: Corpus, tell: Progress, token: CancelToken) -> Retriever:
        if (task, name) not in self._retrievers:
            make = find_retriever(name, self._options).make
            self._retrievers[task, name] = make(corpus, cache_folder() / "retrieval", tell, token.check)
        return self._retrievers[task, name]

    def _reranker(self, name: str, tell: Progress, token: CancelToken) -> Reranker:
        if name not in self._rerankers:
            make = find_reranker(name, self._options).make
            self._rerankers[name] = make(cache_folder() / "retrieval", tell, token.check)
        return self._rerankers[name]
