"""The addresses and fields of DeepL's API, version 2."""
