// All of a training step but its matrix products, each in one pass over memory.
//
// Rows are [N, D]; numbers are float or bf16 (a template argument), sums are float. Threads share the
// rows; no result depends on their number.
// Python: dropout.py, normalization.py, attention.py and cross_entropy.py one folder up.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>
#include "attention.h"
#include "guard.h"
#include "numbers.h"

using headway::guarded;

struct Dropout {  // each element is dropped if its 16 random bits are below the threshold
    uint32_t low, high;
    uint32_t threshold;
    float scale() const { return 65536.0f / (65536.0f - float(threshold)); }
};

// Write scale or 0 for each of D elements of a row. Two elements share 32 bits: j and j + half.
static void draw_factors(Dropout drop, int64_t row, int64_t D, float* factor) {
    const int64_t half = (D + 1) / 2;
    const uint32_t first = uint32_t(row * half);
    const float scale = drop.scale();
    for (int64_t j = 0; j < half; j++) {
        uint32_t bits = random_bits(drop.low, drop.high, first + uint32_t(j));
        factor[j] = (bits & 0xffff) >= drop.threshold ? scale : 0.0f;
    }
    for (int64_t j = half; j < D; j++) {
        uint32_t bits = random_bits(drop.low, drop.high, first + uint32_t(j - half));
        factor[j] = (bits >> 16) >= drop.threshold ? scale : 0.0f;
    }
}

template <typename T>
static void dropout_rows(const T* x, T* y, int64_t N, int64_t D, Dropout drop) {
    RegionErrors errors;
#pragma omp parallel
    {
        std::vector<float> factor;
        const bool has_memory = errors.attempt([&] { factor.resize(D + 1); });
#pragma omp for schedule(static)
        for (int64_t n = 0; n < N; n++) {
            if (!has_memory) continue;
            draw_factors(drop, n, D, factor.data());
            const T* xs = x + n * D;
            T* ys = y + n * D;
            for (int64_t j = 0; j < D; j++) ys[j] = from_float<T>(to_float(xs[j]) * factor[j]);
        }
    }
    errors.rethrow();
}

// out = LayerNorm(x + Dropout(y)); also writes the normalized rows and 1 / standard deviation.
template <typename X, typename Y>
static void add_norm_rows(const X* x, const Y* y, const float* weight, const float* bias, Y* out,
                          Y* normal, float* inverse, int64_t N, int64_t D, float epsilon,
                          Dropout drop) {
    RegionErrors errors;
#pragma omp parallel
    {
        std::vector<float> factor, sums;
        const bool has_memory = errors.attempt([&] {
            factor.assign(D + 1, 1.0f);
            sums.resize(D);
        });
#pragma omp for schedule(static)
        for (int64_t n = 0; n < N; n++) {
            if (!has_memory) continue;
            if (drop.threshold) draw_factors(drop, n, D, factor.data());
            const X* xs = x + n * D;
            const Y* ys = y + n * D;
            float mean = 0, variance = 0;
#pragma omp simd reduction(+ : mean)
            for (int64_t j = 0; j < D; j++) {
                sums[j] = to_float(xs[j]) + to_float(ys[j]) * factor[j];
                mean += sums[j];
            }
            mean /= float(D);
#pragma omp simd reduction(+ : variance)
            for (int64_t j = 0; j < D; j++) variance += (sums[j] - mean) * (sums[j] - mean);
            // If a square overflows, the row must become NaN, not zero.
            const float scale =
                std::isfinite(variance) ? 1.0f / std::sqrt(variance / float(D) + epsilon) : NAN;
            inverse[n] = scale;
            Y* outs = out + n * D;
            Y* normals = normal + n * D;
            for (int64_t j = 0; j < D; j++) {
                float value = (sums[j] - mean) * scale;
                normals[j] = from_float<Y>(value);
                outs[j] = from_float<Y>(value * weight[j] + bias[j]);
            }
        }
    }
    errors.rethrow();
}

