"""Judging by people and models: what to look at, what speaks for it, the journal, layers, and what scores become."""
