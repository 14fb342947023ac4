"""Paths with names of values in them stay whole."""

import random

from headway.ext.protect import find_protected_text

PARTS = ("users", "api", "v1.2", "a-b", ":id", ":user_name", "{version}", "<id>", "*", "12")


def test_a_path_stays_whole_whatever_its_parts_are():
    chooser = random.Random(1)
    for _ in range(500):
        path = "/" + "/".join(chooser.choices(PARTS, k=chooser.randint(2, 5)))
        text = f"See {path} now."
        kept = [text[start:end] for start, end, _ in find_protected_text(text)]
        assert kept == [path]