// The gradients of add_norm_rows: of x, of y (through the same dropout), of weight and bias.
//
// The gradients of weight and bias are summed by blocks of rows, so that the number of threads changes no
// bit of them.
template <typename X, typename Y>
static void add_norm_gradients(const Y* grad, const Y* normal, const float* inverse,
                               const float* weight, X* grad_x, Y* grad_y, float* grad_weight,
                               float* grad_bias, int64_t N, int64_t D, Dropout drop) {
    const int64_t rows_of_block = 128, blocks = (N + rows_of_block - 1) / rows_of_block;
    std::vector<float> partial(size_t(blocks) * 2 * D, 0.0f);
    RegionErrors errors;
#pragma omp parallel
    {
        std::vector<float> factor, scaled;
        const bool has_memory = errors.attempt([&] {
            factor.assign(D + 1, 1.0f);
            scaled.resize(D);
        });
#pragma omp for schedule(static)
        for (int64_t block = 0; block < blocks; block++) {
            if (!has_memory) continue;
            float* of_weight = partial.data() + size_t(block) * 2 * D;
            float* of_bias = of_weight + D;
            const int64_t end = std::min(N, (block + 1) * rows_of_block);
            for (int64_t n = block * rows_of_block; n < end; n++) {
                if (drop.threshold) draw_factors(drop, n, D, factor.data());
                const Y* g = grad + n * D;
                const Y* z = normal + n * D;
                float mean = 0, along = 0;
#pragma omp simd reduction(+ : mean, along)
                for (int64_t j = 0; j < D; j++) {
                    float gradient = to_float(g[j]), value = to_float(z[j]);
                    of_weight[j] += gradient * value;
                    of_bias[j] += gradient;
                    scaled[j] = gradient * weight[j];
                    mean += scaled[j];
                    along += scaled[j] * value;
                }
                mean /= float(D);
                along /= float(D);
                const float scale = inverse[n];
                X* gx = grad_x + n * D;
                Y* gy = grad_y + n * D;
                for (int64_t j = 0; j < D; j++) {
                    float through = scale * (scaled[j] - mean - to_float(z[j]) * along);
                    gx[j] = from_float<X>(through);
                    gy[j] = from_float<Y>(through * factor[j]);
                }
            }
        }
    }
    errors.rethrow();
    for (int64_t j = 0; j < D; j++) {
        float of_weight = 0, of_bias = 0;
        for (int64_t block = 0; block < blocks; block++) {
            of_weight += partial[size_t(block) * 2 * D + j];
            of_bias += partial[size_t(block) * 2 * D + D + j];
        }
        grad_weight[j] = of_weight;
        grad_bias[j] = of_bias;
    }
}

static void check_label(int64_t label, int64_t V) {
    if (label >= V) throw std::out_of_range("a label is not in the vocabulary");
}

// Overwrite logits [N, V] by the gradient of the summed label-smoothed cross entropy.
//
// A negative label is padding: its row becomes zero. Adds to sums[0] the negative log-likelihood of
// the labels, and to sums[1] the cross entropy with an even distribution, in the order of the rows,
// so that the number of threads changes neither.
template <typename T>
static void entropy_rows(T* logits, const int64_t* labels, int64_t N, int64_t V, float smoothing,
                         double* sums) {
    std::vector<double> nll(N), even_nll(N);
    RegionErrors errors;
#pragma omp parallel
    {
        std::vector<float> row;
        const bool has_memory = errors.attempt([&] { row.resize(V); });
#pragma omp for schedule(static)
        for (int64_t n = 0; n < N; n++) {
            if (!has_memory) continue;
            T* scores = logits + n * V;
            if (labels[n] < 0) {
                std::fill(scores, scores + V, from_float<T>(0));
                continue;
            }
            if (!errors.attempt([&] { check_label(labels[n], V); })) continue;
            float largest = -INFINITY, all_scores = 0, z = 0;
#pragma omp simd reduction(max : largest) reduction(+ : all_scores)
            for (int64_t j = 0; j < V; j++) {
                float score = to_float(scores[j]);
                row[j] = score;
                largest = std::max(largest, score);
                all_scores += score;
            }
            const float at_label = row[labels[n]];
#pragma omp simd reduction(+ : z)
            for (int64_t j = 0; j < V; j++) {
                row[j] = exponential(row[j] - largest);
                z += row[j];
            }
            const double log_z = double(largest) + std::log(double(z));
            nll[n] = log_z - at_label;
            even_nll[n] = log_z - double(all_scores) / double(V);
            const float inverse = 1.0f / z, even = smoothing / float(V);
            const float right = row[labels[n]] * inverse - even - (1.0f - smoothing);
            for (int64_t j = 0; j < V; j++) scores[j] = from_float<T>(row[j] * inverse - even);
            scores[labels[n]] = from_float<T>(right);
        }
    }
    errors.rethrow();
    sums[0] = std::accumulate(nll.begin(), nll.end(), sums[0]);
    sums[1] = std::accumulate(even_nll.begin(), even_nll.end(), sums[1]);
}

// A row of logits and its softmax.
struct Softmax {
    std::vector<float> score, probability;
    double log_z = 0, mean = 0;

