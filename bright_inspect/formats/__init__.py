"""One module a file family: what a file is, its rows, and what was odd about it."""
