"""Generated documents of all formats, sound and damaged; print figures.

    python tests/outside/document_campaign.py [--count 1000] [--model MODEL --translated 100] [--formats .docx ...]
    python tests/outside/document_campaign.py --files FOLDER

Every file goes through an identity translator and through one that changes every word, and a damaged copy of
it is read. With --files, documents of other programs are read instead, such as the test data of a repository; what
is refused or broken is printed. ``--start`` is the first seed, ``--formats`` are suffixes. Nothing but headway is needed.
"""

import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.ext.documents.opening import is_document
from support.campaign import Campaign
from support.document_promises import (
    SHAPES,
    changed,
    damaged,
    of_others,
    read_shape,
    translated,
    unchanged,
)
from support.documents import TEXT_FORMATS
from support.office_files import OFFICE_MAKERS


class Documents(Campaign):
    """Documents, and what is broken of them."""

    def work(self):
        """Check ``--count`` files in turn over the formats, or those of a folder."""
        options = self.options
        if options.files:
            self.check_files(Path(options.files))
            return
        suffixes, slowest = options.formats or [*TEXT_FORMATS, *OFFICE_MAKERS], 0.0

        def check(count, promise):
            nonlocal slowest
            for number in range(count):
                started = time.process_time()
                yield promise(suffixes[number % len(suffixes)], options.start + number)
                slowest = max(slowest, time.process_time() - started)

        for promise in (unchanged, changed, damaged):
            self.report(promise.__name__, check(options.count, promise))
        for size in (19_500, 39_500, 49_500, 400_000):
            name = f"marks repeated {size:,} times"
            self.report(name, (read_shape(*shape, size) for shape in SHAPES))
        if options.model:
            from headway.translation import Translator

            translator = Translator.load(options.model)
            found = check(options.translated, lambda *each: translated(translator, *each))
            self.report("translated", found)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"slowest file {slowest:.2f} s, most memory {memory:.0f} MB")

    def report(self, name, found):
        """Count files, and note what is broken of some."""
        for broken in found:
            self.counts[name] += 1
            self.expect(not broken, broken)

    def check_files(self, folder):
        """Check all documents in a folder."""
        for each in sorted(folder.rglob("*")):
            if each.is_file() and is_document(each.name):
                said = of_others(each.read_bytes(), each.name)
                is_broken = ": other " in said
                self.counts["files"] += 1
                self.counts["files refused"] += bool(said) and not is_broken
                print(f"  {said}\n" * bool(said), end="")
                self.expect(not is_broken, said)


if __name__ == "__main__":
    formats = {"nargs": "+"}
    numbers = {"--count": 1000, "--translated": 100, "--start": 0}
    Documents.run(__doc__, {**numbers, "--model": "", "--formats": formats, "--files": ""})
