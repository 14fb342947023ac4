// The best tokens of a row of logits, and its log-sum-exp, in one pass that never stores the row.
#pragma once

#include <limits>
#include <vector>

#include "vector.h"

namespace headway {

// Tokens whose logits are wanted besides: `count` ids for each row, ascending; null: none.
struct Asked {
    const int64_t* ids = nullptr;
    long count = 0;
    float* logits = nullptr;
};

// C candidates a row, in descending order of their logits, ties in ascending order of their ids.
class Selection {
public:
    // ids and logits are [rows, wanted]. `never`, the last id, is not a candidate, but it counts in
    // the sum. If forced is given and forced[row] >= 0, that token is the row's only candidate.
    Selection(const float* bias, long never, long wanted, const int64_t* forced, int64_t* ids,
              float* logits, long rows, const Asked& asked)
        : bias_(bias), never_(never), wanted_(wanted), forced_(forced), ids_(ids), logits_(logits),
          asked_(asked), rows_(rows) {
        std::fill(ids, ids + rows * wanted, never);
        std::fill(logits, logits + rows * wanted, LOWEST);
    }

    void operator()(long row, long count, long column, long columns, const float* part) {
        for (long m = row; m < row + count; ++m, part += columns) {
            Row& r = rows_[m];
            for (long n = 0; n < columns; n += LANES) {
                Vector x = load(part + n) + load(bias_ + column + n);
                if (const long left = never_ + 1 - column - n; left < LANES)
                    x = first_lanes(x, left, LOWEST);
                if (column + n == 0) r.reference = largest(x);
                if (const uint32_t lanes = lanes_above(x, r.bound)) consider(m, x, column + n, lanes);
                r.sums += exponential(x - r.reference);
            }
            if (forced_ && forced_[m] >= column && forced_[m] < column + columns)
                r.forced = part[forced_[m] - column] + bias_[forced_[m]];
            if (!asked_.ids) continue;
            const int64_t* asked = asked_.ids + m * asked_.count;
            for (; r.answered < asked_.count && asked[r.answered] < column + columns; ++r.answered)
                asked_.logits[m * asked_.count + r.answered] =
                    part[asked[r.answered] - column] + bias_[asked[r.answered]];
        }
    }

    void finish(double* log_z) {
        for (size_t m = 0; m < rows_.size(); ++m) {
            log_z[m] = rows_[m].reference + std::log(static_cast<double>(sum(rows_[m].sums)));
            if (!forced_ || forced_[m] < 0) continue;
            std::fill(ids_ + m * wanted_, ids_ + (m + 1) * wanted_, never_);
            std::fill(logits_ + m * wanted_, logits_ + (m + 1) * wanted_, LOWEST);
            ids_[m * wanted_] = forced_[m];
            logits_[m * wanted_] = rows_[m].forced;
        }
    }

private:
    static constexpr float LOWEST = -std::numeric_limits<float>::infinity();

    struct Row {
        Vector sums = {};         // of e^(logit - reference)
        float reference = 0;      // a logit at most 30 below the largest
        float bound = LOWEST;     // the lowest logit of the candidates
        float forced = LOWEST;
        long answered = 0;        // tokens of `Asked` that have their logits
    };

    void consider(long m, const Vector& x, long column, uint32_t lanes) {
        Row& row = rows_[m];
        int64_t* ids = ids_ + m * wanted_;
        float* logits = logits_ + m * wanted_;
        for (; lanes; lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            const float logit = x[lane];
            if (logit > row.reference + 30.0f) {  // before e^x grows too large
                row.sums *= std::exp(row.reference - logit);
                row.reference = logit;
            }
            if (column + lane == never_ || !(logit > row.bound)) continue;
            long place = wanted_ - 1;
            for (; place > 0 && logits[place - 1] < logit; --place) {
                logits[place] = logits[place - 1];
                ids[place] = ids[place - 1];
            }
            logits[place] = logit;
            ids[place] = column + lane;
            row.bound = logits[wanted_ - 1];
        }
    }

    const float* bias_;
    long never_, wanted_;
    const int64_t* forced_;
    int64_t* ids_;
    float* logits_;
    Asked asked_;
    std::vector<Row> rows_;
};

}  // namespace headway
