"""Tables of the results of ``headway bench``."""

from collections.abc import Mapping, Sequence
from typing import Any

WIDTHS = (22, 34, 16, 16)  # of the columns but the last


def format_table(found: Mapping[str, Any]) -> str:
    """Return what `headway.ext.bench.bench` has found, as text."""
    facts, tables = (_list_machine if found["work"] == "all" else _list_model)(found)
    facts = {"processor": found["processor"], **facts}
    lines = [f"{name:<30}{value}" for name, value in facts.items()]
    for rows in tables:
        lines.append("")
        for *cells, last in rows:
            words = "".join(f"{c:<{width}}" for c, width in zip(cells, WIDTHS, strict=False))
            lines.append(f"{words}{last}".rstrip())
    problems = found.get("problems", [])
    return "\n".join([*lines, *([""] if problems else []), *problems])


Listed = tuple[dict[str, str], list[list[Sequence[str]]]]  # facts, and the rows of tables


def _list_model(found: Mapping[str, Any]) -> Listed:
    """Return what is shown of one model."""
    facts = {
        "device, precision, threads": f"{found['device']}, {found['precision']}, {found['threads']}",
        "parameters": f"{found['parameters']:,}",
        "repeats": f"{found['repeats']}: median (minimum to maximum)",
        "matrix rate, GFLOP/s": f"{found['matrix_rate'] / 1e9:,.0f}",
        "peak memory": f"{found['peak_memory'] / 1e9:.2f} GB",
    }
    if found["work"] == "train":
        [row] = found["rows"]
        return facts | {
            "target tokens/s": _format_summary(row["tokens_per_second"]),
            "tokens a step, steps": f"{row['tokens'] / row['steps']:,.0f}, {row['steps']}",
            "padding, source and target": f"{row['source_padding']:.1%}, {row['target_padding']:.1%}",
            "GFLOP/s": f"{row['flop_per_second'] / 1e9:,.0f}",
            "share of the matrix rate": f"{row['share_of_matrix_rate']:.0%}",
        }, []
    rows: list[Sequence[str]] = [
        ("batch x beam", "output tokens/s", "sentences/s", "GFLOP/s", "of matrix rate")
    ]
    rows += [
        (
            f"{row['batch']}x{row['beam']}",
            _format_summary(row["tokens_per_second"]),
            f"{row['sentences_per_second']['median']:,.1f}",
            f"{row['flop_per_second'] / 1e9:,.1f}",
            f"{row['share_of_matrix_rate']:.1%}",
        )
        for row in found["rows"]
    ]
    return facts, [rows]


def _list_machine(found: Mapping[str, Any]) -> Listed:
    """Return what is shown of a whole machine."""
    published = found["published_rate"]
    facts = {
        "device, precision of training": f"{found['device']}, {found['precision']}",
        "matrix rate, TFLOP/s": f"{found['matrix_rate'] / 1e12:,.2f}",
        "published rate, TFLOP/s": f"{published / 1e12:,.0f}" if published else "not known here",
        "duration": f"{found['seconds']:.0f} s",
    }
    tables: list[list[Sequence[str]]] = []
    for part, speed in (("training", "target tokens/s"), ("decoding", "output tokens/s")):
        tables.append([(part, speed, "of matrix rate", "of published", "peak memory")])
        for name, each in found[part].items():
            for row in each["rows"]:
                cell = f" {row['batch']}x{row['beam']} {each['precision']}" if "beam" in row else ""
                share = row["share_of_published_rate"]
                tables[-1].append(
                    (
                        f"{name}{cell}",
                        _format_summary(row["tokens_per_second"]),
                        f"{row['share_of_matrix_rate']:.1%}",
                        "" if share is None else f"{share:.1%}",
                        f"{each['peak_memory'] / 1e9:.2f} GB",
                    )
                )
    if found["ctranslate2"]:
        tables.append([("beside CTranslate2", "Headway, tokens/s", "CTranslate2", "", "ratio")])
    for row in found["ctranslate2"]:
        tables[-1].append(
            (
                f"{row['preset']} {row['batch']}x{row['beam']}",
                _format_summary(row["headway"]),
                f"{row['ctranslate2']['median']:,.0f}",
                row["precision"],
                f"{row['ratio']:.2f}",
            )
        )
    return facts, tables


def _format_summary(values: Mapping[str, float]) -> str:
    digits = 0 if values["median"] >= 100 else 1
    median, low, high = (f"{values[name]:,.{digits}f}" for name in ("median", "low", "high"))
    if low == high:
        return median
    return f"{median} ({low} to {high})"
