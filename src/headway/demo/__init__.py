"""A parallel corpus that needs no download, made from CLDR and number words by rules."""

from headway.demo.corpus import Example, generate, split

__all__ = ["Example", "generate", "split"]
