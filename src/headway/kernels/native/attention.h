// Attention of short sequences and its gradient (equation 1), one head of one sentence at a time:
// everything of it stays in the nearest cache, and the softmax is never stored for later.
//
// T queries, S keys, K the width of queries and keys, V of values.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
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

// 1 where query i of sentence b may see a key, else 0; all keys where it may see none.
inline void may_see(const Heads& h, int64_t b, int64_t i, float* allowed) {
    const int64_t S = h.S, padded = up(S);
    const int64_t* keys = h.key_segments ? h.key_segments + b * S : nullptr;
    const int64_t own = h.query_segments ? h.query_segments[b * h.T + i] : 1;
    float any = 0;
    for (int64_t j = 0; j < S; j++) {
        bool near = j >= i - h.back && j <= i + h.ahead;
        allowed[j] = near && (!keys || keys[j] == own) ? 1.0f : 0.0f;
        any += allowed[j];
    }
    if (any == 0) std::fill(allowed, allowed + S, 1.0f);
    std::fill(allowed + S, allowed + padded, 0.0f);
}

// Whether a query sees no key at all: its weights are even, and no gradient passes through them.
inline bool sees_none(const Heads& h, int64_t b, int64_t i) {
    const int64_t* keys = h.key_segments ? h.key_segments + b * h.S : nullptr;
    const int64_t own = h.query_segments ? h.query_segments[b * h.T + i] : 1;
    for (int64_t j = std::max<int64_t>(0, i - h.back); j < h.S && j <= i + h.ahead; j++)
        if (!keys || keys[j] == own) return false;
    return true;
}

template <typename X>
void attend(const Heads& h, const X* q, const X* k, const X* v, X* out, float* log_z) {
    const int64_t T = h.T, S = h.S, Kp = up(h.K), Vp = up(h.V), Sp = up(S);
#pragma omp parallel
    {
        std::vector<float> queries(T * Kp), keys(S * Kp), across(Kp * Sp), values(S * Vp),
            weights(T * Sp), sums(T * Vp), allowed(Sp);
#pragma omp for schedule(static)
        for (int64_t job = 0; job < h.B * h.H; job++) {
            const int64_t b = job / h.H, head = job % h.H;
            gather(q + b * h.q_batch + head * h.q_head, T, h.K, h.q_position, queries.data(), Kp);
            gather(k + b * h.k_batch + head * h.k_head, S, h.K, h.k_position, keys.data(), Kp);
            gather(v + b * h.v_batch + head * h.v_head, S, h.V, h.v_position, values.data(), Vp);
            transpose(keys.data(), S, h.K, Kp, across.data(), Sp);
            product(T, Sp, h.K, queries.data(), Kp, 1, across.data(), Sp, weights.data(), Sp);
            for (int64_t i = 0; i < T; i++) {
                float* w = weights.data() + i * Sp;
                may_see(h, b, i, allowed.data());
                const float scale = sees_none(h, b, i) ? 0.0f : h.scale;
                float largest = -INFINITY, z = 0;
#pragma omp simd reduction(max : largest)
                for (int64_t j = 0; j < Sp; j++) {
                    w[j] *= scale;
                    largest = std::max(largest, allowed[j] > 0 ? w[j] : -INFINITY);
                }
#pragma omp simd reduction(+ : z)
                for (int64_t j = 0; j < Sp; j++) {
                    w[j] = allowed[j] > 0 ? exponential(w[j] - largest) : 0.0f;
                    z += w[j];
                }
                const float share = 1.0f / z;
                for (int64_t j = 0; j < Sp; j++) w[j] *= share;
                log_z[job * T + i] = largest + std::log(z);
            }
            product(T, Vp, S, weights.data(), Sp, 1, values.data(), Vp, sums.data(), Vp);
            // The output lies as the projection wants it: [B, T, H, V].
            scatter(sums.data(), T, h.V, Vp, out + (b * T * h.H + head) * h.V, h.H * h.V);
        }
    }
}

// The gradients lie like the output: [B, T, H, K], [B, S, H, K] and [B, S, H, V].
template <typename X>
void attend_gradients(const Heads& h, const X* q, const X* k, const X* v, const X* grad,
                      const float* log_z, X* grad_q, X* grad_k, X* grad_v) {
    const int64_t T = h.T, S = h.S, Kp = up(h.K), Vp = up(h.V), Sp = up(S), H = h.H;
#pragma omp parallel
    {
        std::vector<float> queries(T * Kp), keys(S * Kp), key_columns(Kp * Sp), values(S * Vp),
            value_columns(Vp * Sp), weights(T * Sp), slopes(T * Sp), gradients(T * Vp),
            allowed(Sp), result(std::max(T, S) * std::max(Kp, Vp));
#pragma omp for schedule(static)
        for (int64_t job = 0; job < h.B * H; job++) {
            const int64_t b = job / H, head = job % H;
            gather(q + b * h.q_batch + head * h.q_head, T, h.K, h.q_position, queries.data(), Kp);
            gather(k + b * h.k_batch + head * h.k_head, S, h.K, h.k_position, keys.data(), Kp);
            gather(v + b * h.v_batch + head * h.v_head, S, h.V, h.v_position, values.data(), Vp);
            gather(grad + (b * T * H + head) * h.V, T, h.V, H * h.V, gradients.data(), Vp);
            transpose(keys.data(), S, h.K, Kp, key_columns.data(), Sp);
            transpose(values.data(), S, h.V, Vp, value_columns.data(), Sp);
            product(T, Sp, h.K, queries.data(), Kp, 1, key_columns.data(), Sp, weights.data(), Sp);
            product(T, Sp, h.V, gradients.data(), Vp, 1, value_columns.data(), Sp, slopes.data(),
                    Sp);
            for (int64_t i = 0; i < T; i++) {
                float* w = weights.data() + i * Sp;
                float* slope = slopes.data() + i * Sp;
                may_see(h, b, i, allowed.data());
                const float scale = sees_none(h, b, i) ? 0.0f : h.scale;
                const float z = log_z[job * T + i];
                float mean = 0;
#pragma omp simd reduction(+ : mean)
                for (int64_t j = 0; j < Sp; j++) {
                    w[j] = allowed[j] > 0 ? exponential(w[j] * scale - z) : 0.0f;
                    mean += w[j] * slope[j];
                }
                for (int64_t j = 0; j < Sp; j++) slope[j] = w[j] * (slope[j] - mean) * scale;
            }
            product(T, Kp, S, slopes.data(), Sp, 1, keys.data(), Kp, result.data(), Kp);
            scatter(result.data(), T, h.K, Kp, grad_q + (b * T * H + head) * h.K, H * h.K);
            product(S, Kp, T, slopes.data(), 1, Sp, queries.data(), Kp, result.data(), Kp);
            scatter(result.data(), S, h.K, Kp, grad_k + (b * S * H + head) * h.K, H * h.K);
            product(S, Vp, T, weights.data(), 1, Sp, gradients.data(), Vp, result.data(), Vp);
            scatter(result.data(), S, h.V, Vp, grad_v + (b * S * H + head) * h.V, H * h.V);
        }
    }
}
