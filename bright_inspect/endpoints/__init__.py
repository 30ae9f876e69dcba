"""Clients of servers that speak OpenAI's API or one near it: OpenAI, vLLM, TEI, Infinity, llama.cpp."""
