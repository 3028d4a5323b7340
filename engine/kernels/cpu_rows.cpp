#include <ATen/ATen.h>

#include <algorithm>

#include "engine/kernels/cpu_tensors.h"

namespace sluice::cpu {

using at::Tensor;

namespace {

/// 1 / sqrt(mean(x^2) + epsilon) over the last dimension, which stays as 1.
Tensor inverse_rms(const Tensor& x, float epsilon) {
    return x.square().mean(-1, true).add_(epsilon).rsqrt_();
}

}  // namespace

Tensor norm(const Tensor& x, const Tensor& weight, float epsilon) {
    return (x * inverse_rms(x, epsilon)).mul_(weight);
}

// With n = x / rms and g = dy weight: dx = (g - n mean(g n)) / rms, dweight = sum of dy n.
NormGradients norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                            float epsilon) {
    const Tensor inverse = inverse_rms(x, epsilon);
    const Tensor normed = x * inverse;
    const Tensor dweight = (dy * normed).reshape({-1, x.size(-1)}).sum(0);
    const Tensor g = dy * weight;
    const Tensor mean = (g * normed).mean(-1, true);
    return {(g - normed.mul(mean)).mul_(inverse), dweight};
}

void rotate(const Tensor& heads, const Tensor& cosine, const Tensor& sine) {
    const std::int64_t pairs = heads.size(-1) / 2;
    const Tensor low = heads.narrow(-1, 0, pairs), high = heads.narrow(-1, pairs, pairs);
    const Tensor x = fp32(low), y = fp32(high);
    const Tensor rotated_low = x * cosine - y * sine;
    store(high, y * cosine + x * sine);
    store(low, rotated_low);
}

void swiglu_backward(const Tensor& gate_up, const Tensor& gradient, const Tensor& dproduct) {
    const std::int64_t width = dproduct.size(1);
    const Tensor g = gate_up.narrow(1, 0, width), up = gate_up.narrow(1, width, width);
    const Tensor dy = fp32(dproduct);
    const Tensor sigmoid = g.sigmoid(), silu = g * sigmoid;
    // silu'(g) = sigmoid (1 + g (1 - sigmoid)).
    const Tensor slope = (g - silu).add_(1).mul_(sigmoid);
    const Tensor dgate = slope.mul_(dy).mul_(up);
    const Tensor product = at::silu(g) * up;  // to the bit as forward computes it
    store(gradient.narrow(1, width, width), silu * dy);
    store(gradient.narrow(1, 0, width), dgate);
    store(dproduct, product);
}

void write_eight_bits(const EightBits& codes, const Matrix& gate_up) {
    const Tensor values = fp32(view(gate_up)).contiguous();
    const auto* number = values.data_ptr<float>();
    std::int8_t* code = codes.codes;
    std::uint16_t* largest = codes.largest;
    for (std::int64_t half = 0; half < 2 * gate_up.rows; ++half) {
        for (std::int64_t begin = 0; begin < codes.width; begin += kEightBitGroup) {
            const std::int64_t count = std::min(kEightBitGroup, codes.width - begin);
            // Bits of |numbers| are ordered as these, infinity above all and NaN above it.
            std::uint16_t most = 0;
            for (std::int64_t i = 0; i < count; ++i)
                most = std::max<std::uint16_t>(most, c10::BFloat16(number[i]).x & 0x7fffU);
            const float factor = eight_bit_factor(most);
            for (std::int64_t i = 0; i < count; ++i) *code++ = to_eight_bits(*number++, factor);
            *largest++ = most;
        }
    }
}

Tensor read_eight_bits(const EightBits& codes, std::int64_t rows) {
    const Tensor values = at::empty({rows, 2 * codes.width}, at::kFloat);
    auto* number = values.data_ptr<float>();
    const std::int8_t* code = codes.codes;
    const std::uint16_t* largest = codes.largest;
    for (std::int64_t half = 0; half < 2 * rows; ++half) {
        for (std::int64_t begin = 0; begin < codes.width; begin += kEightBitGroup) {
            const std::int64_t count = std::min(kEightBitGroup, codes.width - begin);
            const float unit = eight_bit_unit(*largest++);
            for (std::int64_t i = 0; i < count; ++i) *number++ = static_cast<float>(*code++) * unit;
        }
    }
    return values;
}

double sum_rows(float* sums, const Matrix& gradients, const TokenRows& rows,
                const std::uint16_t* head_gradient) {
    double square = 0;
    for (const RowTokens* row = rows.rows; row < rows.rows + rows.count; ++row) {
        const std::int64_t first = row->row * gradients.columns;
        for (std::int64_t begin = 0; begin < gradients.columns; begin += kRowPiece)
            square += sum_row(sums + first, *row, rows.order, begin,
                              std::min(gradients.columns, begin + kRowPiece), gradients,
                              head_gradient == nullptr ? nullptr : head_gradient + first);
    }
    return square;
}

double cross_entropy(const Matrix& logits, const std::int32_t* targets, float scale) {
    const auto last = std::max_element(targets, targets + logits.rows);
    if (*last >= logits.columns)
        throw InternalError(
            fmt::format("cross_entropy: target {} of {} logits", *last, logits.columns));
    const Tensor target =
        at::from_blob(const_cast<std::int32_t*>(targets), {logits.rows, 1}, at::kInt).to(at::kLong);
    const Tensor ignored = target < 0, index = target.clamp_min(0);
    const Tensor x = fp32(view(logits)), largest = x.amax(1, true);
    const Tensor weights = (x - largest).exp_(), sum = weights.sum(1, true);
    const Tensor losses = (sum.log() + largest - x.gather(1, index)).masked_fill_(ignored, 0);
    const Tensor gradient = weights.div_(sum);
    gradient.scatter_add_(1, index, at::full(index.sizes(), -1, at::kFloat));
    store(view(logits), gradient.mul_(scale).masked_fill_(ignored, 0));
    return losses.sum(at::kDouble).item<double>();
}

}  // namespace sluice::cpu
