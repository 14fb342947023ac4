"""Native libraries are compiled once for each machine, checked, and compiled again if something changes."""

import logging
import shutil

import pytest

from headway.ext.native import build, compile_native, library
from headway.ext.native.training_library import training_library
from headway.ext.native.variants import find_compiler
from headway.files import cache_directory

compiled = pytest.mark.skipif(training_library() is None, reason=library.failure_reason("training"))


@pytest.fixture
def own_sources(tmp_path, monkeypatch):
    """The directory of a small library's sources, with a cache of its own."""
    sources = tmp_path / "native"
    sources.mkdir()
    (sources / "one.cpp").write_text('#include "a.h"\nextern "C" int one() { return A + B; }\n')
    (sources / "a.h").write_text('#include "b.h"\n#define A 1\n')
    (sources / "b.h").write_text("#pragma once\n#define B 0\n")
    (sources / "other.h").write_text("")
    monkeypatch.setattr(library, "SOURCES", sources)
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    return sources


def target(sources):
    """The file of the small library in the cache."""
    compiler = find_compiler()
    assert compiler is not None
    return build.name_library(sources / "one.cpp", library.choose_variants()[0], compiler)


@pytest.mark.slow
@compiled
def test_compiling_is_logged_before_it_begins(own_sources, monkeypatch, caplog):
    before = []
    compile_it = build._compile
    monkeypatch.setattr(
        build, "_compile", lambda *args: before.append(len(caplog.records)) or compile_it(*args)
    )
    with caplog.at_level(logging.WARNING, "headway"):
        for _ in range(2):
            assert library._load.__wrapped__("one")[0] is not None
    assert before == [1]  # the message comes first, and only if a compiler runs
    (record,) = caplog.records
    assert record.name == "headway"
    assert "compiling native/one.cpp" in record.message


@compiled
def test_the_name_of_a_build_depends_on_all_included_files(own_sources):
    first = target(own_sources)
    (own_sources / "other.h").write_text("#define OTHER")
    assert target(own_sources) == first
    for name in ("one.cpp", "a.h", "b.h"):
        before = target(own_sources)
        (own_sources / name).write_text((own_sources / name).read_text() + "// longer\n")
        assert target(own_sources) != before


@compiled
def test_a_library_is_loaded_where_the_compiler_is_gone(own_sources, monkeypatch):
    """As in a container image that a library was built into."""
    assert library._load.__wrapped__("one")[0] is not None
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = library._load.__wrapped__("one")[0]
    assert found is not None
    assert found.one() == 1
    (own_sources / "b.h").write_text("#define B 7")  # the library is of other sources now
    assert "no C++ compiler" in library._load.__wrapped__("one")[1]


@pytest.mark.slow
@compiled
def test_a_damaged_library_is_compiled_again(own_sources):
    load = library._load.__wrapped__
    assert load("one")[0] is not None, load("one")[1]
    (file,) = cache_directory().glob("*.so")
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], None):
        file.unlink()  # a library in use must not change under the process
        if damaged is not None:
            file.write_bytes(damaged)
        assert load("one")[0] is not None
        assert file.read_bytes() == whole
    file.chmod(0o777)
    assert "can be written by others" in load("one")[1]


def test_native_code_that_cannot_be_built_has_a_reason(own_sources, monkeypatch):
    for name, value, reason in (
        ("HEADWAY_NATIVE", "0", "HEADWAY_NATIVE=0"),
        ("CXX", "/no/compiler", "/no/compiler"),
        ("CXX", "/bin/false", "/bin/false can build none of the variants"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            found, said = library._load.__wrapped__("one")
        assert found is None
        assert reason in said
    assert not cache_directory().exists()
    monkeypatch.setattr(library, "failure_reason", lambda name: reason * (name == "decoding"))
    assert compile_native() == {"decoding": reason}
