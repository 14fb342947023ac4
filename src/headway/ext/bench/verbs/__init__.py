"""The verbs that this extension adds to ``headway``."""
