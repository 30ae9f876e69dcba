"""Which variant helps which task: each run beside the run of the same system on the original queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from bright_inspect.domain.names import ORIGINAL
from bright_inspect.domain.tally import Tally, tally
from bright_inspect.evaluation.scores import TaskScores
from bright_inspect.rewriting.lengths import VariantLengths, mean_lengths
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run


@dataclass(frozen=True, slots=True)
class VariantScore:
    """A run on one task, or the mean of ``tasks`` tasks.

    ``value`` is its headline mean (a fraction; queries without a list count as 0) over ``queries``, of which it answers
    ``answered``. ``base`` is the run of the same system on the original queries, None if there is none or the run is
    that itself. ``delta`` = run − base and ``outcome`` are over the ``shared`` queries that both have a list for.
    """

    run: Run
    task: TaskKey
    queries: int
    answered: int
    value: float
    base: Run | None = None
    shared: int = 0
    delta: float | None = None
    outcome: Tally | None = None
    tasks: int = 1
    delta_tasks: int = 0
    tie_sensitive: bool = False

    @property
    def partial(self) -> bool:
        """Whether lists are missing, so that the value and Δ are not over the same queries."""
        return self.answered < self.queries or (self.outcome is not None and self.shared < self.queries)


def base_of(run: Run, runs: Iterable[Run]) -> Run | None:
    """The run of the same system on the original queries; of that run itself, None."""
    if run.name.variant == ORIGINAL:
        return None
    return next((o for o in runs if o.name.system == run.name.system and o.name.variant == ORIGINAL), None)


def in_groups(runs: Sequence[Run]) -> list[Run]:
    """The runs, those of a system beside each other and its original first; systems as they come."""
    systems = list(dict.fromkeys(run.name.system for run in runs))
    return sorted(runs, key=lambda run: (systems.index(run.name.system), run.name.variant != ORIGINAL, run.run_id))


def variant_scores(scores: Mapping[tuple[int, TaskKey], TaskScores], runs: Sequence[Run]) -> list[VariantScore]:
    """Each run on each task it has, beside its original: tasks as they come in ``scores``, runs in groups."""
    found = []
    for task in dict.fromkeys(task for _, task in scores):
        for run in in_groups(runs):
            if (score := scores.get((run.run_id, task))) is not None:
                base = base_of(run, runs)
                found.append(_beside(run, score, base, None if base is None else scores.get((base.run_id, task))))
    return found


def _beside(run: Run, score: TaskScores, base: Run | None, of_base: TaskScores | None) -> VariantScore:
    answered = score.answered & score.per_query.keys()
    own = VariantScore(
        run, score.task, len(score.per_query), len(answered), score.mean, base, tie_sensitive=score.tie_sensitive > 0
    )
    shared = answered & of_base.answered if of_base is not None else ()
    if of_base is None or not shared:
        return own
    pairs = [(score.per_query[query_id], of_base.per_query[query_id]) for query_id in shared]
    # Where both answer everything this is the difference of the means, as on every other screen.
    delta = (
        score.mean - of_base.mean
        if len(shared) == len(score.per_query)
        else fmean(value - base for value, base in pairs)
    )
    return replace(own, shared=len(shared), delta=delta, outcome=tally(pairs), delta_tasks=1)


def mean_scores(scores: Sequence[VariantScore]) -> list[VariantScore]:
    """For each run that has several tasks of a dataset: the means of its tasks' means, and the sums of its counts.
    ``delta`` is over the tasks that its original has too."""
    groups: dict[tuple[str, int], list[VariantScore]] = {}
    for score in scores:
        groups.setdefault((score.task[0], score.run.run_id), []).append(score)
    several = {dataset for dataset, _ in groups if len({s.task for s in scores if s.task[0] == dataset}) > 1}
    return [_mean(group) for (dataset, _), group in groups.items() if dataset in several]


def _mean(group: Sequence[VariantScore]) -> VariantScore:
    compared = [score for score in group if score.delta is not None]
    outcomes = [score.outcome for score in compared if score.outcome is not None]
    return VariantScore(
        group[0].run,
        (group[0].task[0], ""),
        sum(score.queries for score in group),
        sum(score.answered for score in group),
        fmean(score.value for score in group),
        group[0].base,
        sum(score.shared for score in compared),
        fmean(score.delta or 0.0 for score in compared) if compared else None,
        Tally(
            sum(each.win for each in outcomes),
            sum(each.tie for each in outcomes),
            sum(each.tie_both_zero for each in outcomes),
            sum(each.loss for each in outcomes),
        )
        if outcomes
        else None,
        len(group),
        len(compared),
        any(score.tie_sensitive for score in group),
    )


def lengths_for(
    score: VariantScore, lengths: Mapping[tuple[TaskKey, str], VariantLengths], tasks: Iterable[TaskKey]
) -> VariantLengths | None:
    """What the texts that a run was made with are like, where they are at hand; of a mean over ``tasks``, of those that
    the run has."""
    variant = score.run.name.variant
    if variant is None:
        return None
    own = [task for task in tasks if task in score.run.tasks] or [score.task]
    return mean_lengths(variant, [lengths[task, variant] for task in own if (task, variant) in lengths])


def without_run(lengths: Iterable[VariantLengths], runs: Sequence[Run]) -> list[VariantLengths]:
    """The variants at hand of a task that no run of it was made with; the original is none of them."""
    return [
        each
        for each in lengths
        if each.variant != ORIGINAL
        and not any(run.name.variant == each.variant and each.task in run.tasks for run in runs)
    ]
