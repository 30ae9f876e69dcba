"""Measures in SQL, and what follows from them."""
