"""Generated documents of all formats, sound and damaged; print figures.

    python tests/outside/document_campaign.py [--count 1000] [--model MODEL --translated 100]
    python tests/outside/document_campaign.py --files FOLDER

Every file goes through an identity translator and through one that changes every word, and a damaged copy of
it is read. With --files, documents of other programs are read instead, such as the test data of a repository; what
is refused or broken is printed. The exit code is 1 if a promise is broken. Nothing but headway is needed.
"""

import argparse
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.ext.documents.opening import is_document
from support.document_promises import (
    SHAPES,
    changed,
    damaged,
    of_others,
    read_shape,
    translated,
    unchanged,
)
from support.documents import MAKERS
from support.office_files import OFFICE_MAKERS


def main() -> int:
    """Check ``--count`` files in turn over the formats."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--model", help="also translate files with this model")
    parser.add_argument("--translated", type=int, default=100, help="how many")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--formats", nargs="+", help="suffixes; all without it")
    parser.add_argument("--files", type=Path, help="a folder with documents of other programs")
    args = parser.parse_args()
    if args.files:
        return check_files(args.files)
    failed, slowest, suffixes = 0, 0.0, args.formats or [*MAKERS, *OFFICE_MAKERS]
    for promise in (unchanged, changed, damaged):
        broken = []
        for number in range(args.count):
            started = time.process_time()
            found = promise(suffixes[number % len(suffixes)], args.start + number)
            slowest = max(slowest, time.process_time() - started)
            broken += [found] if found else []
        print(f"{promise.__name__:<10} {args.count:>6} files, {len(broken)} broken", flush=True)
        print("".join(f"  {line}\n" for line in broken[:10]), end="")
        failed += len(broken)
    for size in (25_000, 49_000, 400_000):
        broken = [found for shape in SHAPES if (found := read_shape(*shape, size))]
        print(f"repeated   {len(SHAPES):>6} marks {size:,} times, {len(broken)} broken", flush=True)
        print("".join(f"  {line}\n" for line in broken), end="")
        failed += len(broken)
    if args.model:
        from headway.translation import Translator

        translator = Translator.load(args.model)
        broken = [
            found
            for number in range(args.translated)
            if (
                found := translated(
                    translator, suffixes[number % len(suffixes)], args.start + number
                )
            )
        ]
        print(f"translated {args.translated:>6} files, {len(broken)} broken", flush=True)
        print("".join(f"  {line}\n" for line in broken[:10]), end="")
        failed += len(broken)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"slowest file {slowest:.2f} s, most memory {memory:.0f} MB")
    return failed > 0


def check_files(folder: Path) -> bool:
    """Check all documents in a folder; return whether a promise is broken."""
    files = [each for each in sorted(folder.rglob("*")) if each.is_file() and is_document(each.name)]  # fmt: skip
    found = [said for each in files if (said := of_others(each.read_bytes(), each.name))]
    broken = [said for said in found if ": other " in said]
    print("".join(f"  {said}\n" for said in found), end="")
    print(f"{len(files):,} files, {len(found) - len(broken)} refused, {len(broken)} broken")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