    void allocate(int64_t V) { score.resize(V), probability.resize(V); }

    template <typename T> void read(const T* scores, int64_t V) {
        float largest = -INFINITY, all_scores = 0, z = 0;
#pragma omp simd reduction(max : largest) reduction(+ : all_scores)
        for (int64_t j = 0; j < V; j++) {
            score[j] = to_float(scores[j]);
            largest = std::max(largest, score[j]);
            all_scores += score[j];
        }
#pragma omp simd reduction(+ : z)
        for (int64_t j = 0; j < V; j++) {
            probability[j] = exponential(score[j] - largest);
            z += probability[j];
        }
        for (int64_t j = 0; j < V; j++) probability[j] /= z;
        log_z = double(largest) + std::log(double(z));
        mean = double(all_scores) / double(V);
    }
};

// Overwrite logits [2N, V], of which rows 2n and 2n + 1 are two predictions of label n, by the gradient
// of the mean of their label-smoothed cross entropies plus `weight` / 2 times the mean of KL(p||q) and
// KL(q||p). Adds to sums[0] and sums[1] the means of what entropy_rows adds, and to sums[2] the mean
// of the divergences.
template <typename T>
static void agreement_rows(T* logits, const int64_t* labels, int64_t N, int64_t V, float smoothing,
                           float weight, double* sums) {
    std::vector<double> nll(N), even_nll(N), divergence(N);
    RegionErrors errors;
#pragma omp parallel
    {
        Softmax one, other;
        const bool has_memory = errors.attempt([&] { one.allocate(V), other.allocate(V); });
#pragma omp for schedule(static)
        for (int64_t n = 0; n < N; n++) {
            if (!has_memory) continue;
            T *first = logits + 2 * n * V, *second = first + V;
            if (labels[n] < 0) {
                std::fill(first, first + 2 * V, from_float<T>(0));
                continue;
            }
            if (!errors.attempt([&] { check_label(labels[n], V); })) continue;
            one.read(first, V), other.read(second, V);
            const float shift = float(one.log_z - other.log_z);
            const float *a = one.score.data(), *b = other.score.data();
            const float *p = one.probability.data(), *q = other.probability.data();
            float p_from_q = 0, q_from_p = 0;
#pragma omp simd reduction(+ : p_from_q, q_from_p)
            for (int64_t j = 0; j < V; j++) {
                const float ratio = a[j] - b[j] - shift;  // log p - log q
                p_from_q += p[j] * ratio;
                q_from_p -= q[j] * ratio;
            }
            nll[n] = 0.5 * (one.log_z + other.log_z - a[labels[n]] - b[labels[n]]);
            even_nll[n] = 0.5 * (one.log_z + other.log_z - one.mean - other.mean);
            divergence[n] = 0.5 * (double(p_from_q) + double(q_from_p));
            const float even = smoothing / float(V), right = 1.0f - smoothing, half = weight / 2;
            auto write_gradient = [&](int64_t j, float target) {
                const float ratio = a[j] - b[j] - shift, apart = p[j] - q[j];
                first[j] = from_float<T>(
                    0.5f * (p[j] - target + half * (p[j] * (ratio - p_from_q) + apart)));
                second[j] = from_float<T>(
                    0.5f * (q[j] - target - half * (q[j] * (ratio + q_from_p) + apart)));
            };
            for (int64_t j = 0; j < V; j++) write_gradient(j, even);
            write_gradient(labels[n], even + right);
        }
    }
    errors.rethrow();
    sums[0] = std::accumulate(nll.begin(), nll.end(), sums[0]);
    sums[1] = std::accumulate(even_nll.begin(), even_nll.end(), sums[1]);
    sums[2] = std::accumulate(divergence.begin(), divergence.end(), sums[2]);
}

// Exported functions. Element types are flags: 0 float, 1 bf16.

HEADWAY_EXPORT int dropout(const void* x, void* y, int64_t N, int64_t D, uint32_t low, uint32_t high,
                           uint32_t threshold, int type) {
    return guarded([&] {
        const Dropout drop{low, high, threshold};
        if (type)
            dropout_rows((const bf16*)x, (bf16*)y, N, D, drop);
        else
            dropout_rows((const float*)x, (float*)y, N, D, drop);
    });
}

