"""Unjudged documents settled by hand: which to look at, what speaks for each, and what the scores become."""
