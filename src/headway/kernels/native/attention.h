// Attention of short sequences and its gradient (equation 1), one head of one sentence at a time:
// everything of it stays in the nearest cache, and the softmax is never stored for later.
//
// T queries, S keys, K the width of queries and keys, V of values.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "numbers.h"

struct Heads {
    int64_t B, H, T, S, K, V;
    // Elements from one sentence, position and head to the next.
    int64_t q_batch, q_position, q_head, k_batch, k_position, k_head, v_batch, v_position, v_head;
    const int64_t* query_segments;  // [B, T] or null
    const int64_t* key_segments;    // [B, S] or null: all may be seen
    int64_t back, ahead;            // a query sees keys from (its place - back) to (its place + ahead)
    float scale;
};

constexpr int64_t up(int64_t n) { return (n + LANES - 1) / LANES * LANES; }

// C[ROWS, 16] = A[ROWS, L] B[L, 16]; a row of A starts every `row`, a column every `column`.
template <int ROWS>
inline void tile(int64_t L, const float* a, int64_t row, int64_t column, const float* b,
                 int64_t b_row, float* c, int64_t c_row) {
    Vector sums[ROWS] = {};
    for (int64_t l = 0; l < L; l++) {
        const Vector right = load(b + l * b_row);
#pragma GCC unroll 8
        for (int m = 0; m < ROWS; m++) sums[m] += a[m * row + l * column] * right;
    }
#pragma GCC unroll 8
    for (int m = 0; m < ROWS; m++) store(c + m * c_row, sums[m]);
}

// C[M, N] = A[M, L] B[L, N], N a multiple of 16.
inline void product(int64_t M, int64_t N, int64_t L, const float* a, int64_t row, int64_t column,
                    const float* b, int64_t b_row, float* c, int64_t c_row) {
#ifdef __AVX512F__
    constexpr int ROWS = 8;
#else
    constexpr int ROWS = 4;
#endif
    for (int64_t n = 0; n < N; n += LANES) {
        int64_t m = 0;
        for (; m + ROWS <= M; m += ROWS)
            tile<ROWS>(L, a + m * row, row, column, b + n, b_row, c + m * c_row + n, c_row);
        for (; m + 2 <= M; m += 2)
            tile<2>(L, a + m * row, row, column, b + n, b_row, c + m * c_row + n, c_row);
        for (; m < M; m++)
            tile<1>(L, a + m * row, row, column, b + n, b_row, c + m * c_row + n, c_row);
    }
}

// Copy [rows, width] numbers to floats, each row padded with zeros.
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

// Queries [t, t_end) and keys [s, s_end) of a sentence b that have only each other to see.
struct Span {
    int64_t b, t, t_end, s, s_end;
};

inline int64_t run_end(const int64_t* segments, int64_t start, int64_t length) {
    int64_t end = start + 1;
    while (end < length && segments[end] == segments[start]) end++;
    return end;
}

// Cut a packed row into its sentences, so that the cost is that of the sentences. Rows in which a
// segment is missing among the keys, or comes twice, stay whole.
inline std::vector<Span> spans(const Heads& h) {
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
                found.push_back({b, t, end, run->second.first, run->second.second});
                runs.erase(run);
            }
            t = end;
        }
        if (whole) {
            found.resize(before);
            found.push_back({b, 0, h.T, 0, h.S});
        }
    }
    return found;
}

// The most queries and the most keys of a span.
inline std::pair<int64_t, int64_t> largest(const std::vector<Span>& all) {
    int64_t T = 0, S = 0;
    for (const Span& span : all) {
        T = std::max(T, span.t_end - span.t);
        S = std::max(S, span.s_end - span.s);
    }
    return {T, S};
}

// 1 where query i of a span's sentence may see a key of the span, else 0; all keys where it may see
// none. Says whether it sees any.
inline bool may_see(const Heads& h, const Span& span, int64_t i, float* allowed) {
    const int64_t count = span.s_end - span.s;
    const int64_t* keys = h.key_segments ? h.key_segments + span.b * h.S : nullptr;
    const int64_t own = h.query_segments ? h.query_segments[span.b * h.T + i] : 1;
    float any = 0;
    for (int64_t j = 0; j < count; j++) {
        const int64_t place = span.s + j;
        bool near = place >= i - h.back && place <= i + h.ahead;
        allowed[j] = near && (!keys || keys[place] == own) ? 1.0f : 0.0f;
        any += allowed[j];
    }
    if (any == 0) std::fill(allowed, allowed + count, 1.0f);
    std::fill(allowed + count, allowed + up(count), 0.0f);
    return any > 0;
}

