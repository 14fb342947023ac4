// Attention of short sequences and its gradient (paper: section 3.2.1, equation 1).
//
// One head of one sentence is computed at a time, so that its numbers stay in the nearest cache. The
// backward pass computes the softmax again instead of storing it.
//
// Shapes: B rows, T queries, S keys, H heads, K width of queries and keys, V width of values.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "guard.h"
#include "numbers.h"

using headway::RegionErrors;
using headway::whole_vectors;

// kernels/attention.py has a ctypes structure of the same fields.
struct AttentionArguments {
    int64_t B, H, T, S, K, V;
    // Strides in elements, from one batch row, position and head to the next.
    int64_t q_batch, q_position, q_head, k_batch, k_position, k_head, v_batch, v_position, v_head;
    const int64_t* query_segments;  // [B, T] or null: all are 1
    const int64_t* key_segments;    // [B, S] or null: no key is hidden by its segment
    int64_t keys_before, keys_after; // query i may attend to keys i - keys_before to i + keys_after
    float scale;
};

// The sizeof of the structure, then the offset of each field.
static const int64_t ATTENTION_ARGUMENTS_LAYOUT[] = {
    sizeof(AttentionArguments),
#define OFFSET(field) offsetof(AttentionArguments, field)
    OFFSET(B), OFFSET(H), OFFSET(T), OFFSET(S), OFFSET(K), OFFSET(V),
    OFFSET(q_batch), OFFSET(q_position), OFFSET(q_head),
    OFFSET(k_batch), OFFSET(k_position), OFFSET(k_head),
    OFFSET(v_batch), OFFSET(v_position), OFFSET(v_head),
    OFFSET(query_segments), OFFSET(key_segments), OFFSET(keys_before), OFFSET(keys_after), OFFSET(scale),
#undef OFFSET
};

// Numbers [from, to).
struct Range {
    int64_t from, to;
};

// The whole range, whatever the rows of a product.
inline auto all_of(int64_t count) {
    return [count](int64_t, int64_t) { return Range{0, count}; };
}

// The range with the rest of its first and last vectors.
inline Range widened(Range r) { return {r.from / LANES * LANES, whole_vectors(r.to)}; }

inline void clear_outside(Range r, float* row, int64_t count) {
    std::fill(row, row + r.from, 0.0f);
    std::fill(row + r.to, row + count, 0.0f);
}

// C[ROWS, 16] = A[ROWS, l] B[l, 16], summed over the range of l; `row` and `column` are the strides of A.
template <int ROWS>
inline void tile(Range l, const float* a, int64_t row, int64_t column, const float* b, int64_t b_row,
                 float* c, int64_t c_row) {
    Vector sums[ROWS];
    for (int64_t k = l.from; k < l.to; k++) {
        const Vector right = load(b + k * b_row);
#pragma GCC unroll 8
        for (int m = 0; m < ROWS; m++) sums[m] += a[m * row + k * column] * right;
    }
#pragma GCC unroll 8
    for (int m = 0; m < ROWS; m++) store(c + m * c_row, sums[m]);
}

// C[m, n] = sum over l of A[m, l] B[l, n]. columns(m, rows) is the range of n, and terms(m, rows) that of l,
// which rows m to m + rows - 1 need; C is written in whole vectors.
template <class Columns, class Terms>
inline void product(int64_t M, const float* a, int64_t row, int64_t column, const float* b, int64_t b_row,
                    float* c, int64_t c_row, Columns&& columns, Terms&& terms) {
    // Registers hold ROWS x REGISTERS sums, a vector of B and a number of A.
#if defined(__AVX512F__) && defined(__AVX512BW__)
    constexpr int ROWS = 8;
#elif defined(__AVX2__)
    constexpr int ROWS = 6;
#elif defined(__aarch64__)
    constexpr int ROWS = 4;
#else
    constexpr int ROWS = 2;
#endif
    typedef void (*Tile)(Range, const float*, int64_t, int64_t, const float*, int64_t, float*, int64_t);
    for (int64_t m = 0, rows; m < M; m += rows) {
        rows = M - m >= ROWS ? ROWS : M - m >= 2 ? 2 : 1;
        const Tile multiply = rows == ROWS ? tile<ROWS> : rows == 2 ? tile<2> : tile<1>;
        const Range wanted = columns(m, rows), l = terms(m, rows);
        for (int64_t n = widened(wanted).from; n < wanted.to; n += LANES)
            multiply(l, a + m * row, row, column, b + n, b_row, c + m * c_row + n, c_row);
    }
}

