// The best tokens of several models together: by the mean of their probabilities.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "linear.h"
#include "selection.h"

namespace headway {

// Mixes rows of logits of several models. Tokens that are all less likely than e^-87 have the order of their ids.
class Mixture {
public:
    Mixture(long models, long tokens)
        : tokens_(tokens), zeros_(padded(tokens)), mean_(padded(tokens)), share_(padded(tokens)), log_z_(models) {}

    // logits: of each model a row [padded V]. The other arguments are those of a row of `Selection`, with natural
    // logarithms of the mean probabilities in place of logits. log_z becomes 0, or NaN if a model predicts no numbers.
    void select(const std::vector<const float*>& logits, long wanted, const int64_t* forced, int64_t* ids,
                double* log_p, double* log_z, const int64_t* asked, long asked_count, double* asked_log_p) {
        float* mean = mean_.get();
        *log_z = 0;
        for (size_t m = 0; m < logits.size(); ++m) {
            const float total = exponentiate(logits[m], log_z_[m]);
            for (long n = 0; n < tokens_; n += LANES) {
                const Vector share = load(share_.get() + n) * (1.0f / total);
                store(mean + n, m ? load(mean + n) + share : share);
            }
            *log_z += 0 * log_z_[m];
        }
        best_.resize(wanted);
        double unused;
        Selection selection(zeros_.get(), tokens_ - 1, wanted, forced, ids, best_.data(), 1, {});
        selection(0, 1, 0, padded(tokens_), mean);
        selection.finish(&unused);
        for (long c = 0; c < wanted; ++c)  // a candidate that is missing has minus infinity
            log_p[c] = best_[c] < 0 ? best_[c] : logarithm(logits, ids[c]);
        for (long e = 0; e < asked_count; ++e) asked_log_p[e] = logarithm(logits, asked[e]);
    }

private:
    // Put e^(logit - the largest) into share_, and return the sum.
    float exponentiate(const float* logits, double& log_z) {
        const auto row = [&](long n) {
            const Vector x = load(logits + n);
            return tokens_ - n < LANES ? first_lanes(x, tokens_ - n, LOWEST) : x;
        };
        Vector top = row(0), sums = {};
        for (long n = LANES; n < tokens_; n += LANES) top = larger(row(n), top);
        const float most = largest(top);
        for (long n = 0; n < tokens_; n += LANES) {
            const Vector share = exponential(row(n) - most);
            store(share_.get() + n, share);
            sums += share;
        }
        const float total = sum(sums);
        log_z = most + std::log(static_cast<double>(total));
        return total;
    }

    // Of the mean probability of a token, however small.
    double logarithm(const std::vector<const float*>& logits, int64_t id) const {
        double most = LOWEST, total = 0;
        for (size_t m = 0; m < logits.size(); ++m) most = std::max(most, logits[m][id] - log_z_[m]);
        for (size_t m = 0; m < logits.size(); ++m) total += std::exp(logits[m][id] - log_z_[m] - most);
        return most + std::log(total / logits.size());
    }

    static constexpr float LOWEST = -std::numeric_limits<float>::infinity();

    long tokens_;
    Block<float> zeros_, mean_, share_;
    std::vector<double> log_z_;
    std::vector<float> best_;
};

}  // namespace headway
