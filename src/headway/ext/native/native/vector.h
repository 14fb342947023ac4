// Vectors of sixteen floats, on any processor: as many registers as they need.
// Sums run in the same order on every processor, so that all processors agree.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

// The functions that every glibc has: a library that asks for newer ones does not load on older systems.
#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver log,log@GLIBC_2.2.5");
__asm__(".symver exp,exp@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver log,log@GLIBC_2.17");
__asm__(".symver exp,exp@GLIBC_2.17");
#endif

namespace headway {

#if defined(__AVX512F__) && defined(__AVX512BW__)
constexpr int REGISTER = 64;  // bytes
#elif defined(__AVX2__)
constexpr int REGISTER = 32;
#else
constexpr int REGISTER = 16;
#endif
constexpr int LANES = 16;
constexpr int WIDE = REGISTER / 4;  // floats of a register
constexpr int REGISTERS = LANES / WIDE;

typedef float Floats __attribute__((vector_size(REGISTER), may_alias));
typedef int32_t Words __attribute__((vector_size(REGISTER), may_alias));
typedef float UnalignedFloats __attribute__((vector_size(REGISTER), aligned(4), may_alias));

#define HEADWAY_INLINE static inline __attribute__((always_inline))

// Widths are padded with zeros to whole panels of weights, so that no loop has a remainder.
constexpr int WIDTH_UNIT = 32;
constexpr long whole_vectors(long count) { return (count + LANES - 1) / LANES * LANES; }
constexpr long padded(long width) { return (width + WIDTH_UNIT - 1) / WIDTH_UNIT * WIDTH_UNIT; }

// v in all lanes; subtracting zero changes no number, and costs nothing.
HEADWAY_INLINE Floats spread(float v) { return v - Floats{}; }

// GCC keeps a vector that is wider than a register in memory, and copies it in pieces of eight bytes; it
// keeps an array of registers in registers.
struct Vector {
    Floats parts[REGISTERS];

    Vector() : parts{} {}
    Vector(float v) {
        for (Floats& part : parts) part = spread(v);
    }

