// A linear map with packed weights, in one of three precisions; inputs and outputs are fp32 rows.
//
// int8: weights are rounded per output n, inputs per row m, both to [-127, 127] around 0:
// y[m, n] = (sum of integer products) * scale[m] * scale[n].
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "matmul.h"

namespace headway {

enum Precision { FP32, BF16, INT8 };

// Memory on large pages where the system has them, because every step reads all weights.
template <class T> class Block {
public:
    Block() = default;
    explicit Block(size_t count, bool zeroed = true) : count_(count) {
        constexpr size_t PAGE = 2 << 20;
        if (count > (SIZE_MAX - PAGE) / sizeof(T)) throw std::bad_alloc();
        const size_t bytes = count * sizeof(T), unit = bytes >= PAGE / 2 ? PAGE : 64;
        const size_t whole = (bytes + unit - 1) / unit * unit;
        data_.reset(static_cast<T*>(std::aligned_alloc(unit, std::max(whole, unit))));
        if (!data_) throw std::bad_alloc();
#if defined(__linux__)
        if (unit == PAGE) madvise(data_.get(), whole, MADV_HUGEPAGE);
#endif
        if (zeroed) std::memset(static_cast<void*>(data_.get()), 0, bytes);
    }
    T* get() const { return data_.get(); }
    T& operator[](size_t i) const { return data_.get()[i]; }
    size_t size() const { return count_; }

private:
    struct Free { void operator()(T* p) const { std::free(p); } };
    std::unique_ptr<T, Free> data_;
    size_t count_ = 0;
};

// A buffer that is used again and again, and replaced by a larger one when needed.
template <class T> class Scratch {
public:
    T* get(size_t count) {
        if (count > block_.size()) block_ = Block<T>(count + count / 4);
        return block_.get();
    }

private:
    Block<T> block_;
};

typedef uint8_t Bytes __attribute__((vector_size(WIDE)));
typedef int16_t Halves __attribute__((vector_size(2 * WIDE)));

// Numbers as 8-bit integers around 0: x ~ scale * rounded.
HEADWAY_INLINE float scale_of(const float* x, long count) {
    Vector most = {}, zeros = {};
    for (long k = 0; k < count; k += LANES) {
        most = larger(most, each(load(x + k), magnitude));
        zeros += load(x + k) * 0.0f;  // NaN if a number is not finite, and so is the scale
    }
    return largest(most) / 127.0f + sum(zeros);
}

HEADWAY_INLINE Words rounded(const Floats& x, float inverse) {
    const float shift = 12582912.0f;  // adding it rounds to the nearest, ties to even
    return __builtin_convertvector((x * inverse + shift) - shift, Words);
}

HEADWAY_INLINE uint16_t to_bf16(float x) {  // to the nearest, ties to even
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The inputs of a product, in the form that the kernel reads.
struct Inputs {
    Scratch<int32_t> words;
    Scratch<float> scales;
};

class Linear {
public:
    // weight [N, K] and bias [N] (or null) are fp32, without padding.
    Linear(Precision precision, const float* weight, const float* bias, long outputs, long inputs)
        : precision_(precision), outputs_(outputs), inputs_(inputs),
          group_(precision == INT8 ? Byte::GROUP : precision == BF16 ? 2 : 1),
          groups_((inputs + group_ - 1) / group_), width_(padded(outputs)),
          words_(width_ * groups_), bias_(width_) {
        if (bias) std::copy(bias, bias + outputs, bias_.get());
        if (precision == INT8) {
            scale_ = Block<float>(width_);
            surplus_ = Block<int32_t>(width_);
        }
        Block<float> row(padded(inputs));
        for (long n = 0; n < outputs; ++n) {
            std::copy(weight + n * inputs, weight + (n + 1) * inputs, row.get());
            pack(n, row.get());
        }
    }

    // The same map with some of its outputs.
    Linear(const Linear& whole, const int64_t* chosen, long count)
        : precision_(whole.precision_), outputs_(count), inputs_(whole.inputs_), group_(whole.group_),
          groups_(whole.groups_), width_(padded(count)), words_(width_ * groups_), bias_(width_),
          scale_(whole.scale_.size() ? width_ : 0), surplus_(whole.surplus_.size() ? width_ : 0) {
        for (long n = 0; n < count; ++n) {
            const int32_t* from = whole.words_.get() + whole.word(chosen[n], 0);
            int32_t* to = words_.get() + word(n, 0);
            for (long g = 0; g < groups_; ++g) to[g * PANEL] = from[g * PANEL];
            bias_[n] = whole.bias_[chosen[n]];
            if (precision_ != INT8) continue;
            scale_[n] = whole.scale_[chosen[n]];
            surplus_[n] = whole.surplus_[chosen[n]];
        }
    }

    long outputs() const { return outputs_; }
    long inputs() const { return inputs_; }
    const float* bias() const { return bias_.get(); }

    // Feed the product of x, `rows` rows of `stride` floats (padded with zeros), to the sink.
    template <class Sink>
    void apply(const float* x, long stride, long rows, Inputs& space, Sink&& sink) const {
        const Weights w{reinterpret_cast<const char*>(words_.get()), groups_, width_,
                        scale_.get(), surplus_.get()};
        if (precision_ == FP32) {
            multiply<Single>({reinterpret_cast<const int32_t*>(x), stride, nullptr}, rows, w, sink);
            return;
        }
        const long in = whole_vectors(inputs_), step = in / group_;
        int32_t* words = space.words.get(rows * step);
        float* scales = space.scales.get(rows);
        if (precision_ == INT8) {
            for (long m = 0; m < rows; ++m)
                quantize(x + m * stride, in, words + m * step, scales + m);
            multiply<Byte>({words, step, scales}, rows, w, sink);
            return;
        }
#if defined(__AVX512BF16__)
        for (long m = 0; m < rows; ++m)
            for (long k = 0; k < in; k += LANES)
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + m * step + k / 2),
                                    (__m256i)_mm512_cvtneps_pbh((__m512)load(x + m * stride + k).parts[0]));
        multiply<Brain>({words, step, nullptr}, rows, w, sink);
#endif
    }

