"""Marian directories of Hugging Face transformers: written, run and read."""
