"""Readers: lines end at line feeds only, every format gives the same pairs, memory is constant."""

import gzip
import io
import json
import lzma
import random
import sys
import zlib
from itertools import pairwise

import pytest
import zstandard

from headway.errors import HeadwayError
from headway.text import Pair, compression, read_lines, read_pairs
from support.numbered_text import number_pairs

PACK = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
LANGUAGES = ("en", "de")
PAIRS = number_pairs(17)
NUMBERED = [Pair(source, target, line) for line, (source, target) in enumerate(PAIRS, 1)]


def test_lines_end_at_line_feeds_only(tmp_path):
    draw = random.Random(3)
    characters = ["a", "ß", "日", "😀", " ", "\t", "\0", *"\u2028\u2029\x85\v\f\x1c\r", "\n", "\n"]
    for number in range(53):
        text = "".join(draw.choices(characters, k=draw.randrange(101)))
        path = tmp_path / f"{number}.txt"
        path.write_bytes(text.encode())
        expected = text.removesuffix("\n").split("\n") if text else []
        assert list(read_lines(path)) == [line.removesuffix("\r") for line in expected]


@pytest.mark.parametrize("suffix", PACK)
def test_compression_is_recognized_by_content_and_may_have_several_members(tmp_path, suffix):
    draw = random.Random(5)
    text = "".join(f"{draw.random()} größer\n" for _ in range(20_011))
    data = text.encode()
    members = b"".join(PACK[suffix](data[a:b]) for a, b in pairwise((0, 7, 300_007, len(data))))
    path = tmp_path / "whatever.txt"
    path.write_bytes(members)
    assert "\n".join(read_lines(path)) + "\n" == text


def test_pairs_on_standard_input_are_tab_separated(monkeypatch):
    text = "".join(f"{source}\t{target}\n" for source, target in PAIRS)
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())))
    )
    assert list(read_pairs(["-"])) == NUMBERED


@pytest.mark.parametrize("wrap", [lambda record: record, lambda record: {"translation": record}])
def test_json_lines_may_use_language_codes_as_keys(tmp_path, wrap):
    path = tmp_path / "a.jsonl"
    records = [
        json.dumps(wrap({"de": t, "en": s, "fr": "x"}), ensure_ascii=False) for s, t in PAIRS
    ]
    path.write_text("\n\n".join(records) + "\n\n", encoding="utf-8")
    assert [pair[:2] for pair in read_pairs([path], LANGUAGES)] == PAIRS
    assert [pair[1::-1] for pair in read_pairs([path], ("de", "en"))] == PAIRS
    with pytest.raises(HeadwayError, match=r'a\.jsonl:1: .*"source".*languages'):
        list(read_pairs([path]))


@pytest.mark.parametrize("brk", ["\n", "\r", "\r\n", " \n \n "])
def test_no_side_ever_holds_a_line_break(tmp_path, brk):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"source": f"{brk}a{brk}b", "target": f"c{brk}"}))
    assert list(read_pairs([path])) == [Pair("a b", "c", 1)]


def test_a_byte_order_mark_is_removed_from_the_first_line_only(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeff\ufeffa\n\ufeffb\n".encode())
    assert list(read_lines(path)) == ["\ufeffa", "\ufeffb"]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_compression_bomb_is_refused_and_a_large_honest_file_is_read(
    suffix, tmp_path, monkeypatch
):
    monkeypatch.setattr(compression, "FREELY", 100_000)
    bomb, honest = tmp_path / f"bomb{suffix}", tmp_path / f"honest{suffix}"
    bomb.write_bytes(PACK[suffix](b"a line\n" * 300_000))
    with pytest.raises(HeadwayError, match=r"bomb.*:\d+: it unpacks to more than 200 times"):
        for _ in read_lines(bomb):
            pass
    draw = random.Random(3)
    text = "".join(f"ein Satz {draw.random()} ein Satz\n" for _ in range(8_000))  # 300 kB
    honest.write_bytes(PACK[suffix](text.encode()))
    assert sum(1 for _ in read_lines(honest)) == text.count("\n")


@pytest.mark.parametrize("suffix", [".xz", ".zst"])
def test_a_window_that_needs_much_memory_is_no_damage(suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    if suffix == ".zst":
        settings = zstandard.ZstdCompressionParameters.from_level(1, window_log=29)
        stream = zstandard.ZstdCompressor(compression_params=settings).compressobj()
        path.write_bytes(stream.compress(b"a\n") + stream.flush())
    else:
        data = bytearray(lzma.compress(b"a\n"))
        data[16] = 36  # a window of a gigabyte
        data[20:24] = zlib.crc32(data[12:20]).to_bytes(4, "little")
        path.write_bytes(data)
    with pytest.raises(
        HeadwayError, match=r"a\.\w+:1: it is damaged here, or compressed with a very large window"
    ):
        list(read_lines(path))
