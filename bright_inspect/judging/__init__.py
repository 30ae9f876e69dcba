"""Judgments by people and models: the journal they are kept in, layers made of them, and how far they agree."""
