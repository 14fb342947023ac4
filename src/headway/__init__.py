"""Headway: the Transformer of "Attention Is All You Need", from raw parallel text to a scored model.

Nothing is imported here, so that ``headway --help`` stays instant: import the rooms themselves
(``headway.config``, ``headway.model``, ``headway.text``, ``headway.inference`` ...).
"""

__version__ = "0.1.0"
