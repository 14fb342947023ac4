"""What an experiment found, as plain values: tables, figures and claims."""

import json
import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from headway.errors import HeadwayError
from headway.ext.paper.verdicts import VERDICTS, Verdict

FORMAT = 1
Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """A table; None is an empty cell.

    Attributes:
        title: With the unit if all cells have the same.
        columns: Their headings.
        rows: Each has as many cells as there are columns.
        note: What a reader must know beside the table.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: {len(row)} cells for {len(self.columns)} columns")


@dataclass(frozen=True)
class Figure:
    """A picture as an SVG document; the text is empty if matplotlib was missing."""

    caption: str
    svg: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether it came true here.

    Attributes:
        text: What the paper says, in our words.
        paper: The paper's number.
        ours: Our number, with its interval.
        verdict: See `headway.ext.paper.verdicts`.
        why: What the verdict rests on.
        section: Of the paper; if it is empty, the experiment's.
        p: Of a trend: how probable such differences would be without it; see `p_value`.
        optimizer: Of the models that are compared, such as Adam or Muon.
    """

    text: str
    paper: str
    ours: str
    verdict: Verdict
    why: str = ""
    section: str = ""
    p: float | None = None
    optimizer: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.verdict}: a verdict is one of {', '.join(VERDICTS)}")


@dataclass(frozen=True)
class Findings:
    """All that an experiment found.

    Attributes:
        name: The experiment's name on the command line. `headway.ext.paper.reproduction` adds name, title,
            section and seconds.
        title: For people.
        section: Of the paper, or what it is about if that is no section.
        tables: In reading order.
        figures: In reading order.
        claims: In reading order.
        differs: How the experiment departs from the paper.
        seconds: How long it took.
        settings: What it ran with.
    """

    name: str = ""
    title: str = ""
    section: str = ""
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()
    differs: str = ""
    seconds: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the result as text; numbers that are not finite become null."""
        values = _finite({"format": FORMAT, **asdict(self)})
        return json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "Findings":
        """Read what `to_json` returned.

        Raises:
            HeadwayError: If the text is something else.
        """
        try:
            values = json.loads(text)
            if values.pop("format") != FORMAT:
                raise HeadwayError("a result of another format")
            for table in values["tables"]:
                table["columns"] = tuple(table["columns"])
                table["rows"] = tuple(map(tuple, table["rows"]))
            for key, kind in (("tables", Table), ("figures", Figure), ("claims", Claim)):
                values[key] = tuple(kind(**item) for item in values[key])
            return cls(**values)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise HeadwayError(f"not a result of an experiment ({error})") from None


Finding = Table | Figure | Claim


def collect(*findings: Finding) -> Findings:
    """Return findings by their kinds, each kind in reading order."""
    return Findings(
        tables=tuple(finding for finding in findings if isinstance(finding, Table)),
        figures=tuple(finding for finding in findings if isinstance(finding, Figure)),
        claims=tuple(finding for finding in findings if isinstance(finding, Claim)),
    )


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic):
        return _finite(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def place_text(section: str) -> str:
    """Write a place of the paper: ``section 6.1``, and what is no section as it is."""
    return f"section {section}" if section[:1].isdigit() else section