    float operator[](int lane) const { return parts[lane / WIDE][lane % WIDE]; }

#define OPERATOR(op)                                                                            \
    friend inline __attribute__((always_inline)) Vector operator op(Vector a, const Vector& b) { \
        for (int i = 0; i < REGISTERS; ++i) a.parts[i] = a.parts[i] op b.parts[i];              \
        return a;                                                                               \
    }                                                                                           \
    Vector& operator op##=(const Vector& b) { return *this = *this op b; }
    OPERATOR(+)
    OPERATOR(-)
    OPERATOR(*)
    OPERATOR(/)
#undef OPERATOR
};

// f of each register.
template <class F> HEADWAY_INLINE Vector each(Vector x, F&& f) {
    for (Floats& part : x.parts) part = f(part);
    return x;
}

HEADWAY_INLINE Vector load(const float* from) {
    Vector x;
    for (int i = 0; i < REGISTERS; ++i)
        x.parts[i] = *reinterpret_cast<const UnalignedFloats*>(from + i * WIDE);
    return x;
}

HEADWAY_INLINE void store(float* to, const Vector& x) {
    for (int i = 0; i < REGISTERS; ++i)
        *reinterpret_cast<UnalignedFloats*>(to + i * WIDE) = x.parts[i];
}

HEADWAY_INLINE Floats larger(const Floats& a, const Floats& b) { return a > b ? a : b; }

HEADWAY_INLINE Vector larger(Vector a, const Vector& b) {
    for (int i = 0; i < REGISTERS; ++i) a.parts[i] = larger(a.parts[i], b.parts[i]);
    return a;
}

HEADWAY_INLINE Floats magnitude(const Floats& x) { return x < 0.0f ? -x : x; }

// x in the first `count` lanes, `rest` in the others.
HEADWAY_INLINE Vector first_lanes(const Vector& x, long count, float rest) {
    float lanes[LANES];
    store(lanes, x);
    for (long i = count < 0 ? 0 : count; i < LANES; ++i) lanes[i] = rest;
    return load(lanes);
}

template <int N, size_t... I>
HEADWAY_INLINE Floats rotated(const Floats& x, std::index_sequence<I...>) {
#if defined(__clang__)
    return __builtin_shufflevector(x, x, ((I + N) % WIDE)...);
#else  // GCC has __builtin_shufflevector from version 12 on only
    return __builtin_shuffle(x, Words{static_cast<int32_t>((I + N) % WIDE)...});
#endif
}

template <int N> HEADWAY_INLINE Floats rotated(const Floats& x) {
    return rotated<N>(x, std::make_index_sequence<WIDE>());
}

// All lanes as one number, the two halves first.
template <class F> HEADWAY_INLINE float fold(Vector x, F&& f) {
    for (int half = REGISTERS / 2; half; half /= 2)
        for (int i = 0; i < half; ++i) x.parts[i] = f(x.parts[i], x.parts[i + half]);
    Floats y = x.parts[0];
    if constexpr (WIDE > 8) y = f(y, rotated<8>(y));
    if constexpr (WIDE > 4) y = f(y, rotated<4>(y));
    y = f(y, rotated<2>(y));
    return f(y, rotated<1>(y))[0];
}

HEADWAY_INLINE float sum(const Vector& x) {
    return fold(x, [](const Floats& a, const Floats& b) { return a + b; });
}

HEADWAY_INLINE float largest(const Vector& x) {
    return fold(x, [](const Floats& a, const Floats& b) { return larger(a, b); });
}

// Bit i is set if lane i is above the bound.
HEADWAY_INLINE uint32_t lanes_above(const Vector& x, float bound) {
    uint32_t bits = 0;
    for (int i = 0; i < REGISTERS; ++i) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
        bits = _mm512_cmp_ps_mask((__m512)x.parts[i], _mm512_set1_ps(bound), _CMP_GT_OQ);
#elif defined(__AVX2__)
        bits |= _mm256_movemask_ps((__m256)(x.parts[i] > bound)) << i * WIDE;
#else
        const Words above = x.parts[i] > bound;
        for (int j = 0; j < WIDE; ++j) bits |= static_cast<uint32_t>(above[j] & 1) << (i * WIDE + j);
#endif
    }
    return bits;
}

// e^x to about two units in the last place; e^-87, about 1e-38, for all x below -87.
HEADWAY_INLINE Floats exponential(Floats x) {
    x = x < -87.0f ? spread(-87.0f) : x;  // NaN stays NaN
    x = x > 88.0f ? spread(88.0f) : x;
    const float shift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    const Floats n = (x * 1.44269504088896341f + shift) - shift;
    const Floats r = (x - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
    Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;  // Cephes' expf, |r| <= ln(2) / 2
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    const Words exponent = (__builtin_convertvector(n, Words) + 127) << 23;
    return p * (Floats)exponent;
}

HEADWAY_INLINE Vector exponential(const Vector& x) {
    return each(x, [](const Floats& part) { return exponential(part); });
}

// The error function to 1.5e-7 (Abramowitz & Stegun, 7.1.26).
HEADWAY_INLINE Floats error_function(const Floats& x) {
    const Floats a = magnitude(x), t = 1.0f / (0.3275911f * a + 1.0f);
    Floats p = t * 1.061405429f - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    const Floats y = 1.0f - p * t * exponential(-(a * a));
    return x < 0.0f ? -y : y;
}

enum Activation { NONE, RELU, GELU, SWISH };

HEADWAY_INLINE Floats activate(const Floats& x, Activation kind) {
    switch (kind) {
        case RELU: return x < 0.0f ? Floats{} : x;
        case GELU: return 0.5f * x * (1.0f + error_function(x * 0.70710678118654752f));
        case SWISH: return x / (1.0f + exponential(-x));
        default: return x;
    }
}

HEADWAY_INLINE Vector activate(const Vector& x, Activation kind) {
    return each(x, [kind](const Floats& part) { return activate(part, kind); });
}

}  // namespace headway
