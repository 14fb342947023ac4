"""Strings that make a pattern slow, made from the pattern itself; and all patterns of the package.

A pattern of `re` takes more than linear time if two repetitions can read the same characters, or if a search begins
again at each character of a run. Both show when a piece of what the pattern reads is repeated and the end then does not fit.
"""

import ast
import importlib
import pkgutil
import random
import re
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import headway

SHORT, LONG = 3_000, 12_000  # characters of a pumped text
MOST = 5.0  # times as long for four times of a text
NOTICED = (
    0.01  # seconds: what takes the square of the longer text takes more, what takes its length less
)
CERTAIN = 20  # times what is noticed, which needs no second measurement with longer texts
SEARCHES = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})
ENDS = ("", "!", "\n", "\0", " x")
SOURCE = Path(headway.__file__).parent
CATEGORIES = {
    sre.CATEGORY_DIGIT: "07", sre.CATEGORY_SPACE: " \t\n", sre.CATEGORY_WORD: "aZ9_é",
    sre.CATEGORY_NOT_DIGIT: "a ", sre.CATEGORY_NOT_SPACE: "a<", sre.CATEGORY_NOT_WORD: " -<",
}  # fmt: skip


@dataclass
class Found:
    """A pattern of the package: where it stands, and how it is used."""

    pattern: "re.Pattern[Any]"
    place: str
    methods: set[str] = field(default_factory=set)


class Sampler:
    """Makes strings that a pattern reads, or nearly.

    Args:
        pattern: The pattern.
        chooser: Chooses among its alternatives and the characters of its classes.
    """

    def __init__(self, pattern, chooser):
        self.chooser = chooser
        source, flags = pattern.pattern, pattern.flags
        if isinstance(source, bytes):
            source = source.decode("latin-1")
            flags &= ~re.UNICODE
        self.tree = _parser.parse(source, flags & ~re.DEBUG)

    def make(self):
        """Return the parts of a string, of which each is what one item of the pattern reads."""
        self.groups: dict[int, list[str]] = {}
        return self._sequence(self.tree)

    def _sequence(self, items):
        return [part for code, value in items for part in self._item(code, value)]

    def _item(self, code, value):
        chooser = self.chooser
        match code:
            case sre.LITERAL:
                return [chr(value)]
            case sre.NOT_LITERAL:
                return [chooser.choice([c for c in "ax <" if ord(c) != value])]
            case sre.ANY:
                return [chooser.choice("a <")]
            case sre.IN:
                return [self._class(value)]
            case sre.BRANCH:
                return self._sequence(chooser.choice(value[1]))
            case sre.SUBPATTERN:
                self.groups[value[0]] = made = self._sequence(value[3])
                return made
            case sre.ATOMIC_GROUP:
                return self._sequence(value)
            case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
                least, most, body = value
                count = min(
                    int(most), max(int(least), chooser.choice((0, 1, 1, 2, 3))), int(least) + 3
                )
                return [part for _ in range(count) for part in self._sequence(body)]
            case sre.ASSERT:  # what is seen ahead is often read next
                return self._sequence(value[1]) if chooser.random() < 0.2 else []
            case sre.GROUPREF:
                return self.groups.get(value, [])
            case sre.GROUPREF_EXISTS:
                return self._sequence(value[1])
        return []  # places, and what must not follow

    def _class(self, items):
        chooser, negated = self.chooser, items[0][0] is sre.NEGATE
        options: list[str] = []
        for code, value in items:
            match code:
                case sre.LITERAL:
                    options.append(chr(value))
                case sre.RANGE:
                    options += [chr(value[0]), chr(chooser.randint(*value)), chr(value[1])]
                case sre.CATEGORY:
                    options += CATEGORIES[value]
        if negated:
            options = [each for each in "ax 0<&-.\n/{é" if each not in options] or ["\u4e00"]
        return chooser.choice(options)


