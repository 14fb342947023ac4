// Scaled dot-product attention of a few queries (paper: section 3.2.1, equation 1).
//
// Shapes: R queries, S keys, H heads, K d_k and V d_v, both padded to whole vectors.
#pragma once

#include <algorithm>
#include <limits>

#include "vector.h"

namespace headway {

constexpr int MOST_QUERIES = 4;  // queries that share one pass over the keys

// Overwrite scores [S], padded to whole vectors, by e^(scores - largest); returns their sum.
HEADWAY_INLINE float exponentials(float* scores, long keys) {
    const long whole = whole_vectors(keys);
    for (long s = keys; s < whole; ++s) scores[s] = -std::numeric_limits<float>::infinity();
    Vector most = load(scores);
    for (long s = LANES; s < whole; s += LANES) most = larger(most, load(scores + s));
    const Vector top = largest(most);
    Vector total = {};
    for (long s = 0; s < whole; s += LANES) {
        const Vector e = exponential(load(scores + s) - top);
        store(scores + s, e);
        total += e;
    }
    return sum(total);
}

// Keys and values of a sentence in one layer.
struct Memory {
    const float* keys;    // [H, K, S padded], so that 16 scores are computed without sums over lanes
    const float* values;  // [S, stride], heads side by side
    long stride, count;   // count is S
};

// Transpose keys [S, stride], heads side by side in `width` columns, into the layout of `Memory`.
static void transpose_keys(const float* keys, long stride, long count, long width, float* out) {
    const long whole = whole_vectors(count);
    for (long d = 0; d < width; ++d) {
        for (long s = 0; s < count; ++s) out[d * whole + s] = keys[s * stride + d];
        std::memset(out + d * whole + count, 0, (whole - count) * sizeof(float));
    }
}

// Where the weights of queries are added up; null: nowhere.
struct Watch {
    float* weights = nullptr;  // [R, stride]
    long stride = 0;
    float share = 0;  // of each weight in the sum

    Watch from(long row) const { return {weights ? weights + row * stride : nullptr, stride, share}; }
};

// softmax(q k^T scale) v for R queries of one head, `q_stride` apart.
template <int R>
static void attend(const float* q, long q_stride, const Memory& memory, long head, long K, long V,
                   float scale, float* scores, float* out, long out_stride, const Watch& watch) {
    const long whole = whole_vectors(memory.count);
    const float* keys = memory.keys + head * K * whole;
    for (long s = 0; s < whole; s += LANES) {
        Vector sums[R] = {};
        for (long d = 0; d < K; ++d) {
            const Vector key = load(keys + d * whole + s);
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) sums[r] += q[r * q_stride + d] * key;
        }
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) store(scores + r * whole + s, sums[r] * scale);
    }
    float inverse[R];
    for (int r = 0; r < R; ++r) inverse[r] = 1.0f / exponentials(scores + r * whole, memory.count);
    for (int r = 0; watch.weights && r < R; ++r)
        for (long s = 0; s < memory.count; ++s)
            watch.weights[r * watch.stride + s] += scores[r * whole + s] * inverse[r] * watch.share;
    for (long d = 0; d < V; d += LANES) {
        Vector sums[R] = {};
        const float* value = memory.values + head * V + d;
        for (long s = 0; s < memory.count; ++s, value += memory.stride) {
            const Vector v = load(value);
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) sums[r] += scores[r * whole + s] * v;
        }
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) store(out + r * out_stride + head * V + d, sums[r] * inverse[r]);
    }
}

// The same for any number of queries of all heads; scores holds MOST_QUERIES padded rows.
static void attend_all(const float* q, long q_stride, long queries, const Memory& memory, long heads,
                       long K, long V, float scale, float* scores, float* out, long out_stride,
                       const Watch& watch = {}) {
    typedef void (*Attend)(const float*, long, const Memory&, long, long, long, float, float*, float*,
                           long, const Watch&);
    static constexpr Attend ATTEND[] = {attend<1>, attend<2>, attend<3>, attend<4>};
    for (long head = 0; head < heads; ++head)
        for (long row = 0; row < queries; row += MOST_QUERIES) {
            const long count = std::min<long>(MOST_QUERIES, queries - row);
            ATTEND[count - 1](q + row * q_stride + head * K, q_stride, memory, head, K, V, scale,
                              scores, out + row * out_stride, out_stride, watch.from(row));
        }
}

// One query of every head against keys and values in scattered rows: past[s] + keys_at are the keys of
// position s in all heads, past[s] + values_at its values.
static void attend_past(const float* q, const float* const* past, long count, long keys_at,
                        long values_at, long heads, long K, long V, float scale, float* scores,
                        float* out) {
    for (long head = 0; head < heads; ++head, q += K, keys_at += K, values_at += V, out += V) {
        for (long s = 0; s < count; ++s) {
            Vector products = {};
            for (long d = 0; d < K; d += LANES)
                products += load(q + d) * load(past[s] + keys_at + d);
            scores[s] = sum(products) * scale;
        }
        const float inverse = 1.0f / exponentials(scores, count);
        for (long d = 0; d < V; d += LANES) {
            Vector sums = {};
            for (long s = 0; s < count; ++s) sums += scores[s] * load(past[s] + values_at + d);
            store(out + d, sums * inverse);
        }
    }
}

}  // namespace headway
