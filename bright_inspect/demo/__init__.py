"""The embedded demo data set, written for this project."""