def pumped(pattern, count, seed=0):
    """Yield functions that return a text of a length: a beginning, a repeated part and an end, all from the pattern.

    Args:
        pattern: The pattern.
        count: How many.
        seed: Of the choices.
    """
    chooser = random.Random(f"{seed} {pattern.pattern!r}")
    sampler = Sampler(pattern, chooser)
    for number in range(count):
        parts = sampler.make() or ["a"]
        if number % 2:  # the beginning, at which a search begins again and again
            first, last = 0, chooser.randint(1, len(parts))
        else:  # what a repetition reads
            first = chooser.randrange(len(parts))
            last = chooser.randint(first + 1, min(len(parts), first + 1 + number % 8))
        begin, part = "".join(parts[:first]), "".join(parts[first:last])
        end = chooser.choice([*ENDS, "".join(parts[last:])])
        make = lambda n, b=begin, p=part, e=end: b + p * (n // len(p)) + e  # noqa: E731
        if isinstance(pattern.pattern, bytes):
            yield lambda n, make=make: make(n).encode("latin-1", "replace")
        else:
            yield make


def slow_text(found, count, seed=0):
    """Return a text for which a pattern takes more than linear time, as an expression; "" if there is none among so many."""
    pattern = found.pattern
    uses: list[Callable[[Any], object]] = []
    if found.methods & SEARCHES or not found.methods:
        uses.append(lambda text: deque(pattern.finditer(text), maxlen=0))
    if found.methods & {"match", "fullmatch"}:
        uses += pattern.fullmatch, pattern.match
    for make in pumped(pattern, count, seed):
        if any(is_slow(use, make, NOTICED, 2.0) for use in uses):
            return repr(make(60))
    return ""


def is_slow(use, make, noticed=0.15, longest=8.0):
    """Return whether something takes more than `MOST` times as long with four times of a text, each time that this is tried.

    Args:
        use: Reads the text.
        make: Returns a text of a length.
        noticed: Seconds of the processor; less for the longer text is not slow.
        longest: More for the longer text is slow.
    """
    long = seconds(use, make(LONG), longest)
    if not noticed <= long < longest:
        return long >= noticed
    # Of longer texts, a disturbance is a small part, and much is in no cache.
    for length, most in ((SHORT, MOST), (LONG, 2 * MOST))[: 1 if long > CERTAIN * noticed else 2]:
        shorter = longer = longest
        for _ in range(3):
            shorter = min(shorter, seconds(use, make(length), longest))
            longer = min(longer, seconds(use, make(4 * length), longest))
            if longer <= most * shorter:
                return False
    return True


def seconds(use, text, longest):
    """Return how long something takes; it is interrupted after so many seconds, and then these are returned."""
    started = time.process_time()
    with suppress(TimeoutError), interrupted_after(longest):
        use(text)
        return min(longest, time.process_time() - started)
    return longest


@contextmanager
def interrupted_after(limit):
    """Raise TimeoutError after so many seconds of the processor; `re` looks for signals while it matches."""

    def interrupt(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def find_patterns(read):
    """Return every pattern of the package: those that modules compile, those that stand in calls, and those compiled later.

    Args:
        read: Does what compiles patterns when it runs.
    """
    re.purge()
    patterns: dict[tuple[Any, int], Found] = {}
    for module in [name for name in sys.modules if name.startswith("headway.")]:
        for value in list(vars(sys.modules[module]).values()):
            if isinstance(value, re.Pattern):  # of a module that was imported before
                patterns[value.pattern, value.flags] = Found(value, _place(sys.modules[module]))
    with recording(patterns):
        import_all()
        read()
    _add_literals(patterns)
    by_name, named = methods_of_names(), set()
    for module_name, module in list(sys.modules.items()):
        for name, value in list(vars(module).items()) if module_name.startswith("headway.") else ():
            if isinstance(value, re.Pattern) and (value.pattern, value.flags) in patterns:
                key = (str(module.__file__) if name.startswith("_") else "", name)
                named.add(key)
                patterns[value.pattern, value.flags].methods |= by_name.get(key, set())
    for found in patterns.values():
        if not found.methods:  # it has no name, or is given to a variable or an argument
            file = str(SOURCE / found.place.partition(":")[0])
            others = (
                methods for key, methods in by_name.items() if key[0] == file and key not in named
            )
            found.methods.update(*others)
    return list(patterns.values())


def _place(module):
    return str(Path(str(module.__file__)).relative_to(SOURCE))


@contextmanager
def recording(patterns):
    """Add each pattern that code of the package compiles meanwhile."""
    original = re._compile  # type: ignore[attr-defined]

    def compiling(source, flags):
        compiled = original(source, flags)
        frame = sys._getframe(1)
        method = frame.f_code.co_name
        while frame.f_back is not None and frame.f_code.co_filename == re.__file__:
            frame = frame.f_back
        if Path(frame.f_code.co_filename).is_relative_to(SOURCE):
            place = f"{Path(frame.f_code.co_filename).relative_to(SOURCE)}:{frame.f_lineno}"
            key = compiled.pattern, compiled.flags
            found = patterns.setdefault(key, Found(compiled, place))
            if method != "compile":
                found.methods.add(method)
        return compiled

    re._compile = compiling  # type: ignore[attr-defined]
    try:
        yield
    finally:
        re._compile = original  # type: ignore[attr-defined]


def import_all():
    """Import every module of the package that can be imported here."""
    for module in pkgutil.walk_packages([str(SOURCE)], "headway."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):
                importlib.import_module(module.name)


@cache
def _trees():
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}


def methods_of_names():
    """Return the methods of patterns that are called on each name: with the file of names that no other file can have."""
    found: dict[tuple[str, str], set[str]] = {}
    for path, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in {*SEARCHES, "match", "fullmatch"}:
                name = getattr(node.value, "attr", getattr(node.value, "id", ""))
                if name == "re":
                    continue
                file = str(path) if name.startswith("_") or not name.isupper() else ""
                found.setdefault((file, name), set()).add(node.attr)
    return found


def _add_literals(patterns):
    """Add the patterns that stand in calls such as ``re.sub("a+", ...)``, which may not have run."""
    known = {source for source, _ in patterns}
    for path, tree in _trees().items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                    args=[ast.Constant(value=source), *_],
                ) if source not in known:
                    pattern = re.compile(source)
                    found = Found(pattern, f"{path.relative_to(SOURCE)}:{node.lineno}", {method})
                    patterns[source, pattern.flags] = found
