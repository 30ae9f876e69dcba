"""Live retrieval: what every retriever offers, and the retrievers."""
