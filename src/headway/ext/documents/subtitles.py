"""Subtitles (.srt, .vtt): sentences that run across cues are translated whole and divided among them again."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headway.errors import HeadwayError
from headway.ext.documents.blocks import Block, Markup
from headway.ext.documents.cue_text import TAG, make_cue, write_cue
from headway.ext.documents.dividing import divide
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.ext.documents.text_file import Edit, apply_edits, check_count, read_text_file
from headway.text import is_translatable

_TIME = r"(-?)(?:(\d+):)?(\d+):(\d+)[.,](\d+)"  # programs that move all times write negative ones
_TIMING = re.compile(rf"(?:^|(?<=\r))[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}[^\r\n]*", re.MULTILINE)
# What is meant as a time line, with another arrow or other times. Of speech, a line may have times with a dash between
# them ("9:00 - 17:00"), so they count only with milliseconds or the right arrow.
_CLOCK = r"(?:\d+:)?\d+:\d+[.,]\d{3}"
_ARROW = "--(?:>|&gt;)"
_MISTYPED = re.compile(
    rf"[ \t]*({_CLOCK}(?:[-‐-―−=~>→ \t]|&gt;)*{_CLOCK}|-?\d[\d., \t]*:[-\d:;., \t]*?{_ARROW}[-\d:;., \t]*"
    rf"|[^\s:]*+:\S*+[ \t]++{_ARROW}[ \t]*{_CLOCK})"
)
_LINE_END = re.compile(r"\r\n|\n|\r")
_END = re.compile(r"[.!?…。！？:;](?:[\"'”’»)\]♪\s-]|<[^<>]*>)*\Z|[♪)\]]\s*\Z")
_SPEAKER = r"(?:[-–—]|>>|&gt;&gt;)"  # what marks that another one speaks
_TAGGED_SPEAKER = re.compile(rf"(?:{TAG})*{_SPEAKER}")
_DASH = re.compile(rf"{_TAGGED_SPEAKER.pattern}[ \t]*(?=\S)")
_CLOSING = re.compile(
    r"[^<>]*?((?:</[^<>\r\n]*>)+)\Z"
)  # tags whose opening ones stand before the text
# At the start of a line: the name of a speaker, each word with a capital, or a note in brackets.
_ASIDE = re.compile(
    r"(?:(?P<name>[^\W\d_a-z][\w.'’-]*(?: [^\W_a-z][\w.'’-]*){0,2}):|\[(?P<heard>[^\[\]\r\n]*)\]:?|\((?P<seen>[^()\r\n]*)\):?)(?=[ \t\r\n]|\Z)"
)
_TAGGED_ASIDE = re.compile(rf"(?:{TAG})*{_ASIDE.pattern}")
_REST = re.compile(r"\S")
_TAIL = 300  # characters in which the end of a sentence is looked for
_LONGEST_PAUSE = 3.0  # seconds between two cues of a sentence
_MOST_CUES = 6  # of a sentence


@dataclass(frozen=True)
class _Cue:
    """A passage of a cue: a whole cue, or what one of two speakers says in it.

    Attributes:
        start: Where it starts in the file.
        block: Its text.
        begins: The time at which the cue appears, in seconds.
        ends: The time at which it disappears, in seconds.
        is_aside: Whether it is the name of a speaker or a note in brackets, which is no part of a sentence.
        can_continue: Whether it can go on with the sentence of the cue before it.
    """

    start: int
    block: Block
    begins: float
    ends: float
    is_aside: bool
    can_continue: bool


class SubtitleDocument:
    """A file of subtitles.

    Args:
        data: The content of the file.
        options: What is known about the translation.
        is_vtt: Whether the text may have character references (WebVTT).

    Raises:
        HeadwayError: If the file has no cue, or a line is meant as a time line and is none.
    """

    def __init__(self, data: bytes, options: DocumentOptions, *, is_vtt: bool) -> None:
        self._file, self._is_vtt = read_text_file(data, options.source), is_vtt
        if is_vtt and not self._file.text.startswith("WEBVTT"):
            raise HeadwayError("does not begin with WEBVTT")
        found = _LINE_END.search(self._file.text)
        self._line_end = found[0] if found else "\n"
        cues = _read_cues(self._file.text, is_vtt)
        if not cues and not is_vtt:
            raise HeadwayError("has no subtitle with a time such as 00:00:01,000 --> 00:00:02,000")
        self._sentences = _join_sentences(cues)

    @property
    def paragraphs(self) -> Sequence[Paragraph[Markup]]:
        """The sentences, each of one cue or several."""
        return [
            cues[0].block if len(cues) == 1 else Paragraph(" ".join(c.block.text for c in cues))
            for cues in self._sentences
        ]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with the text of its cues replaced."""
        edits = []
        for cues, translated in zip(self._sentences, translations, strict=True):
            texts = [cue.block.text for cue in cues]
            divided = divide(texts, translated) if len(cues) > 1 else [translated]
            for cue, part in zip(cues, divided, strict=True):
                source = cue.block.source
                written = write_cue(cue.block, part, self._is_vtt, self._line_end)
                edits.append(Edit(cue.start, cue.start + len(source), written))
        return self._file.encode(apply_edits(self._file.text, edits))


