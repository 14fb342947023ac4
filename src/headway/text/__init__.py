"""Files to batches: readers, cleaning, subwords, shards on disk, and the order of training."""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.text.batches import Batch, read_batch
    from headway.text.chunks import Workers, run_stage
    from headway.text.cleaning import broken_rule, digest_loosely
    from headway.text.encodings import likely_encoding
    from headway.text.groups import (
        Group,
        Manifest,
        check_file_language,
        check_file_languages,
        languages_from_names,
        require_pair,
    )
    from headway.text.languages import (
        CODE,
        NAMES,
        Languages,
        base_code,
        find_code,
        is_code,
        is_translatable,
        is_unspaced,
        list_codes,
        list_pairs,
        name_of,
        name_pair,
        normalize_code,
        shorten_code,
        translate_gap,
    )
    from headway.text.learning import spread_step
    from headway.text.lines import (
        LONGEST,
        STANDARD_INPUT,
        SURROGATE,
        Damaged,
        open_bytes,
        plain_suffix,
        read_lines,
        recognize_wide,
        scan_lines,
    )
    from headway.text.preparation.plan import Plan
    from headway.text.preparation.preparing import prepare
    from headway.text.preparation.stages import PreparationStages
    from headway.text.prepared import PreparedData, check_new, write_ids, write_prepared
    from headway.text.readers import FileForm, Pair, one_line, read_pairs, require_readable
    from headway.text.sentencepiece_file import SentencePieceFile
    from headway.text.shards import Corpus
    from headway.text.tables import (
        Row,
        find_named_columns,
        find_other_languages,
        read_rows,
        recognize_dialect,
    )
    from headway.text.tokenizer import Tokenizer, check_symbols
    from headway.text.vocabulary import EOS, PAD, SPACE, Draw, is_language, language_symbol
    from headway.text.word_links import WordLinks
    from headway.text.words import (
        LETTERS,
        MARK,
        UNSEEN,
        UNSPACED,
        WORD,
        Span,
        find_words,
        is_byte,
        is_inside_word,
        is_word_alone,
        is_word_character,
        simplify_breaks,
        turn_marks_to_letters,
        word_at,
    )

# What an extension that reads or prepares text needs.
__all__ = ["Damaged", "Manifest", "Pair", "PreparedData", "Tokenizer", "read_pairs"]


if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