template <typename X>
void attend(const Heads& h, const X* q, const X* k, const X* v, X* out, float* log_z) {
    const std::vector<Span> all = spans(h);
    const auto sizes = largest(all);  // clang takes no [most_T, most_S] into a parallel region
    const int64_t most_T = sizes.first, most_S = sizes.second;
    const int64_t Kp = up(h.K), Vp = up(h.V), most = up(most_S);
#pragma omp parallel
    {
        std::vector<float> queries(most_T * Kp), keys(most_S * Kp), across(Kp * most),
            values(most_S * Vp), weights(most_T * most), sums(most_T * Vp), allowed(most);
#pragma omp for schedule(static)
        for (int64_t job = 0; job < int64_t(all.size()) * h.H; job++) {
            const Span span = all[job / h.H];
            const int64_t b = span.b, head = job % h.H;
            const int64_t T = span.t_end - span.t, S = span.s_end - span.s, Sp = up(S);
            gather(q + b * h.q_batch + span.t * h.q_position + head * h.q_head, T, h.K,
                   h.q_position, queries.data(), Kp);
            gather(k + b * h.k_batch + span.s * h.k_position + head * h.k_head, S, h.K,
                   h.k_position, keys.data(), Kp);
            gather(v + b * h.v_batch + span.s * h.v_position + head * h.v_head, S, h.V,
                   h.v_position, values.data(), Vp);
            transpose(keys.data(), S, h.K, Kp, across.data(), Sp);
            product(T, Sp, h.K, queries.data(), Kp, 1, across.data(), Sp, weights.data(), Sp);
            for (int64_t i = 0; i < T; i++) {
                float* w = weights.data() + i * Sp;
                const bool sees = may_see(h, span, span.t + i, allowed.data());
                const float scale = sees ? h.scale : 0.0f;
                float greatest = -INFINITY, z = 0;
#pragma omp simd reduction(max : greatest)
                for (int64_t j = 0; j < Sp; j++) {
                    w[j] *= scale;
                    greatest = std::max(greatest, allowed[j] > 0 ? w[j] : -INFINITY);
                }
#pragma omp simd reduction(+ : z)
                for (int64_t j = 0; j < Sp; j++) {
                    w[j] = allowed[j] > 0 ? exponential(w[j] - greatest) : 0.0f;
                    z += w[j];
                }
                const float share = 1.0f / z;
                for (int64_t j = 0; j < Sp; j++) w[j] *= share;
                log_z[(b * h.H + head) * h.T + span.t + i] = greatest + std::log(z);
            }
            product(T, Vp, S, weights.data(), Sp, 1, values.data(), Vp, sums.data(), Vp);
            // The output lies as the projection wants it: [B, T, H, V].
            scatter(sums.data(), T, h.V, Vp, out + ((b * h.T + span.t) * h.H + head) * h.V,
                    h.H * h.V);
        }
    }
}

// The gradients lie like the output: [B, T, H, K], [B, S, H, K] and [B, S, H, V]; those of keys that
// nobody asks are left as they are.
template <typename X>
void attend_gradients(const Heads& h, const X* q, const X* k, const X* v, const X* grad,
                      const float* log_z, X* grad_q, X* grad_k, X* grad_v) {
    const std::vector<Span> all = spans(h);
    const auto sizes = largest(all);
    const int64_t most_T = sizes.first, most_S = sizes.second;
    const int64_t Kp = up(h.K), Vp = up(h.V), most = up(most_S), H = h.H;
#pragma omp parallel
    {
        std::vector<float> queries(most_T * Kp), keys(most_S * Kp), key_columns(Kp * most),
            values(most_S * Vp), value_columns(Vp * most), weights(most_T * most),
            slopes(most_T * most), gradients(most_T * Vp), allowed(most),
            result(std::max(most_T, most_S) * std::max(Kp, Vp));
#pragma omp for schedule(static)
        for (int64_t job = 0; job < int64_t(all.size()) * H; job++) {
            const Span span = all[job / H];
            const int64_t b = span.b, head = job % H;
            const int64_t T = span.t_end - span.t, S = span.s_end - span.s, Sp = up(S);
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
            product(T, Sp, h.K, queries.data(), Kp, 1, key_columns.data(), Sp, weights.data(), Sp);
            product(T, Sp, h.V, gradients.data(), Vp, 1, value_columns.data(), Sp, slopes.data(),
                    Sp);
            for (int64_t i = 0; i < T; i++) {
                float* w = weights.data() + i * Sp;
                float* slope = slopes.data() + i * Sp;
                const bool sees = may_see(h, span, span.t + i, allowed.data());
                const float scale = sees ? h.scale : 0.0f;
                const float z = log_z[(b * H + head) * h.T + span.t + i];
                float mean = 0;
#pragma omp simd reduction(+ : mean)
                for (int64_t j = 0; j < Sp; j++) {
                    w[j] = allowed[j] > 0 ? exponential(w[j] * scale - z) : 0.0f;
                    mean += w[j] * slope[j];
                }
                for (int64_t j = 0; j < Sp; j++) slope[j] = w[j] * (slope[j] - mean) * scale;
            }
            product(T, Kp, S, slopes.data(), Sp, 1, keys.data(), Kp, result.data(), Kp);
            scatter(result.data(), T, h.K, Kp, grad_q + first_query * h.K, H * h.K);
            product(S, Kp, T, slopes.data(), 1, Sp, queries.data(), Kp, result.data(), Kp);
            scatter(result.data(), S, h.K, Kp, grad_k + first_key * h.K, H * h.K);
            product(S, Vp, T, weights.data(), 1, Sp, gradients.data(), Vp, result.data(), Vp);
            scatter(result.data(), S, h.V, Vp, grad_v + first_key * h.V, H * h.V);
        }
    }
}
