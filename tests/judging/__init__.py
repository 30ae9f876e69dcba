"""Triage of unjudged documents: the pool, its order, the evidence, and what judgments change."""
