"""Where queries, judgments, exclusions and documents come from."""
