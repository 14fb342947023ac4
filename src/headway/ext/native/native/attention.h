// Attention of short sequences and its gradient (paper: section 3.2.1, equation 1).
//
// One head of one sentence is computed at a time, so that its numbers stay in the nearest cache. The
// backward pass computes the softmax again instead of storing it.
//
// Shapes: T queries, S keys, H heads, K width of queries and keys, V width of values.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "guard.h"
#include "numbers.h"
#include "products.h"
#include "spans.h"

using headway::RegionErrors;

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
