#include "sim/specs/machine/attention_kernels.h"

#include <array>

#include "sim/specs/machine/curves.h"

namespace sluice {
namespace {

/// TFLOPS of both on one H100 SXM at 512 to 16384 tokens, head_dim 128, causal forward.
struct Published {
    const char* source;
    std::array<double, 6> forward, flash2_forward, backward, flash2_backward;
    double of_matrix_rate = 1;  ///< a further factor, on the GPU that it is for
};
constexpr std::array<double, 6> kTokens = {512, 1024, 2048, 4096, 8192, 16384};
constexpr Published kFlash3 = {"FlashAttention-3, arXiv 2407.08608, figures 5 and 6",
                               {292, 423, 521, 579, 602, 616},
                               {191, 260, 298, 319, 333, 335},
                               {316, 424, 501, 542, 559, 561},
                               {214, 260, 291, 310, 318, 322}};
/// 1.88 (8k tokens) to 1.95 (32k) times FlashAttention-3's rate, forward and backward, on a B200
/// whose best product is 1745 of an H200's 794.5 TFLOPS.
constexpr Published kFlash4 = {
    "github:stas00/ml-engineering insights/when-to-upgrade-gpus, bench_flash_attn.py",
    kFlash3.forward,
    kFlash3.flash2_forward,
    kFlash3.backward,
    kFlash3.flash2_backward,
    1.9 / (1745 / 794.5)};

double ratio(const Published& one, const Kernel& kernel) {
    const bool forward = kernel.kind == KernelKind::attention_forward;
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < kTokens.size(); ++i)
        points.emplace_back(kTokens[i], forward ? one.forward[i] / one.flash2_forward[i]
                                                : one.backward[i] / one.flash2_backward[i]);
    return one.of_matrix_rate *
           Interpolated(std::move(points)).at(static_cast<double>(kernel.sequence));
}

}  // namespace

double over_flash2(const Kernel& kernel) {
    switch (kernel.attention) {
        case AttentionKernel::flash3:
            return ratio(kFlash3, kernel);
        case AttentionKernel::flash4:
            return ratio(kFlash4, kernel);
        case AttentionKernel::own:
        case AttentionKernel::flash2:
        case AttentionKernel::cudnn:
            break;
    }
    return 1;
}

}  // namespace sluice
