"""Native code of several processors and compilers agrees, and stays within its memory."""

import os
import platform
import shutil
import subprocess
import sys
from ctypes import CDLL
from pathlib import Path

import pytest

from headway.ext.native import decoding
from headway.ext.native.build import provide_library
from headway.ext.native.library import choose_variants, share_openmp
from headway.ext.native.native_engine import NativeEngine
from headway.ext.native.variants import NATIVE, SOURCES, VARIANTS, read_instruction_sets
from headway.files import cache_directory
from support.engines import SHAPES, distance, library, model_of, native, walk

KNOWN = (*VARIANTS.get(platform.machine(), ()), NATIVE)


def load_variant(variant):
    """The decoding library of a variant, which is compiled if the cache does not have it."""
    share_openmp()
    return decoding.declare_functions(
        CDLL(str(provide_library(SOURCES / "decoding.cpp", [variant])))
    )


@native
@pytest.mark.parametrize("variant", KNOWN, ids=lambda variant: variant.name)
def test_variants_for_different_processors_give_the_same_bits(variant):
    """Sums have one order at every vector width; only a variant without FMA differs in the last bits."""
    if variant.missing(read_instruction_sets()):
        pytest.skip(f"this processor cannot run {variant.name}")
    least = {"fp32": 1e-5, "int8": 0.05} if variant.name == "x86-64" else {"fp32": 0, "int8": 0}
    compare_with(load_variant(variant), least)


def compare_with(other, most):
    """Compare the logits of this process's library with those of another one."""
    for shape in ("plain", "wide", "untied", "convolution"):
        model = model_of(SHAPES[shape])
        for precision in most:
            ours = NativeEngine(model, precision, library())
            theirs = NativeEngine(model, precision, other)
            # Each small number of rows has a kernel of its own.
            for size in ({}, *({"steps": 3, "count": 1, "beams": beams} for beams in range(1, 6))):
                assert (
                    distance(walk(ours, model, **size), walk(theirs, model, **size))
                    <= most[precision]
                )


@native
@pytest.mark.skipif(shutil.which("clang++") is None, reason="no clang++")
def test_builds_of_different_compilers_give_the_same_bits(tmp_path, monkeypatch):
    """Except where one compiler fuses a product with a sum and the other does not."""
    monkeypatch.setenv("CXX", "clang++")
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    compare_with(load_variant(choose_variants()[0]), {"fp32": 1e-5, "int8": 0.05})


PRODUCTS = """
#include "linear.h"
using namespace headway;

int main() {
    const long most = 13, x_stride = padded(70), y_stride = padded(259);
    const auto noise = [](long i) { return float(i * 7919 % 101) / 50 - 1; };
    for (const Precision precision : {FP32, INT8})
        for (const long outputs : {1, 47, 128, 259})
            for (const long inputs : {1, 70}) {
                Block<float> weight(outputs * inputs), x(most * x_stride), y(most * y_stride);
                for (long i = 0; i < outputs * inputs; ++i) weight[i] = noise(i);
                for (long i = 0; i < most * inputs; ++i)
                    x[i / inputs * x_stride + i % inputs] = noise(3 * i + 1);
                const Linear map(precision, weight.get(), nullptr, outputs, inputs);
                Inputs space;
                for (long rows = 0; rows <= most; ++rows) {
                    map.store(x.get(), x_stride, rows, space, y.get(), y_stride);
                    for (long m = 0; m < rows; ++m) {
                        Block<float> one(y_stride);
                        map.store(x.get() + m * x_stride, x_stride, 1, space, one.get(), y_stride);
                        if (std::memcmp(one.get(), y.get() + m * y_stride, outputs * 4)) return 1;
                    }
                }
            }
}
"""


@native
@pytest.mark.parametrize("place", [0, -1], ids=["newest", "oldest"])
def test_products_write_only_their_own_memory(place, tmp_path):
    """For any number of rows, also none; and a row alone equals the row among others."""
    variant = choose_variants()[place]
    source, built = tmp_path / "products.cpp", tmp_path / "products"
    source.write_text(PRODUCTS)
    flags = ["-std=c++17", "-Og", *variant.flags, "-Wno-psabi", "-fno-math-errno",
             "-fsanitize=address", "-fno-omit-frame-pointer"]  # fmt: skip
    subprocess.run(["g++", *flags, "-I", SOURCES, source, "-o", built], check=True)
    found = subprocess.run([built], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


@native
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_a_long_decoding_writes_only_its_own_memory():
    """In a new process, in a build that checks every address; the next call finds it.

    Long enough that caches are had several times, for sources of one and of many vectors.
    """
    cache = cache_directory() / "checked"
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    checks = subprocess.run(
        ["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    wrapper = cache / "checked-g++"
    flags = "-Og -fsanitize=address,undefined -fno-sanitize=alignment"
    wrapper.write_text(f'#!/bin/sh\nexec g++ "$@" {flags}\n')
    wrapper.chmod(0o700)
    found = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("long_walk.py"))],
        env={
            **os.environ, "CXX": str(wrapper), "HEADWAY_CACHE": str(cache),
            "LD_PRELOAD": str(checks), "OMP_NUM_THREADS": "2",
            "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (0, "walked\n"), found.stderr[-3000:]
