"""Models of sentence-transformers: the only place that imports torch, inside functions, because that takes seconds."""
