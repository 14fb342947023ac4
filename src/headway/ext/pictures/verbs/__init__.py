"""The verbs that draw: ``headway picture``, ``headway heads`` and ``headway plot``."""