// Convert [rows, width] numbers to floats and pad each row with zeros.
template <typename T>
inline void gather(const T* x, int64_t rows, int64_t width, int64_t step, float* y, int64_t y_row) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < width; j++) y[i * y_row + j] = to_float(x[i * step + j]);
        for (int64_t j = width; j < y_row; j++) y[i * y_row + j] = 0;
    }
}

template <typename T>
inline void scatter(const float* y, int64_t rows, int64_t width, int64_t y_row, T* x, int64_t step) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < width; j++) x[i * step + j] = from_float<T>(y[i * y_row + j]);
}

inline void transpose(const float* x, int64_t rows, int64_t width, int64_t x_row, float* y,
                      int64_t y_row) {
    for (int64_t j = 0; j < width; j++) {
        for (int64_t i = 0; i < rows; i++) y[j * y_row + i] = x[i * x_row + j];
        for (int64_t i = rows; i < y_row; i++) y[j * y_row + i] = 0;
    }
}

// Queries [t, t_end) and keys [s, s_end) of batch row b that may attend only to each other. They are `mixed`
// if their segments decide which.
struct Span {
    int64_t b, t, t_end, s, s_end;
    bool mixed;
};

inline int64_t run_end(const int64_t* segments, int64_t start, int64_t length) {
    int64_t end = start + 1;
    while (end < length && segments[end] == segments[start]) end++;
    return end;
}

// Cut packed rows into their sentences, so that a row costs no more than its sentences. A row stays
// whole if a segment of its queries has no keys, or if a segment comes twice.
inline std::vector<Span> cut_spans(const AttentionArguments& h) {
    std::vector<Span> found;
    for (int64_t b = 0; b < h.B; b++) {
        const size_t before = found.size();
        bool whole = !h.query_segments || !h.key_segments;
        const int64_t* queries = whole ? nullptr : h.query_segments + b * h.T;
        const int64_t* keys = whole ? nullptr : h.key_segments + b * h.S;
        std::unordered_map<int64_t, std::pair<int64_t, int64_t>> runs;
        for (int64_t s = 0; !whole && s < h.S;) {
            const int64_t end = run_end(keys, s, h.S);
            whole = !runs.emplace(keys[s], std::make_pair(s, end)).second;
            s = end;
        }
        for (int64_t t = 0; !whole && t < h.T;) {
            const int64_t end = run_end(queries, t, h.T);
            auto run = runs.find(queries[t]);
            whole = run == runs.end();
            if (!whole) {
                found.push_back({b, t, end, run->second.first, run->second.second, false});
                runs.erase(run);
            }
            t = end;
        }
        if (whole) {
            found.resize(before);
            found.push_back({b, 0, h.T, 0, h.S, h.key_segments != nullptr});
        }
    }
    return found;
}

// The most queries and the most keys of a span.
inline std::pair<int64_t, int64_t> largest_span(const std::vector<Span>& all) {
    int64_t T = 0, S = 0;
    for (const Span& span : all) {
        T = std::max(T, span.t_end - span.t);
        S = std::max(S, span.s_end - span.s);
    }
    return {T, S};
}

// Which queries and keys of a span can see each other by their distance; both are counted from the first of the
// span. A key that no query in a range needs is left out of a product, which changes no bit of the sums. All
// need all if segments decide, or if a query sees no key and so has the mean of all.
class Reach {
public:
    Reach(const AttentionArguments& h, const Span& span)
        : T(span.t_end - span.t), S(span.s_end - span.s), shift_(span.t - span.s),
          before_(h.keys_before), after_(h.keys_after) {
        is_whole_ = span.mixed || before_ + after_ < 0 || shift_ + after_ < 0 ||
                    shift_ + T - 1 - before_ >= S;
    }

    // Whether a query sees all keys that `keys` returns for it alone.
    bool is_exact() const { return !is_whole_; }

    // The keys of queries i to i + count - 1.
    Range keys(int64_t i, int64_t count = 1) const {
        if (is_whole_) return {0, S};
        return {clip(shift_ + i - before_, S), clip(shift_ + i + count + after_, S)};
    }

    // The queries of keys j to j + count - 1.
    Range queries(int64_t j, int64_t count = 1) const {
        if (is_whole_) return {0, T};
        return {clip(j - after_ - shift_, T), clip(j + count + before_ - shift_, T)};
    }

    const int64_t T, S;

private:
    static int64_t clip(int64_t n, int64_t most) { return std::clamp<int64_t>(n, 0, most); }

    int64_t shift_, before_, after_;
    bool is_whole_;
};