HEADWAY_EXPORT int add_norm(const void* x, const void* y, const float* weight, const float* bias,
                            void* out, void* normal, float* inverse, int64_t N, int64_t D,
                            float epsilon, uint32_t low, uint32_t high, uint32_t threshold,
                            int x_type, int y_type) {
    return guarded([&] {
        const Dropout drop{low, high, threshold};
        if (x_type && y_type)
            add_norm_rows((const bf16*)x, (const bf16*)y, weight, bias, (bf16*)out, (bf16*)normal,
                          inverse, N, D, epsilon, drop);
        else if (y_type)
            add_norm_rows((const float*)x, (const bf16*)y, weight, bias, (bf16*)out, (bf16*)normal,
                          inverse, N, D, epsilon, drop);
        else
            add_norm_rows((const float*)x, (const float*)y, weight, bias, (float*)out,
                          (float*)normal, inverse, N, D, epsilon, drop);
    });
}

HEADWAY_EXPORT int add_norm_backward(const void* grad, const void* normal, const float* inverse,
                                     const float* weight, void* grad_x, void* grad_y,
                                     float* grad_weight, float* grad_bias, int64_t N, int64_t D,
                                     uint32_t low, uint32_t high, uint32_t threshold, int x_type,
                                     int y_type) {
    return guarded([&] {
        const Dropout drop{low, high, threshold};
        if (x_type && y_type)
            add_norm_gradients((const bf16*)grad, (const bf16*)normal, inverse, weight,
                               (bf16*)grad_x, (bf16*)grad_y, grad_weight, grad_bias, N, D, drop);
        else if (y_type)
            add_norm_gradients((const bf16*)grad, (const bf16*)normal, inverse, weight,
                               (float*)grad_x, (bf16*)grad_y, grad_weight, grad_bias, N, D, drop);
        else
            add_norm_gradients((const float*)grad, (const float*)normal, inverse, weight,
                               (float*)grad_x, (float*)grad_y, grad_weight, grad_bias, N, D, drop);
    });
}

HEADWAY_EXPORT int entropy(void* logits, const int64_t* labels, int64_t N, int64_t V,
                           float smoothing, double* sums, int type) {
    return guarded([&] {
        if (type)
            entropy_rows((bf16*)logits, labels, N, V, smoothing, sums);
        else
            entropy_rows((float*)logits, labels, N, V, smoothing, sums);
    });
}

HEADWAY_EXPORT int agreement(void* logits, const int64_t* labels, int64_t N, int64_t V,
                             float smoothing, float weight, double* sums, int type) {
    return guarded([&] {
        if (type)
            agreement_rows((bf16*)logits, labels, N, V, smoothing, weight, sums);
        else
            agreement_rows((float*)logits, labels, N, V, smoothing, weight, sums);
    });
}

HEADWAY_EXPORT int attention(const AttentionArguments* arguments, const void* q, const void* k,
                             const void* v, void* out, float* log_z, int type) {
    return guarded([&] {
        if (type)
            attend(*arguments, (const bf16*)q, (const bf16*)k, (const bf16*)v, (bf16*)out, log_z);
        else
            attend(*arguments, (const float*)q, (const float*)k, (const float*)v, (float*)out,
                   log_z);
    });
}

// The most keys of a span: how many weights `attention` stores for a query.
HEADWAY_EXPORT int longest_span(const int64_t* queries, const int64_t* keys, int64_t B, int64_t T,
                                int64_t S, int64_t* longest) {
    return guarded([&] {
        AttentionArguments arguments{};
        arguments.B = B, arguments.T = T, arguments.S = S;
        arguments.query_segments = queries, arguments.key_segments = keys;
        *longest = largest_span(cut_spans(arguments)).second;
    });
}

HEADWAY_EXPORT int attention_backward(const AttentionArguments* arguments, const void* q,
                                      const void* k, const void* v, const void* grad,
                                      const float* log_z, void* grad_q, void* grad_k, void* grad_v,
                                      int type) {
    return guarded([&] {
        if (type)
            attend_gradients(*arguments, (const bf16*)q, (const bf16*)k, (const bf16*)v,
                             (const bf16*)grad, log_z, (bf16*)grad_q, (bf16*)grad_k, (bf16*)grad_v);
        else
            attend_gradients(*arguments, (const float*)q, (const float*)k, (const float*)v,
                             (const float*)grad, log_z, (float*)grad_q, (float*)grad_k,
                             (float*)grad_v);
    });
}

HEADWAY_EXPORT const char* build_identity() { return HEADWAY_IDENTITY; }

// Layout 0 is that of AttentionArguments: its sizeof, then the offset of each field.
HEADWAY_EXPORT const int64_t* structure_layout(int index) {
    return index == 0 ? ATTENTION_ARGUMENTS_LAYOUT : nullptr;
}
