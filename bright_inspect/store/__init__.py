"""One open session: runs, judgments and documents behind one in-memory DuckDB."""
