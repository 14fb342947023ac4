"""Native libraries are compiled once for each machine, checked, and compiled again if something changes."""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headway.ext.native import build, compile_native, library
from headway.ext.native.build import provide_library
from headway.ext.native.training_library import training_library
from headway.ext.native.variants import (
    NATIVE,
    SOURCES,
    VARIANTS,
    WHEEL,
    Variant,
    find_compiler,
    list_variants,
)
from headway.files import cache_directory
from outside.wheel import ALLOWED, count_instructions

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


X86 = VARIANTS["x86_64"]
BEST = library.choose_variants()[0]


def test_a_variant_can_be_forced_where_the_processor_can_run_it():
    everything = X86[0].needs | X86[2].needs
    for variant in (*X86, NATIVE):
        assert list_variants("x86_64", everything, variant.name) == [variant]
    with pytest.raises(LookupError, match=r"=avx2: this processor has no avx2, fma$"):
        list_variants("x86_64", everything - {"avx2", "fma"}, "avx2")
    with pytest.raises(LookupError, match=r"=avx3: must be 0, avx512bf16, .*, x86-64, native, or"):
        list_variants("x86_64", everything, "avx3")


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """A package with a prebuilt library, which returns 7, and other sources, which return 1."""
    (tmp_path / "one.cpp").write_text('extern "C" int one() { return 7; }\n')
    compiler = find_compiler()
    assert compiler is not None
    compiler.build(tmp_path / "one.cpp", BEST, tmp_path / f"one-{BEST.name}.so", WHEEL)
    (tmp_path / "one.cpp").write_text('extern "C" int one() { return 1; }\n')
    monkeypatch.setattr(library, "SOURCES", tmp_path)
    monkeypatch.setattr(library, "PREBUILT", tmp_path)
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    return tmp_path


@compiled
def test_the_library_of_a_wheel_is_loaded_unless_code_for_this_processor_is_asked_for(
    packaged, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setenv("CXX", "/no/compiler")
        found = library._load.__wrapped__("one")[0]
    assert found is not None
    assert found.one() == 7
    assert not (packaged / "cache").exists()
    monkeypatch.setenv("HEADWAY_NATIVE", NATIVE.name)
    compiled_here = library._load.__wrapped__("one")[0]
    assert compiled_here is not None
    assert compiled_here.one() == 1


@compiled
def test_a_compiler_that_does_not_know_a_variant_builds_the_next(packaged, monkeypatch, caplog):
    unknown = Variant("new", ("-mno-such-thing",), frozenset())
    monkeypatch.setattr(library, "PREBUILT", packaged / "none")
    monkeypatch.setattr(library, "choose_variants", lambda: [unknown, BEST])
    for _ in range(2):
        found, reason = library._load.__wrapped__("one")
        assert found is not None, reason
        assert found.one() == 1
    assert len(caplog.records) == 1  # the second time it is there
    monkeypatch.setattr(library, "choose_variants", lambda: [unknown])
    assert "can build none of the variants new" in library._load.__wrapped__("one")[1]


@compiled
@pytest.mark.skipif(sys.platform != "linux", reason="asks the dynamic linker of Linux")
def test_the_threads_of_native_code_are_those_of_torch():
    """The library names no OpenMP library itself, so that there is one in the process."""
    loaded = library.load_library("training")
    assert loaded is not None
    needed = subprocess.run(
        ["readelf", "--dynamic", loaded._name], capture_output=True, text=True, check=True
    ).stdout
    assert "NEEDED" in needed
    assert "gomp" not in needed
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    paths = {Path(line.split()[-1]) for line in maps.splitlines() if "gomp" in line}
    others = {path for path in paths if path.parent.name.endswith(".libs")}  # of another package
    assert len(paths - others) == 1


@compiled
@pytest.mark.skipif(platform.machine() != "x86_64", reason="knows the instructions of x86-64")
@pytest.mark.skipif(shutil.which("objdump") is None, reason="no objdump")
def test_a_variant_has_no_instructions_that_its_processors_lack():
    """The AVX2 variant would not pass as the oldest variant, so the check can fail."""
    found = {}
    for variant in X86:
        if variant.name in ("x86-64", "avx2"):  # which other tests build, too
            counts = count_instructions(provide_library(SOURCES / "decoding.cpp", [variant]))
            found[variant.name] = {family for family, count in counts.items() if count}
            assert found[variant.name] <= {*ALLOWED[variant.name]}
    assert found["avx2"] - {*ALLOWED["x86-64"]} >= {"AVX", "FMA"}
