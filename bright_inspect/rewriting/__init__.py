"""Queries in other words: what a rewrite changed, and making one."""
