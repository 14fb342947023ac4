"""Tables of the results of ``headway bench``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.ext.bench.bench import BenchResult
    from headway.ext.bench.bench_machine import MachineResult


def format_table(result: "BenchResult") -> str:
    """Return the results as text."""
    values = result.to_dict()
    facts = {
        "processor": result.processor,
        "device, precision, threads": f"{result.device}, {result.precision}, {result.threads}",
        "parameters": f"{result.parameters:,}",
        "repeats": f"{result.repeats}: median (minimum to maximum)",
    }
    if result.work == "train":
        [row] = values["rows"]
        facts |= {
            "target tokens/s": _format_summary(row["tokens_per_second"]),
            "tokens a step, steps": f"{row['tokens'] / row['steps']:,.0f}, {row['steps']}",
            "padding, source and target": f"{row['source_padding']:.1%}, {row['target_padding']:.1%}",
            "GFLOP/s": f"{row['flop_per_second'] / 1e9:,.0f}",
            "share of the matrix rate": f"{row['share_of_matrix_rate']:.0%}",
        }
    facts |= {
        "matrix rate, GFLOP/s": f"{result.matrix_rate / 1e9:,.0f}",
        "peak memory": f"{result.peak_memory / 1e9:.2f} GB",
    }
    lines = [f"{name:<30}{value}" for name, value in facts.items()]
    if result.work == "translate":
        head = ("batch x beam", "sentences/s", "output tokens/s", "GFLOP/s", "of matrix rate")
        cells = [
            (
                f"{row['batch']}x{row['beam']}",
                _format_summary(row["sentences_per_second"]),
                _format_summary(row["tokens_per_second"]),
                f"{row['flop_per_second'] / 1e9:,.1f}",
                f"{row['share_of_matrix_rate']:.1%}",
            )
            for row in values["rows"]
        ]
        lines += _format_cells([head, *cells], (14, 26, 30, 10, 0))
    return "\n".join(lines)


def format_machine_table(result: "MachineResult") -> str:
    """Return the results of all parts as text."""
    values = result.to_dict()
    published = result.published_rate
    facts = {
        "processor": result.processor,
        "device, precision of training": f"{result.device}, {result.precision}",
        "matrix rate, TFLOP/s": f"{result.matrix_rate / 1e12:,.2f}",
        "published rate, TFLOP/s": f"{published / 1e12:,.0f}" if published else "not known here",
        "duration": f"{result.seconds:.0f} s",
    }
    lines = [f"{name:<30}{value}" for name, value in facts.items()]
    for part, speed in (("training", "target tokens/s"), ("decoding", "output tokens/s")):
        cells = [(part, speed, "of matrix rate", "of published", "peak memory")]
        for name, each in values[part].items():
            for row in each["rows"]:
                is_decoding = part == "decoding"
                of_cell = (
                    f" {row['batch']}x{row['beam']} {each['precision']}" if is_decoding else ""
                )
                share = row["share_of_published_rate"]
                cells.append(
                    (
                        f"{name}{of_cell}",
                        _format_summary(row["tokens_per_second"]),
                        f"{row['share_of_matrix_rate']:.1%}",
                        "" if share is None else f"{share:.1%}",
                        f"{each['peak_memory'] / 1e9:.2f} GB",
                    )
                )
        lines += _format_cells(cells)
    if values["ctranslate2"]:
        head = ("beside CTranslate2", "Headway, tokens/s", "CTranslate2", "", "ratio")
        cells = [
            (
                f"{row['preset']} {row['batch']}x{row['beam']}",
                _format_summary(row["headway"]),
                f"{row['ctranslate2']['median']:,.0f}",
                row["precision"],
                f"{row['ratio']:.2f}",
            )
            for row in values["ctranslate2"]
        ]
        lines += _format_cells([head, *cells])
    return "\n".join([*lines, *([""] if result.problems else []), *result.problems])


def _format_summary(values: dict[str, float]) -> str:
    digits = 0 if values["median"] >= 100 else 1
    median, low, high = (f"{values[name]:,.{digits}f}" for name in ("median", "low", "high"))
    if low == high:
        return median
    return f"{median} ({low} to {high})"


def _format_cells(
    rows: list[tuple[str, str, str, str, str]],
    widths: tuple[int, int, int, int, int] = (22, 34, 16, 14, 0),
) -> list[str]:
    """Return an empty line and the lines of a table."""
    lines = (
        "".join(f"{word:<{width}}" for word, width in zip(cells, widths, strict=True))
        for cells in rows
    )
    return ["", *(line.rstrip() for line in lines)]
