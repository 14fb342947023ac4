"""Subtitles: sentences that run across cues are translated whole and divided among them again.

The formats are SubRip (.srt), WebVTT (.vtt), SubStation Alpha (.ass, .ssa) and MicroDVD (.sub). They differ in what stands
before the text of a cue, and in `CueGrammar`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headway.errors import HeadwayError
from headway.ext.documents.cue_text import TAG, CueGrammar, divide, make_cue, write_cue
from headway.ext.documents.edited_file import EditedFile
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.ext.documents.text_file import Edit, check_count, read_text_file
from headway.text import is_translatable

_GRAMMARS = {
    ".srt": CueGrammar(),
    ".vtt": CueGrammar(has_references=True),
    ".ass": CueGrammar(r"\{[^{}\r\n]*\}", r"\\[Nn]", r"\N"),
    ".sub": CueGrammar(r"\{[^{}\r\n]*\}|(?:(?<=\|)|(?<=\}))/", r"\|", "|"),
}
_GRAMMARS[".ssa"] = _GRAMMARS[".ass"]
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
# SubStation Alpha: the fields of a line, of which the last one is the text. A text with \p draws lines.
_FIELDS = re.compile(r"^Format:(.*(?:^|,)[ \t]*Text[ \t]*\r?)$", re.MULTILINE)
_DIALOGUE = r"^Dialogue:[ \t]*(?:[^,\r\n]*,){{{0}}}[ \t]*{time}[ \t]*,[ \t]*{time}[ \t]*,(?:[^,\r\n]*,){{{1}}}([^\r\n]*)"
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9]")
_FRAMES = re.compile(r"^\{(\d+)\}\{(\d*)\}([^\r\n]*)", re.MULTILINE)
_FRAMES_PER_SECOND = 25  # of most videos
_LINE_END = re.compile(r"\r\n|\n|\r")
_END = re.compile(r"[.!?…。！？:;](?:[\"'”’»)\]♪\s-]|<[^<>]*>)*\Z|[♪)\]]\s*\Z")
_SPEAKER = r"(?:[-–—]|>>|&gt;&gt;)"  # what marks that another one speaks
_TAGGED_SPEAKER = re.compile(rf"(?:{TAG})*{_SPEAKER}")
_DASH = re.compile(rf"{_TAGGED_SPEAKER.pattern}[ \t]*(?=\S)")
# At the start of a line: the name of a speaker, each word with a capital, or a note in brackets.
_ASIDE = re.compile(
    r"(?:(?:[^\W\d_a-z][\w.'’-]*(?: [^\W_a-z][\w.'’-]*){0,2}):|\[(?P<heard>[^\[\]\r\n]*)\]:?|\((?P<seen>[^()\r\n]*)\):?)(?=[ \t\r\n|\\]|\Z)"
)
_TAGGED_ASIDE = re.compile(rf"(?:{TAG})*{_ASIDE.pattern}")
_REST = re.compile(r"\S")
_TAIL = 300  # characters in which the end of a sentence is looked for
_LONGEST_PAUSE = 3.0  # seconds between two cues of a sentence
_MOST_CUES = 6  # of a sentence
_MOST_LINES = 2  # of a cue that had one


@dataclass(slots=True)
class _Time:
    """When a cue is shown, and where its text stands in the file."""

    begins: float
    ends: float
    start: int
    end: int

    def name(self, number: int) -> str:
        """Return how a person finds the cue: by its number and by its time."""
        minutes, seconds = divmod(int(max(0.0, self.begins)), 60)
        hours, minutes = divmod(minutes, 60)
        return f"cue {number} ({hours:02}:{minutes:02}:{seconds:02})"


@dataclass(slots=True)
class _Cue:
    """A passage of a cue: a whole cue, or what one of two speakers says in it.

    Attributes:
        time: When the cue is shown.
        start: Where the passage starts in the file.
        block: Its text.
        is_note: Whether it is a note in brackets, which is no part of a sentence.
        can_continue: Whether it can go on with the sentence of the cue before it.
        most_lines: What it may have if it had fewer.
    """

    time: _Time
    start: int
    block: Paragraph
    is_note: bool
    can_continue: bool
    most_lines: int


@dataclass(slots=True)
class _Sentence:
    """The cues of a sentence; see `headway.ext.documents.edited_file.Entry`."""

    cues: list[_Cue]
    grammar: CueGrammar

    @property
    def start(self) -> int:
        """Where its first cue starts."""
        return self.cues[0].start

    @property
    def paragraphs(self) -> list[Paragraph]:
        """The whole sentence."""
        first, *others = (cue.block for cue in self.cues)
        text = " ".join(block.text for block in (first, *others))
        return [Paragraph(text, place=first.place) if others else first]

    def edit(self, translations: Sequence[Translated]) -> Iterator[Edit]:
        """Yield the edits that divide the translation among the cues."""
        [translated] = translations
        texts = [cue.block.text for cue in self.cues]
        if translated.text == " ".join(texts):
            return
        divided = divide(texts, translated) if len(texts) > 1 else [translated]
        for cue, part in zip(self.cues, divided, strict=True):
            end = cue.start + len(cue.block.source)
            yield Edit(cue.start, end, write_cue(cue.block, part, self.grammar, cue.most_lines))  # fmt: skip


def read_subtitles(data: bytes, options: DocumentOptions) -> EditedFile:
    """Read a file of subtitles.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file has no cue, or a line is meant as a time line and is none.
    """
    suffix = options.suffix
    file, grammar = read_text_file(data, options.source), _GRAMMARS[suffix]
    text = file.text
    check_count(len(re.findall(r"[\r\n<{\])|]|:[ \t]|\\[Nn]", text)), "lines, tags and notes")
    if suffix == ".vtt" and not text.startswith("WEBVTT"):
        raise HeadwayError("does not begin with WEBVTT")
    if suffix in (".ass", ".ssa"):
        times, example = [*_read_dialogue(text)], "Dialogue: 0,0:00:01.00,0:00:02.00,"
    elif suffix == ".sub":
        frames = _FRAMES.finditer(text)
        times = [_Time(int(each[1]) / _FRAMES_PER_SECOND, int(each[2] or each[1]) / _FRAMES_PER_SECOND, *each.span(3)) for each in frames]  # fmt: skip
        example = "{25}{50}"
    else:
        times, example = [*_read_times(text, suffix == ".vtt")], "00:00:01,000 --> 00:00:02,000"
    if not times and suffix != ".vtt":
        raise HeadwayError(f"has no subtitle with a time such as {example}")
    if not grammar.line_end and (found := _LINE_END.search(text)):
        grammar = replace(grammar, line_end=found[0])
    cues = [
        cue
        for number, time in enumerate(times, 1)
        for cue in _read_cue(text, time, grammar, time.name(number))
    ]
    entries = [_Sentence(own, grammar) for own in _join_sentences(cues)]
    return EditedFile(file, entries)


def _read_times(text: str, is_vtt: bool) -> Iterator[_Time]:
    """Yield the cues of SubRip and of WebVTT."""
    _check_time_lines(text, is_vtt)
    timings = list(_TIMING.finditer(text))
    for number, timing in enumerate(timings):
        following = timings[number + 1].start() if number + 1 < len(timings) else len(text)
        body = _find_body(text, timing.end(), following, is_vtt)
        yield _Time(_seconds(timing.groups()[:5]), _seconds(timing.groups()[5:]), *body)


def _read_dialogue(text: str) -> Iterator[_Time]:
    """Yield the cues of SubStation Alpha."""
    declared = _FIELDS.search(text)
    names = declared[1].replace(" ", "").strip().split(",") if declared else []
    first = names.index("Start") if "Start" in names else 1
    rest = len(names) - first - 3 if names[first + 1 : first + 2] == ["End"] else 6
    pattern = re.compile(_DIALOGUE.format(first, max(0, rest), time=_TIME), re.MULTILINE)
    for found in pattern.finditer(text):
        if not _DRAWING.search(found[11]):
            yield _Time(_seconds(found.groups()[:5]), _seconds(found.groups()[5:10]), *found.span(11))  # fmt: skip


def _read_cue(text: str, time: _Time, grammar: CueGrammar, place: str) -> Iterator[_Cue]:
    """Yield the passages of a cue that have letters or digits."""
    for start, end in _split_speakers(text, time.start, time.end, grammar):
        dash = _DASH.match(text, start, end)  # of a speaker: it stays
        for at, last, is_note in _split_notes(text, dash.end() if dash else start, end):
            most = 0
            if not is_note:
                whole = f"{text[time.start : at]}x{text[last : time.end]}"
                most = _MOST_LINES + 1 - len(grammar.list_lines(whole))
            block = make_cue(text[at:last], grammar)
            block.place = place
            if is_translatable(block.text):
                can_continue = at == time.start and not is_note
                yield _Cue(time, at, block, is_note, can_continue, most)


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


def _split_speakers(text: str, start: int, end: int, grammar: CueGrammar) -> list[tuple[int, int]]:
    """Return where the passages of a cue are: a line begins one with a name, or if all lines begin with a dash."""
    breaks = [*grammar.borders.finditer(text, start, end)]
    start = end - len(text[start:end].lstrip(" \t"))
    starts = [start, *(each.end() for each in breaks)]
    ends = [*(each.start() for each in breaks), end]
    if not all(_TAGGED_SPEAKER.match(text, at, end) for at in starts):
        begun = [n for n, at in enumerate(starts) if n == 0 or _ASIDE.match(text, at, end)]
        ends = [*(ends[n - 1] for n in begun[1:]), end]
        starts = [starts[n] for n in begun]
    return [(at, at + len(text[at:last].rstrip())) for at, last in zip(starts, ends, strict=True)]


def _split_notes(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yield where notes in brackets are at the start of a passage, and then the rest of it, and whether each is a note.

    The name of a speaker before the rest, a colon and brackets are no part of them.
    """
    while aside := _TAGGED_ASIDE.match(text, start, end):
        if aside.lastgroup:
            yield *aside.span(aside.lastgroup), True
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
        and not last.is_note
        and len(sentence) < _MOST_CUES
        and cue.time.begins - last.time.begins >= 0
        and cue.time.begins - last.time.ends <= _LONGEST_PAUSE
        and not _END.search(last.block.text[-_TAIL:])
        and not cue.block.text.startswith(("[", "(", "♪"))
        and (text[:1].islower() or last.block.text.rstrip().endswith((",", "-", "–", "—")))
    )
