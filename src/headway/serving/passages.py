"""Texts of any length split into sentences and segments, and joined again.

What stands between the sentences (white space, marks, emoji) stays as it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.config import SearchConfig
from headway.inference import Hypothesis, Segment, Translator
from headway.inference.splitting import split_sentences
from headway.inference.translation import WordPairs
from headway.serving.languages import UNSPACED, is_translatable
from headway.serving.links import WordLinks
from headway.serving.rejection import too_long

# A run of white space is matched once, from its beginning: the time is linear in its length.
_LINE_BREAKS = re.compile(r"((?<!\s)\s*[\n\r]\s*)")
_SENTENCE_END = re.compile(r"[.!?…。！？।؟][^\w\s]*\s*\S")


@dataclass(frozen=True)
class Passage:
    """A text split into sentences: ``gaps[0] + sentences[0] + gaps[1] + ...`` is the text.

    Attributes:
        gaps: White space, and what has no letters or digits; one more than sentences.
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
        gaps, sentences = [""], []
        for number, line in enumerate(_LINE_BREAKS.split(text)):
            if number % 2:
                gaps[-1] += line
                continue
            has_several = is_split and _SENTENCE_END.search(line)
            for part in split_sentences(line, language) if has_several else [line]:
                sentence = part.strip()
                if not is_translatable(sentence):
                    gaps[-1] += part
                    continue
                before, _, after = part.partition(sentence)
                gaps[-1] += before
                sentences.append(sentence)
                gaps.append(after)
        return cls(gaps, sentences)

    def join(self, translations: Sequence[str], language: str) -> tuple[str, list[int]]:
        """Put translations in the places of the sentences.

        Args:
            translations: One for each sentence.
            language: Language code of the translations.

        Returns:
            The text, and where each translation starts in it.
        """
        gaps = self.target_gaps(language)
        text, starts = gaps[0], []
        for translation, gap in zip(translations, gaps[1:], strict=True):
            starts.append(len(text))
            text += translation + gap
        return text, starts

    def target_gaps(self, language: str) -> list[str]:
        """Return what stands before, between and after the translations.

        Sentences without a space between them get one if the target language writes it.
        """
        if not self.sentences:
            return self.gaps
        inner = self.gaps[1:-1]
        if language not in UNSPACED:
            inner = [gap or " " for gap in inner]
        return [self.gaps[0], *inner, self.gaps[-1]]

    def starts(self) -> list[int]:
        """Return where each sentence starts in the text."""
        found, at = [], len(self.gaps[0])
        for sentence, gap in zip(self.sentences, self.gaps[1:], strict=True):
            found.append(at)
            at += len(sentence) + len(gap)
        return found


@dataclass(frozen=True)
class SplitText:
    """A text of a request, ready for the queue.

    Attributes:
        text: The text as the client sent it.
        passage: The sentences, without the name of a target language.
        language_name: The name of a target language at the text's beginning (``>>deu<<``), or "".
        lines: For each sentence the segments that the model takes; each starts with the name.
    """

    text: str
    passage: Passage
    language_name: str
    lines: list[list[Segment]]

    @property
    def segments(self) -> list[Segment]:
        """The segments of all sentences."""
        return [segment for line in self.lines for segment in line]


@dataclass
class TextTranslation:
    """The translation of a text.

    Attributes:
        text: The best translation.
        score: The length-normalized log-probability, summed over the sentences.
        alternatives: (text, score) of the next best translations.
        links: Words that belong together; None unless they were requested.
    """

    text: str
    score: float = 0.0
    alternatives: list[tuple[str, float]] = field(default_factory=list)
    links: WordLinks | None = None


def split_texts(
    translator: Translator,
    search: SearchConfig,
    texts: Sequence[str],
    is_split: bool,
    max_tokens: int,
) -> list[SplitText]:
    """Split and tokenize the texts of a request.

    Args:
        translator: The model that will translate them.
        search: Search settings, which limit the tokens of a segment.
        texts: Texts of any length.
        is_split: Translate each sentence of a line by itself.
        max_tokens: Tokens that all texts may have together.

    Raises:
        Rejection: 400 as soon as the texts have more tokens.
    """
    found, total = [], 0
    for text in texts:
        stripped = text.lstrip()
        name = translator.tokenizer.named_language(stripped)
        rest = text[: len(text) - len(stripped)] + stripped[len(name) :] if name else text
        passage = Passage.split(rest, translator.languages[0], is_split)
        lines = []
        for sentence in passage.sentences:
            segments = translator.split(name + sentence, search)
            lines.append(segments)
            total += sum(len(segment.ids) for segment in segments)
            if total > max_tokens:
                raise too_long(total, max_tokens)
        found.append(SplitText(text, passage, name, lines))
    return found


def join_text(
    translator: Translator,
    split: SplitText,
    found: Sequence[list[Hypothesis]],
    links: Sequence[WordPairs] | None,
) -> TextTranslation:
    """Join the translations of a text's segments, best with best.

    Args:
        translator: The model that made them.
        split: The text.
        found: For each segment its n best hypotheses.
        links: For each segment the word links of its best hypothesis; None: not requested.
    """
    if not found:
        same = None if links is None else WordLinks.identity(split.text)
        return TextTranslation(split.text, links=same)
    lines, at = [], 0
    for segments in split.lines:
        here = slice(at, at + len(segments))
        at += len(segments)
        linked = None if links is None else [[pairs] for pairs in links[here]]
        lines.append(translator.join(segments, list(found[here]), linked))
    versions = []
    for rank in range(max(len(line) for line in lines)):
        # A sentence with fewer versions repeats its last one.
        chosen = [line[min(rank, len(line) - 1)] for line in lines]
        texts = [translation.text for translation in chosen]
        joined, starts = split.passage.join(texts, translator.languages[1])
        versions.append((joined, sum(t.score for t in chosen), starts))
    best, score, target_starts = versions[0]
    alternatives: dict[str, float] = {}
    for version, value, _ in versions[1:]:
        if version.strip() and version != best:
            alternatives.setdefault(version, value)
    result = TextTranslation(best, score, list(alternatives.items()))
    if links is not None:
        result.links = WordLinks.between(split.text, best)
        sentences, starts = split.passage.sentences, split.passage.starts()
        for sentence, start, line, target_start in zip(
            sentences, starts, lines, target_starts, strict=True
        ):
            result.links.add_sentence(
                sentence,
                start + len(split.language_name),
                line[0].text,
                target_start,
                line[0].alignment or [],
            )
    return result