// Write 1 for each key within reach of query i that it may attend to, and 0 for the rest of their vectors; 1 for
// all of them if there is none. Returns whether there is one.
inline bool find_visible_keys(const AttentionArguments& h, const Span& span, const Reach& reach, int64_t i,
                              float* allowed) {
    const Range near = reach.keys(i);
    std::fill(allowed + widened(near).from, allowed + widened(near).to, 0.0f);
    if (reach.is_exact()) {
        std::fill(allowed + near.from, allowed + near.to, 1.0f);
        return true;
    }
    float any = 0;
    for (int64_t j = near.from; j < near.to; j++) {
        const int64_t key = span.s + j, query = span.t + i;
        bool visible = key >= query - h.keys_before && key <= query + h.keys_after;
        if (span.mixed)
            visible &= h.key_segments[span.b * h.S + key] ==
                       (h.query_segments ? h.query_segments[span.b * h.T + query] : 1);
        allowed[j] = visible ? 1.0f : 0.0f;
        any += allowed[j];
    }
    if (any == 0) std::fill(allowed + near.from, allowed + near.to, 1.0f);
    return any > 0;
}

template <typename X>
void attend(const AttentionArguments& h, const X* q, const X* k, const X* v, X* out, float* log_z) {
    const std::vector<Span> all = cut_spans(h);
    const auto sizes = largest_span(all);  // clang takes no structured binding into a region
    const int64_t most_T = sizes.first, most_S = sizes.second;
    const int64_t Kp = whole_vectors(h.K), Vp = whole_vectors(h.V), most = whole_vectors(most_S);
    RegionErrors errors;
#pragma omp parallel
    {
        std::vector<float> queries, keys, across, values, weights, sums, allowed;
        const bool has_memory = errors.attempt([&] {
            queries.resize(most_T * Kp), keys.resize(most_S * Kp), across.resize(Kp * most);
            values.resize(most_S * Vp), weights.resize(most_T * most), sums.resize(most_T * Vp);
            allowed.resize(most);
        });
#pragma omp for schedule(static)
        for (int64_t job = 0; job < int64_t(all.size()) * h.H; job++) {
            if (!has_memory) continue;
            const Span span = all[job / h.H];
            const int64_t b = span.b, head = job % h.H;
            const Reach reach(h, span);
            const auto near = [&](int64_t m, int64_t rows) { return reach.keys(m, rows); };
            const int64_t T = reach.T, S = reach.S, Sp = whole_vectors(S);
            gather(q + b * h.q_batch + span.t * h.q_position + head * h.q_head, T, h.K,
                   h.q_position, queries.data(), Kp);
            gather(k + b * h.k_batch + span.s * h.k_position + head * h.k_head, S, h.K,
                   h.k_position, keys.data(), Kp);
            gather(v + b * h.v_batch + span.s * h.v_position + head * h.v_head, S, h.V,
                   h.v_position, values.data(), Vp);
            transpose(keys.data(), S, h.K, Kp, across.data(), Sp);
            product(T, queries.data(), Kp, 1, across.data(), Sp, weights.data(), Sp, near, all_of(h.K));
            for (int64_t i = 0; i < T; i++) {
                float* w = weights.data() + i * Sp;
                const Range range = widened(reach.keys(i));
                const bool sees_any = find_visible_keys(h, span, reach, i, allowed.data());
                const float scale = sees_any ? h.scale : 0.0f;
                float greatest = -INFINITY, z = 0;
#pragma omp simd reduction(max : greatest)
                for (int64_t j = range.from; j < range.to; j++) {
                    w[j] *= scale;
                    greatest = std::max(greatest, allowed[j] > 0 ? w[j] : -INFINITY);
                }
#pragma omp simd reduction(+ : z)
                for (int64_t j = range.from; j < range.to; j++) {
                    w[j] = allowed[j] > 0 ? exponential(w[j] - greatest) : 0.0f;
                    z += w[j];
                }
                const float inverse = 1.0f / z;
                for (int64_t j = range.from; j < range.to; j++) w[j] *= inverse;
                clear_outside(range, w, Sp);
                log_z[(b * h.H + head) * h.T + span.t + i] = greatest + std::log(z);
            }
            product(T, weights.data(), Sp, 1, values.data(), Vp, sums.data(), Vp, all_of(Vp), near);
            // The projection reads the output as [B, T, H, V].
            scatter(sums.data(), T, h.V, Vp, out + ((b * h.T + span.t) * h.H + head) * h.V,
                    h.H * h.V);
        }
    }
    errors.rethrow();
}