def _read_cues(text: str, is_vtt: bool) -> list[_Cue]:
    """Return the passages of all cues that have letters or digits."""
    check_count(len(re.findall(r"[\r\n<{\])]|:[ \t]", text)), "lines, tags and notes")
    _check_time_lines(text, is_vtt)
    timings = list(_TIMING.finditer(text))
    cues = []
    for number, timing in enumerate(timings):
        following = timings[number + 1].start() if number + 1 < len(timings) else len(text)
        body = _find_body(text, timing.end(), following, is_vtt)
        begins, ends = _seconds(timing.groups()[:5]), _seconds(timing.groups()[5:])
        for start, end in _split_speakers(text, *body):
            dash = _DASH.match(text, start, end)  # of a speaker: it stays
            for at, last, is_aside in _split_asides(text, dash.end() if dash else start, end):
                if closing := _CLOSING.match(text, at, last):
                    last = closing.start(1)
                block = make_cue(text[at:last], is_vtt)
                if is_translatable(block.text):
                    can_continue = at == body[0] and not is_aside
                    cues.append(_Cue(at, block, begins, ends, is_aside, can_continue))
    return cues


def _check_time_lines(text: str, is_vtt: bool) -> None:
    """Check that no line is a mistyped time line, which would be translated as text of the cue before it."""
    is_note = False  # of WebVTT, where a cue is commented out with another arrow
    for number, line in enumerate(_LINE_END.split(text), 1):
        is_note = is_vtt and (line.startswith("NOTE") or (is_note and bool(line.strip())))
        found = _MISTYPED.match(line)
        if found and not is_note and not _TIMING.match(line):
            right = "00:00:01.000 --> 00:00:02.000" if is_vtt else "00:00:01,000 --> 00:00:02,000"
            raise HeadwayError(
                f"line {number}: {found[1].strip()[:60]} is no time line such as {right}"
            )


def _find_body(text: str, start: int, following: int, is_vtt: bool) -> tuple[int, int]:
    """Return where the text of a cue starts and ends, without the lines of the next cue."""
    line_end = next((end for end in ("\r\n", "\n", "\r") if text.startswith(end, start)), "")
    start = min(following, start + len(line_end))
    body = text[start:following]
    if is_vtt:  # an empty line ends a cue
        end = re.search(r"(?:\A|\r\n|\n|\r(?!\n))[ \t]*(?:\r\n|\n|\r)", body)
        if end:
            return start, start + end.start()
    if following < len(text):  # the number of the next subtitle
        body = re.sub(r"(?:\A|(?<=[\r\n]))[ \t]*+(?:\d+[ \t]*+)?(?:\r\n|\n|\r)?\Z", "", body)
    return start, start + len(body.rstrip())


def _split_speakers(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return where the passages of a cue are: a line begins one with a name, or if all lines begin with a dash."""
    starts = [start + found.end() for found in re.finditer(r"(?:\A|\n)[ \t]*", text[start:end])]
    if not all(_TAGGED_SPEAKER.match(text, at, end) for at in starts):
        starts = [at for at in starts if at == starts[0] or _ASIDE.match(text, at, end)]
    ends = [*(text.rindex("\n", start, at) for at in starts[1:]), end]
    return [(at, at + len(text[at:last].rstrip())) for at, last in zip(starts, ends, strict=True)]


def _split_asides(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yield where the name of a speaker and notes in brackets are at the start of a passage, and then the rest of it.

    Each comes with whether it is a name or a note; a colon and brackets are no part of them.
    """
    while aside := _TAGGED_ASIDE.match(text, start, end):
        yield *aside.span(aside.lastgroup or 0), True
        rest = _REST.search(text, aside.end(), end)
        start = rest.start() if rest else end
    yield start, end, False


def _seconds(groups: Sequence[str | None]) -> float:
    sign, hours, minutes, seconds, fraction = ((each or "0")[:6] for each in groups)
    time = int(hours) * 3600 + int(minutes) * 60 + float(f"{seconds}.{fraction}")
    return -time if sign == "-" else time


def _join_sentences(cues: Sequence[_Cue]) -> list[list[_Cue]]:
    """Return the cues of each sentence."""
    sentences: list[list[_Cue]] = []
    for cue in cues:
        if sentences and _continues(sentences[-1], cue):
            sentences[-1].append(cue)
        else:
            sentences.append([cue])
    return sentences


def _continues(sentence: Sequence[_Cue], cue: _Cue) -> bool:
    """Return whether a cue goes on with a sentence that the cues before it began."""
    last, text = sentence[-1], cue.block.text.lstrip("\"'“‘«(…. ")
    return (
        cue.can_continue
        and not last.is_aside
        and len(sentence) < _MOST_CUES
        and cue.begins - last.begins >= 0
        and cue.begins - last.ends <= _LONGEST_PAUSE
        and not _END.search(last.block.text[-_TAIL:])
        and not cue.block.text.startswith(("[", "(", "♪"))
        and (text[:1].islower() or last.block.text.rstrip().endswith((",", "-", "–", "—")))
    )
