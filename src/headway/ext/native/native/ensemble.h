// The best tokens of several models together: by the mean of their probabilities.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "linear.h"
#include "selection.h"

namespace headway {

// Averages the probabilities of rows of logits of several models. Tokens that are all less likely than e^-87 have the order of their ids.
class Ensemble {
public:
    // Prepare for rows of `models` models, which follow each other: room for `rows` rows [padded V] of each.
    float* prepare(long models, long rows, long tokens) {
        stride_ = rows * padded(tokens);
        if (tokens != tokens_) zeros_ = Block<float>(padded(tokens));
        tokens_ = tokens;
        log_z_.resize(models);
        return logits_.get(models * stride_);
    }

    // Select for one of the rows. The other arguments are those of a row of `Selection`, with natural logarithms of the
    // mean probabilities in place of logits. log_z becomes 0, or NaN if a model predicts no numbers.
    void select(long row, long wanted, const int64_t* forced, int64_t* ids, double* log_p, double* log_z,
                const int64_t* asked, long asked_count, double* asked_log_p) {
        const long width = padded(tokens_);
        row_ = logits_.get(0) + row * width;
        float* total = total_.get(width);
        std::fill(total, total + width, 0.0f);
        *log_z = 0;
        for (size_t m = 0; m < log_z_.size(); ++m) {
            add_probabilities(m, total);
            *log_z += 0 * log_z_[m];
        }
        best_.resize(wanted);
        double unused;
        Selection selection(zeros_.get(), tokens_ - 1, wanted, forced, ids, best_.data(), 1, {});
        selection(0, 1, 0, width, total);
        selection.finish(&unused);
        for (long c = 0; c < wanted; ++c) {
            const int64_t id = ids[c];
            const double value = best_[c] < 0 ? best_[c] : logarithm(id);  // a missing candidate has minus infinity
            long place = c;  // floats that are nearly equal may have another order
            for (; place > 0 && log_p[place - 1] < value; --place) {
                log_p[place] = log_p[place - 1];
                ids[place] = ids[place - 1];
            }
            log_p[place] = value;
            ids[place] = id;
        }
        for (long e = 0; e < asked_count; ++e) asked_log_p[e] = logarithm(asked[e]);
    }

private:
    const float* logits(size_t model) const { return row_ + model * stride_; }

    // Add the probabilities that a model gives to the tokens of the row.
    void add_probabilities(size_t model, float* total) {
        const auto part = [&](long n) {
            const Vector x = load(logits(model) + n);
            return tokens_ - n < LANES ? first_lanes(x, tokens_ - n, LOWEST) : x;
        };
        Vector top = part(0), sums = {};
        for (long n = LANES; n < tokens_; n += LANES) top = larger(part(n), top);
        const float most = largest(top);
        float* shares = shares_.get(padded(tokens_));
        for (long n = 0; n < tokens_; n += LANES) {
            const Vector share = exponential(part(n) - most);
            store(shares + n, share);
            sums += share;
        }
        const float all = sum(sums);
        log_z_[model] = most + std::log(static_cast<double>(all));
        for (long n = 0; n < tokens_; n += LANES)
            store(total + n, load(total + n) + load(shares + n) * (1.0f / all));
    }

    // Of the mean probability of a token, however small.
    double logarithm(int64_t id) const {
        double most = LOWEST, total = 0;
        const size_t models = log_z_.size();
        for (size_t m = 0; m < models; ++m) most = std::max(most, logits(m)[id] - log_z_[m]);
        for (size_t m = 0; m < models; ++m) total += std::exp(logits(m)[id] - log_z_[m] - most);
        return most + std::log(total / models);
    }

    static constexpr float LOWEST = -std::numeric_limits<float>::infinity();

    long tokens_ = 0, stride_ = 0;
    Block<float> zeros_;
    Scratch<float> logits_, shares_, total_;
    const float* row_ = nullptr;  // of the first model
    std::vector<double> log_z_;   // of each model
    std::vector<float> best_;
};

}  // namespace headway
