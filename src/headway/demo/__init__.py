"""A parallel corpus generated from CLDR data, number words and sentence frames; no download."""

from headway.demo.corpus import Example, generate, split

__all__ = ["Example", "generate", "split"]
