// Rates of attention that no profile has a curve of, against the published figures.
#include "sim/specs/machine/attention_kernels.h"

#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/machine/machine_profile.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

Kernel attention_of(AttentionKernel attention, std::int64_t tokens, bool backward) {
    const AttentionSize size{1, tokens, 32, 8, 128, 128};
    Kernel kernel = backward ? attention_backward(size) : attention_forward(size);
    kernel.attention = attention;
    return kernel;
}

}  // namespace

TEST_CASE("attention: FlashAttention-3 over 2 as in its paper", "[machine]") {
    CHECK(over_flash2(attention_of(AttentionKernel::flash3, 4096, false)) == Approx(579.0 / 319));
    CHECK(over_flash2(attention_of(AttentionKernel::flash3, 2048, true)) == Approx(501.0 / 291));
    // Longer sequences than published keep the last ratio.
    CHECK(over_flash2(attention_of(AttentionKernel::flash3, 262144, false)) == Approx(616.0 / 335));
    for (const AttentionKernel known :
         {AttentionKernel::own, AttentionKernel::flash2, AttentionKernel::cudnn})
        CHECK(over_flash2(attention_of(known, 4096, false)) == 1);
}

TEST_CASE("attention: FlashAttention-4 on a B200 is 1.9 times version 3 on an H200", "[machine]") {
    // Both as shares of the best product: 1745 and 794.5 TFLOPS.
    const Kernel three = attention_of(AttentionKernel::flash3, 8192, false),
                 four = attention_of(AttentionKernel::flash4, 8192, false);
    CHECK(over_flash2(four) * 1745 == Approx(1.9 * over_flash2(three) * 794.5));
}

TEST_CASE("attention: a setting picks the kernel, by default that of the style", "[machine]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h100-sxm-pcie5"));
    const auto seconds = [&](AttentionKernel attention, KernelStyle style) {
        return kernel_time(machine.gpu, attention_of(attention, 4096, false), style) -
               machine.gpu.launch;
    };
    const Seconds flash = seconds(AttentionKernel::own, KernelStyle::plain),
                  cudnn = seconds(AttentionKernel::own, KernelStyle::fused);
    CHECK(flash > cudnn);
    CHECK(seconds(AttentionKernel::flash2, KernelStyle::plain) == flash);
    CHECK(seconds(AttentionKernel::cudnn, KernelStyle::plain) == cudnn);
    CHECK(seconds(AttentionKernel::flash3, KernelStyle::plain) == Approx(flash * 319 / 579));
}
