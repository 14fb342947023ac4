// Vectors of sixteen floats, on any processor: the compiler cuts them into the registers it has.
// Sums run in the same order on every processor, so that all processors agree.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

// The logarithm that every glibc has: a library that asks for a newer one does not load on older systems.
#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver log,log@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver log,log@GLIBC_2.17");
#endif

namespace headway {

constexpr int LANES = 16;
typedef float Vector __attribute__((vector_size(64)));
typedef int32_t Integers __attribute__((vector_size(64)));
typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef int16_t Halves __attribute__((vector_size(32)));
typedef float UnalignedVector __attribute__((vector_size(64), aligned(4), may_alias));

#define HEADWAY_INLINE static inline __attribute__((always_inline))

// Widths are padded with zeros to whole panels of weights, so that no loop has a remainder.
constexpr int WIDTH_UNIT = 32;
constexpr long whole_vectors(long count) { return (count + LANES - 1) / LANES * LANES; }
constexpr long padded(long width) { return (width + WIDTH_UNIT - 1) / WIDTH_UNIT * WIDTH_UNIT; }

HEADWAY_INLINE Vector load(const float* from) {
    return *reinterpret_cast<const UnalignedVector*>(from);
}

HEADWAY_INLINE void store(float* to, const Vector& x) { *reinterpret_cast<UnalignedVector*>(to) = x; }

HEADWAY_INLINE Vector all(float value) { return Vector{} + value; }

HEADWAY_INLINE Vector larger(const Vector& a, const Vector& b) { return a > b ? a : b; }

HEADWAY_INLINE Vector magnitude(const Vector& x) { return x < 0.0f ? -x : x; }

// 1 in the first `count` lanes, 0 in the others.
HEADWAY_INLINE Vector first_lanes(long count) {
    const Integers lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return lane < static_cast<int32_t>(count) ? all(1) : all(0);
}

template <int N> HEADWAY_INLINE Vector rotated(const Vector& x) {
#if defined(__clang__)
    constexpr int M = LANES - 1;
    return __builtin_shufflevector(x, x, N & M, (N + 1) & M, (N + 2) & M, (N + 3) & M, (N + 4) & M,
                                   (N + 5) & M, (N + 6) & M, (N + 7) & M, (N + 8) & M, (N + 9) & M,
                                   (N + 10) & M, (N + 11) & M, (N + 12) & M, (N + 13) & M,
                                   (N + 14) & M, (N + 15) & M);
#else  // GCC has __builtin_shufflevector from version 12 on only
    const Integers lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return __builtin_shuffle(x, (lane + N) & (LANES - 1));
#endif
}

HEADWAY_INLINE float sum(Vector x) {
    x += rotated<8>(x);
    x += rotated<4>(x);
    x += rotated<2>(x);
    x += rotated<1>(x);
    return x[0];
}

HEADWAY_INLINE float largest(Vector x) {
    x = larger(x, rotated<8>(x));
    x = larger(x, rotated<4>(x));
    x = larger(x, rotated<2>(x));
    x = larger(x, rotated<1>(x));
    return x[0];
}

// Bit i is set if lane i is above the bound.
HEADWAY_INLINE uint32_t lanes_above(const Vector& x, float bound) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(bound), _CMP_GT_OQ);
#else
    const Integers above = x > bound;
    uint32_t bits = 0;
    for (int i = 0; i < LANES; ++i) bits |= static_cast<uint32_t>(above[i] & 1) << i;
    return bits;
#endif
}

// e^x to about two units in the last place; e^-87, about 1e-38, for all x below -87.
HEADWAY_INLINE Vector exponential(Vector x) {
    x = x < -87.0f ? all(-87.0f) : x;  // NaN stays NaN
    x = x > 88.0f ? all(88.0f) : x;
    const float shift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    const Vector n = (x * 1.44269504088896341f + shift) - shift;
    const Vector r = (x - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
    Vector p = r * 1.9875691500e-4f + 1.3981999507e-3f;  // Cephes' expf, |r| <= ln(2) / 2
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    const Integers exponent = (__builtin_convertvector(n, Integers) + 127) << 23;
    return p * (Vector)exponent;
}

// The error function to 1.5e-7 (Abramowitz & Stegun, 7.1.26).
HEADWAY_INLINE Vector error_function(const Vector& x) {
    const Vector a = magnitude(x), t = 1.0f / (0.3275911f * a + 1.0f);
    Vector p = t * 1.061405429f - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    const Vector y = 1.0f - p * t * exponential(-(a * a));
    return x < 0.0f ? -y : y;
}

enum Activation { NONE, RELU, GELU, SWISH };

HEADWAY_INLINE Vector activate(const Vector& x, Activation kind) {
    switch (kind) {
        case RELU: return x < 0.0f ? all(0) : x;
        case GELU: return 0.5f * x * (1.0f + error_function(x * 0.70710678118654752f));
        case SWISH: return x / (1.0f + exponential(-x));
        default: return x;
    }
}

}  // namespace headway
