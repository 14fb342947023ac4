"""The output of ``headway translate``: plain lines, columns or JSON."""

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.config import SearchConfig
    from headway.translation import Translation

QUALITY = ("quality", "defects", "repaired")  # of a translation that is rated


def format_lines(
    line: str,
    translations: "list[Translation]",
    args: argparse.Namespace,
    search: "SearchConfig",
    line_end: str = "\n",
) -> str:
    """Return the output for an input line: as many lines as translations were asked for, or one JSON object.

    Each text stands there once, though other tokens may spell it, too; samples are all kept. Where there are fewer
    translations, as of a blank line, blank lines follow, so that a reader of the lines knows to which input line each
    belongs.

    Args:
        line: The input line.
        translations: Its n best translations.
        args: With the options ``json``, ``scores`` and ``alignment``.
        search: The settings that found them.
        line_end: Of lines that are not JSON.
    """
    if not search.sample:
        first = {each.text: number for number, each in reversed([*enumerate(translations)])}
        translations = [translations[number] for number in sorted(first.values())]
    if args.json:
        return f"{json.dumps(_object(line, translations), ensure_ascii=False)}\n"
    rows = ["\t".join(_columns(each, args)) for each in translations]
    rows += [""] * (search.n_best - len(rows))
    return "".join(row + line_end for row in rows)


def _columns(translation: "Translation", args: argparse.Namespace) -> list[str]:
    columns = [f"{translation.score:.4f}"] if args.scores else []
    if translation.quality is not None:
        columns.append(f"{translation.quality:.4f}")
    columns.append(translation.text)
    if args.alignment:
        columns.append(" ".join(f"{s}-{t}" for s, t in translation.alignment or ()))
    if translation.quality is not None:
        columns.append(translation.notes)
    return columns


def _object(line: str, translations: "list[Translation]") -> dict[str, object]:
    return {
        "source": line,
        "translations": [
            {
                "text": t.text,
                "score": t.score,
                "log_probability": t.log_probability,
                "tokens": t.tokens,
                **({} if t.alignment is None else {"alignment": t.alignment}),
                **{name: getattr(t, name) for name in QUALITY if t.quality is not None},
            }
            for t in translations
        ],
    }
