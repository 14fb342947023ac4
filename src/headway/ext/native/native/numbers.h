// Arithmetic of the training kernels: bf16 <-> float, the exponential, and random bits.
#pragma once

#include "vector.h"

using headway::LANES;
using headway::load;
using headway::store;
using headway::Vector;

struct bf16 {
    uint16_t bits;
};

inline float to_float(float x) { return x; }
inline float to_float(bf16 x) {
    uint32_t bits = uint32_t(x.bits) << 16;
    float y;
    std::memcpy(&y, &bits, 4);
    return y;
}

template <typename T> inline T from_float(float x);
template <> inline float from_float<float>(float x) { return x; }
template <> inline bf16 from_float<bf16>(float x) {  // to the nearest, ties to even
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    if ((bits & 0x7fffffff) > 0x7f800000) return {0x7fc0};  // NaN stays NaN
    return {uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

// e^x to 2 units in the last place: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2]; e^-87 below -87.
// It takes one number, so that the compiler can vectorize it together with the loop around it.
inline float exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    float shifted = x * 1.44269504f + magic;
    float n = shifted - magic;
    float r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    int32_t bits;
    std::memcpy(&bits, &shifted, 4);
    bits = int32_t(uint32_t(bits) << 23) + 0x3f800000;  // the low bits of `shifted` are n
    float power;
    std::memcpy(&power, &bits, 4);
    return p * power;
}

// 32 well-mixed bits for each (seed, counter), without a state.
inline uint32_t random_bits(uint32_t low, uint32_t high, uint32_t counter) {
    uint32_t x = counter ^ low;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15) ^ high) * 0x846ca68bu;
    x = (x ^ (x >> 16)) * 0x9e3779b1u;
    return x ^ (x >> 15);
}
