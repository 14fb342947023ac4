"""Marian directories of Hugging Face transformers, such as the OPUS-MT models."""