    // y [rows, stride] = the product + bias, activated.
    void store(const float* x, long x_stride, long rows, Inputs& space, float* y, long stride,
               Activation activation = NONE) const {
        const float* bias = bias_.get();
        apply(x, x_stride, rows, space,
              [=](long row, long count, long column, long columns, const float* part) {
            for (long m = 0; m < count; ++m, part += columns)
                for (long n = 0; n < columns; n += LANES)
                    headway::store(y + (row + m) * stride + column + n,
                                   activate(load(part + n) + load(bias + column + n), activation));
        });
    }

    // x [rows, stride] += the product + bias.
    void add(const float* in, long in_stride, long rows, Inputs& space, float* x, long stride) const {
        const float* bias = bias_.get();
        apply(in, in_stride, rows, space,
              [=](long row, long count, long column, long columns, const float* part) {
            for (long m = 0; m < count; ++m, part += columns)
                for (long n = 0; n < columns; n += LANES) {
                    float* to = x + (row + m) * stride + column + n;
                    headway::store(to, load(to) + (load(part + n) + load(bias + column + n)));
                }
        });
    }

private:
    static void quantize(const float* x, long count, int32_t* words, float* scale) {
        *scale = scale_of(x, count);
        const float inverse = *scale > 0 ? 1.0f / *scale : 0.0f;
        for (long k = 0; k < count; k += WIDE) {
            const Words q = rounded(*reinterpret_cast<const UnalignedFloats*>(x + k), inverse);
            if constexpr (Byte::GROUP == 4) {
                const Bytes bytes = __builtin_convertvector(q + 128, Bytes);
                std::memcpy(reinterpret_cast<char*>(words) + k, &bytes, sizeof bytes);
            } else if constexpr (Byte::GROUP == 2) {
                const Halves halves = __builtin_convertvector(q, Halves);
                std::memcpy(reinterpret_cast<char*>(words) + 2 * k, &halves, sizeof halves);
            } else {
                std::memcpy(words + k, &q, sizeof q);
            }
        }
    }

    // The index of the 4 bytes of output n and group g.
    long word(long n, long g) const { return (n / PANEL * groups_ + g) * PANEL + n % PANEL; }

    void pack(long n, const float* row) {
        float inverse = 0;
        int32_t total = 0;
        if (precision_ == INT8) {
            scale_[n] = scale_of(row, padded(inputs_));
            inverse = scale_[n] > 0 ? 1.0f / scale_[n] : 0.0f;
        }
        for (long k = 0; k < inputs_; ++k) {
            char* to = reinterpret_cast<char*>(words_.get() + word(n, k / group_));
            if (precision_ == FP32) {
                std::memcpy(to, row + k, 4);
            } else if (precision_ == BF16) {
                reinterpret_cast<uint16_t*>(to)[k % 2] = to_bf16(row[k]);
            } else {
                const int q = rounded(spread(row[k]), inverse)[0];
                total += q;
                if (group_ == 4) reinterpret_cast<int8_t*>(to)[k % 4] = static_cast<int8_t>(q);
                else if (group_ == 2) reinterpret_cast<int16_t*>(to)[k % 2] = static_cast<int16_t>(q);
                else *reinterpret_cast<int32_t*>(to) = q;
            }
        }
        if (precision_ == INT8 && group_ == 4) surplus_[n] = 128 * total;
    }

    Precision precision_;
    long outputs_, inputs_, group_, groups_, width_;
    Block<int32_t> words_;
    Block<float> bias_, scale_;
    Block<int32_t> surplus_;
};

}  // namespace headway