// Write the gradients as [B, T, H, K], [B, S, H, K] and [B, S, H, V]. Gradients of keys whose segment
// has no query are not written.
template <typename X>
void attend_gradients(const AttentionArguments& h, const X* q, const X* k, const X* v, const X* grad,
                      const float* log_z, X* grad_q, X* grad_k, X* grad_v) {
    const std::vector<Span> all = cut_spans(h);
    const auto sizes = largest_span(all);
    const int64_t most_T = sizes.first, most_S = sizes.second;
    const int64_t Kp = whole_vectors(h.K), Vp = whole_vectors(h.V), most = whole_vectors(most_S), H = h.H;
    RegionErrors errors;
#pragma omp parallel
    {
        std::vector<float> queries, keys, key_columns, values, value_columns, weights, slopes,
            gradients, allowed, result;
        const bool has_memory = errors.attempt([&] {
            queries.resize(most_T * Kp), keys.resize(most_S * Kp), key_columns.resize(Kp * most);
            values.resize(most_S * Vp), value_columns.resize(Vp * most);
            weights.resize(most_T * most), slopes.resize(most_T * most);
            gradients.resize(most_T * Vp), allowed.resize(most);
            result.resize(std::max(most_T, most_S) * std::max(Kp, Vp));
        });
#pragma omp for schedule(static)
        for (int64_t job = 0; job < int64_t(all.size()) * H; job++) {
            if (!has_memory) continue;
            const Span span = all[job / H];
            const int64_t b = span.b, head = job % H;
            const Reach reach(h, span);
            const auto near = [&](int64_t m, int64_t rows) { return reach.keys(m, rows); };
            const auto near_key = [&](int64_t m, int64_t rows) { return reach.queries(m, rows); };
            const int64_t T = reach.T, S = reach.S, Sp = whole_vectors(S);
            const int64_t first_query = (b * h.T + span.t) * H + head;
            const int64_t first_key = (b * h.S + span.s) * H + head;
            gather(q + b * h.q_batch + span.t * h.q_position + head * h.q_head, T, h.K,
                   h.q_position, queries.data(), Kp);
            gather(k + b * h.k_batch + span.s * h.k_position + head * h.k_head, S, h.K,
                   h.k_position, keys.data(), Kp);
            gather(v + b * h.v_batch + span.s * h.v_position + head * h.v_head, S, h.V,
                   h.v_position, values.data(), Vp);
            gather(grad + first_query * h.V, T, h.V, H * h.V, gradients.data(), Vp);
            transpose(keys.data(), S, h.K, Kp, key_columns.data(), Sp);
            transpose(values.data(), S, h.V, Vp, value_columns.data(), Sp);
            product(T, queries.data(), Kp, 1, key_columns.data(), Sp, weights.data(), Sp, near, all_of(h.K));
            product(T, gradients.data(), Vp, 1, value_columns.data(), Sp, slopes.data(), Sp, near,
                    all_of(h.V));
            for (int64_t i = 0; i < T; i++) {
                float* w = weights.data() + i * Sp;
                float* slope = slopes.data() + i * Sp;
                const Range range = widened(reach.keys(i));
                const bool sees_any = find_visible_keys(h, span, reach, i, allowed.data());
                const float scale = sees_any ? h.scale : 0.0f;
                const float z = log_z[(b * H + head) * h.T + span.t + i];
                float mean = 0;
#pragma omp simd reduction(+ : mean)
                for (int64_t j = range.from; j < range.to; j++) {
                    w[j] = allowed[j] > 0 ? exponential(w[j] * scale - z) : 0.0f;
                    mean += w[j] * slope[j];
                }
                for (int64_t j = range.from; j < range.to; j++) slope[j] = w[j] * (slope[j] - mean) * scale;
                clear_outside(range, w, Sp);
                clear_outside(range, slope, Sp);
            }
            product(T, slopes.data(), Sp, 1, keys.data(), Kp, result.data(), Kp, all_of(Kp), near);
            scatter(result.data(), T, h.K, Kp, grad_q + first_query * h.K, H * h.K);
            product(S, slopes.data(), 1, Sp, queries.data(), Kp, result.data(), Kp, all_of(Kp), near_key);
            scatter(result.data(), S, h.K, Kp, grad_k + first_key * h.K, H * h.K);
            product(S, weights.data(), 1, Sp, gradients.data(), Vp, result.data(), Vp, all_of(Vp), near_key);
            scatter(result.data(), S, h.V, Vp, grad_v + first_key * h.V, H * h.V);
        }
    }
    errors.rethrow();
}
