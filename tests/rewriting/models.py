"""A model that writes, small and random, made here: no package ships one."""

from __future__ import annotations

from pathlib import Path

WORDS = ["why", "is", "moss", "green", "ask", "say", "light", "leaf", "water", "stone", "shade", "rain"]


def tiny_generator(folder: Path) -> Path:
    """Save a Llama of two layers with a tokenizer of whole words and a chat template to a folder; it reads 500
    tokens."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocabulary = {word: place for place, word in enumerate(["<unk>", "<end>", *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=words, unk_token="<unk>", eos_token="<end>"
    )
    tokenizer.chat_template = "ask {{ messages[0]['content'] }} say"
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=500, eos_token_id=None, bos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
