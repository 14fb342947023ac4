"""Raw text in, raw text out: a model, its tokenizer and a search, in one object."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import overload

import torch

from headway.config import Config, SearchConfig
from headway.errors import HeadwayError
from headway.inference.alignment import cross_attention, link_words, word_numbers
from headway.inference.devices import resolve_device
from headway.inference.directory import load_model
from headway.inference.finder import Finder
from headway.inference.grouping import like_lengths, pad_right
from headway.inference.joining import Pairs, Translation, joined
from headway.inference.saving import save_translator
from headway.inference.search import Hypothesis
from headway.inference.splitting import sentences, split_line
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer

# Lines looked at together, so that those of like length share batches.
WINDOW = 1024


class Translator:
    """Translates and scores raw text; what a line gets never depends on other lines.

    Args:
        model: In fp32; put into evaluation mode. Its weights are read at the first translation.
        tokenizer: The one it was trained with.
        search: Default way of searching.
        device: auto, cpu, cuda or cuda:N.
        languages: Codes of source and target; the source's helps to cut long lines.
        directory: The model's, where a shortlist lies.

    Example:
        >>> translator = Translator.load("runs/demo")
        >>> translator.translate("Has David already painted the wall?")
        'Hat David die Wand schon gestrichen?'
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        search: SearchConfig | None = None,
        device: str = "auto",
        languages: tuple[str, str] = ("en", "en"),
        directory: Path | None = None,
    ) -> None:
        self.device = resolve_device(device)
        self.model = model.to(self.device).eval()
        self.tokenizer = tokenizer
        self.search = search or SearchConfig()
        self.languages = languages
        self.settings: Config | None = None  # what it was trained with, where that is known
        self.finder = Finder(self.model, tokenizer, directory)

    @classmethod
    def load(cls, path: str | Path, device: str = "auto") -> "Translator":
        """Read a run or model directory, or a Headway model of the Hugging Face hub.

        What is there on this machine goes before what has the name elsewhere, and the log says what
        is fetched. Models of other programs are read by
        ``Translator.load(headway.exchange.hub.find_any(name))``.

        Args:
            path: A directory, or ``[hf:]ORGANISATION/NAME[@REVISION]``.
            device: auto, cpu, cuda or cuda:N.

        Raises:
            HeadwayError: Naming what is missing or damaged.
        """
        found = load_model(path)
        search, languages = found.config.search, found.languages
        made = cls(found.transformer, found.tokenizer, search, device, languages, found.path)
        made.settings = found.config
        return made

    from_pretrained = load

    def save_pretrained(self, directory: str | Path, licence: str = "") -> None:
        """Write a model directory, which `load` reads and the hub shows.

        Args:
            directory: Made if it is not there; the model's own files in it are replaced.
            licence: For the card, such as ``cc-by-4.0``; none: what the card says, or unknown.
        """
        save_translator(
            directory, self.model, self.tokenizer, self.search, self.languages,
            self.settings, self.finder.directory, licence,
        )  # fmt: skip

    @overload
    def translate(self, text: str, search: SearchConfig | None = None) -> str: ...
    @overload
    def translate(self, text: list[str], search: SearchConfig | None = None) -> list[str]: ...
    def translate(
        self, text: str | list[str], search: SearchConfig | None = None
    ) -> str | list[str]:
        """Translate a text, or a list of them; blank ones stay as they are."""
        if isinstance(text, str):
            return self.translate([text], search)[0]
        return [found[0].text for found in self.stream(text, search)]

    def stream(
        self,
        lines: Iterable[str],
        search: SearchConfig | None = None,
        *,
        prefix: str = "",
        align: bool = False,
        window: int = WINDOW,
    ) -> Iterator[list[Translation]]:
        """Translate lines as they come, in their order: for each its n best, or its n samples.

        Args:
            lines: Raw text, without line ends.
            search: Instead of the default.
            prefix: Every translation starts with this.
            align: Also find the source words each target word attends to.
            window: Lines looked at together.
        """
        search = search or self.search
        if window < 1:
            raise HeadwayError(f"window = {window} must be at least 1")
        source = iter(lines)
        while taken := list(islice(source, window)):
            yield from self._window(taken, search, prefix, align)

    @overload
    def score(self, source: str, target: str) -> float: ...
    @overload
    def score(self, source: list[str], target: list[str]) -> list[float]: ...
    def score(self, source: str | list[str], target: str | list[str]) -> float | list[float]:
        """Return the natural log-probability of a given translation, or of each of a list.

        It is what the search reports for its own output, where that spells the text as the
        tokenizer does, which trained models do, and where the line was not cut into parts.

        Raises:
            HeadwayError: If the lists differ in length, or only one argument is a list.
        """
        if isinstance(source, str) and isinstance(target, str):
            return self.score([source], [target])[0]
        if isinstance(source, str) or isinstance(target, str):
            raise HeadwayError("score: source and target must both be texts, or both lists")
        if len(source) != len(target):
            raise HeadwayError(f"score: {len(source)} sources, but {len(target)} targets")
        return self.score_tokens(
            self.tokenizer.encode_source([text.strip() for text in source]),
            self.tokenizer.encode_target([text.strip() for text in target]),
        )

    @torch.inference_mode()
    def score_tokens(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[float]:
        """Return the log-probability of each target, ids with ``</s>``, given its source."""
        scores = [0.0] * len(sources)
        lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
        for rows in like_lengths(lengths, self.search.batch_tokens):
            source, segments = pad_right([sources[i] for i in rows], self.tokenizer.source_pad)
            target, real = pad_right([targets[i] for i in rows], self.tokenizer.target_pad)
            source, segments, target = (x.to(self.device) for x in (source, segments, target))
            log_p = self.model(source, target, segments).float().log_softmax(-1)
            picked = log_p.gather(2, target[..., None]).squeeze(2).double()
            totals = (picked * real.to(self.device)).sum(1).tolist()
            for i, total in zip(rows, totals, strict=True):
                scores[i] = total
        return scores

    def _window(
        self, lines: list[str], search: SearchConfig, prefix: str, align: bool
    ) -> Iterator[list[Translation]]:
        """Translate some lines together: cut them into parts, search, put them together again."""
        parts: list[str] = []
        counts: list[int] = []
        for line in lines:
            cut = self.cut(line, search)
            parts += cut
            counts.append(len(cut))
        start = self.tokenizer.encode_target([prefix])[0][:-1] if prefix else []
        starts: list[list[int]] = []
        for count in counts:  # only the first part of a line starts with the prefix
            starts += [start if part == 0 else [] for part in range(count)]
        sources = self.tokenizer.encode_source([part.strip() for part in parts])
        found = self.finder.find_all(sources, starts, search)
        at = 0
        for line, count in zip(lines, counts, strict=True):
            here = slice(at, at + count)
            at += count
            if count:
                links = None
                if align:
                    links = [
                        [self.link(part, hypothesis) for hypothesis in hypotheses]
                        for part, hypotheses in zip(parts[here], found[here], strict=True)
                    ]
                yield self.join(parts[here], found[here], links)
            else:
                yield [Translation(line, 0.0, 0.0, [], [] if align else None)]

    def cut(self, line: str, search: SearchConfig | None = None) -> list[str]:
        """Cut a line into parts that the model can take; joined they are the line, stripped.

        A target language that the line names at its start (``>>deu<<``) begins every part.
        """
        search = search or self.search
        longest = max(1, min(search.max_tokens, self.finder.positions - search.max_extra))
        stripped = line.strip()
        if not stripped:
            return []
        named = self.tokenizer.named_language(stripped)
        longest = max(1, longest - bool(named))
        language = self.languages[0]
        pieces = sentences(stripped, language) if search.split_sentences else [stripped]
        parts = [x for piece in pieces for x in split_line(piece, language, self.length, longest)]
        return [parts[0], *(named + part for part in parts[1:])]

    def length(self, text: str) -> int:
        """Count a text's source tokens, ``</s>`` included."""
        return len(self.tokenizer.encode_source([text])[0])

    def find(
        self,
        parts: Sequence[str],
        search: SearchConfig | None = None,
        wanted: Callable[[int], bool] | None = None,
    ) -> list[list[Hypothesis]]:
        """Search for the translations of some parts of lines, in one batch, in this thread.

        Args:
            parts: As `cut` gives them.
            search: Instead of the default.
            wanted: Asked after each step whether a part, by its number, is still waited for; what is
                found for the others means nothing. Sampling does not ask.
        """
        sources = self.tokenizer.encode_source([part.strip() for part in parts])
        return self.finder.find(sources, [[] for _ in sources], search or self.search, wanted)

    def link(self, part: str, hypothesis: Hypothesis) -> Pairs:
        """Link the words of a part of a line and of its translation.

        A target language that the part names at its start is none of the words.
        """
        source = self.tokenizer.encode_source([part.strip()])[0]
        named = bool(
            self.tokenizer.named_language(part.strip())
        )  # one entry, and none of the words
        return link_words(
            cross_attention(self.model, source, hypothesis.tokens)[:, named:],
            word_numbers(self.tokenizer.decode_source, source[named:-1]),
            word_numbers(self.tokenizer.decode, hypothesis.tokens[:-1]),
        )

    def join(
        self,
        parts: list[str],
        found: list[list[Hypothesis]],
        links: Sequence[Sequence[Pairs]] | None = None,
    ) -> list[Translation]:
        """Make the line's translations from those of its parts, best with best.

        Args:
            parts: As `cut` gives them.
            found: For each its n best.
            links: From `link`, for each of these; None: the translations are not aligned.
        """
        return joined(self.tokenizer, parts, found, links)
