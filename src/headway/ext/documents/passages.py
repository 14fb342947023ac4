"""Texts of any length split into sentences, and joined again.

What stands between the sentences (white space, escapes of line breaks, marks, emoji, tags such as <br>) stays as it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from headway.ext.protect import divide_at_breaks, has_words
from headway.text import Languages, translate_gap
from headway.translation import split_sentences

# A run of white space is matched once, from its beginning: the time is linear in its length.
_LINE_BREAKS = re.compile(r"(?<!\s)\s*[\n\r]\s*")
_SENTENCE_END = re.compile(r"[.!?…。！？।؟][^\w\s]*\s*\S")


@dataclass(frozen=True)
class Passage:
    """A text split into sentences: ``gaps[0] + sentences[0] + gaps[1] + ...`` is the text.

    Attributes:
        gaps: White space, tags such as ``<br>``, and what has no words, such as escapes, marks and placeholders; one
            more than sentences.
        sentences: What is translated.
    """

    gaps: list[str]
    sentences: list[str]

    @classmethod
    def split(cls, text: str, language: str, is_split: bool = True) -> "Passage":
        """Split a text.

        Args:
            text: Any text.
            language: Language code; abbreviations of the language do not end sentences.
            is_split: Split lines into sentences; if false, a line counts as one sentence.
        """
        gaps: list[list[str]] = [[]]  # each in pieces: a text may have as many as characters
        sentences: list[str] = []
        breaks = (found.span() for found in _LINE_BREAKS.finditer(text))
        places = [0, *chain.from_iterable(breaks), len(text)]
        for number, (start, end) in enumerate(pairwise(places)):
            line = text[start:end]
            if number % 2:
                gaps[-1].append(line)
                continue
            for place, piece in enumerate(divide_at_breaks(line)):
                is_gap = place % 2 == 0
                has_several = not is_gap and is_split and _SENTENCE_END.search(piece)
                parts = split_sentences(piece, language) if has_several else [piece]
                for part in parts:
                    sentence = part.strip()
                    # A piece has words, but not each of several parts.
                    if is_gap or (len(parts) > 1 and not has_words(sentence)):
                        gaps[-1].append(part)
                        continue
                    before, _, after = part.partition(sentence)
                    gaps[-1].append(before)
                    sentences.append(sentence)
                    gaps.append([after])
        return cls(["".join(gap) for gap in gaps], sentences)

    def join(self, translations: Sequence[str], languages: Languages) -> tuple[str, list[int]]:
        """Put translations in the places of the sentences.

        Args:
            translations: One for each sentence.
            languages: Codes of the text and of the translations.

        Returns:
            The text, and where each translation starts in it.
        """
        first, *others = self.target_gaps(languages)
        text, starts = first, []
        for translation, gap in zip(translations, others, strict=True):
            starts.append(len(text))
            text += translation + gap
        return text, starts

    def target_gaps(self, languages: Languages) -> list[str]:
        """Return what stands before, between and after the translations; see `translate_gap`."""
        if not self.sentences:
            return self.gaps
        first, *inner, last = self.gaps
        return [first, *(translate_gap(gap, languages) for gap in inner), last]

    def starts(self) -> list[int]:
        """Return where each sentence starts in the text."""
        found, at = [], len(self.gaps[0])
        for sentence, gap in zip(self.sentences, self.gaps[1:], strict=True):
            found.append(at)
            at += len(sentence) + len(gap)
        return found
