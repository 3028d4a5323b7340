// Does the GPU's AdamW give the bits of the processor's?
#include <random>

#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/device_matrix.h"
#include "tests/engine/optimizer/test_parameters.h"

using namespace sluice;
using sluice::test::Parameters;

namespace {

/// A copy of parameters and states on the GPU.
class OnDevice {
  public:
    explicit OnDevice(const Parameters& p)
        : high_(p.high),
          low_(p.low),
          first_(p.first),
          second_(p.second),
          first_scale_(p.first_scale),
          second_scale_(p.second_scale),
          count_(static_cast<std::int64_t>(p.count)),
          state_bytes_(p.state_bytes) {}

    ParameterBlock block() const {
        return {high_.data(),        low_.data(),          first_.data(), second_.data(),
                first_scale_.data(), second_scale_.data(), count_,        state_bytes_};
    }
    void read_into(Parameters& p) const {
        p.high = high_.read();
        p.low = low_.read();
        p.first = first_.read();
        p.second = second_.read();
        p.first_scale = first_scale_.read();
        p.second_scale = second_scale_.read();
    }

  private:
    DeviceArray<std::uint16_t> high_;
    DeviceArray<std::uint8_t> low_, first_, second_;
    DeviceArray<float> first_scale_, second_scale_;
    std::int64_t count_;
    int state_bytes_;
};

/// More than two segments of random bits, and an end within a block of 8-bit moments.
constexpr std::size_t kCount = (std::size_t{2} << 20) + 1024 + 8;

std::vector<DecayRange> ranges_for(int state_bytes) {
    constexpr auto kEnd = static_cast<std::int64_t>(kCount);
    if (state_precision(state_bytes).has_scales())
        return {{0, 128, false}, {128, 1280, true}, {1280, kEnd, false}};
    return {{0, 8, false}, {8, 1048, true}, {1048, 1'500'000, false}, {1'500'000, kEnd, true}};
}

/// Some too small to move a moment, some zero.
std::vector<std::uint16_t> gradients(unsigned seed) {
    const std::vector<float> values = test::normal_values(kCount, 1e-3F, seed);
    std::vector<std::uint16_t> out;
    for (std::size_t i = 0; i < kCount; ++i)
        out.push_back(test::to_bf16(i % 97 == 0 ? 0 : i % 89 == 0 ? 1e-20F : values[i]));
    return out;
}

}  // namespace

TEST_CASE("cuda adamw: the bits of the processor's, in all passes and states", "[cuda_kernels]") {
    if (!has_gpu()) return;
    ThreadPool pool(2);
    for (const int state_bytes : {12, 8, 6, 5, 4}) {
        Parameters expected(test::normal_values(kCount, 0.1F, 1), state_bytes);
        const OnDevice device(expected);
        const DeviceArray<StepSums> sums({StepSums{1, 1}});
        const std::vector<DecayRange> ranges = ranges_for(state_bytes);
        AdamWStep step;
        step.seed = 5;
        for (step.step = 1; step.step <= 3; ++step.step) {
            const std::vector<std::uint16_t> gradient = gradients(static_cast<unsigned>(step.step));
            const DeviceArray<std::uint16_t> there(gradient);
            const std::vector<float> sum =
                test::normal_values(kCount, 1e-3F, static_cast<unsigned>(10 + step.step));
            const DeviceArray<float> sum_there(sum);
            for (const UpdatePass pass :
                 {UpdatePass::update, UpdatePass::rewind, UpdatePass::redo}) {
                CAPTURE(state_bytes, step.step, static_cast<int>(pass));
                step.speculated_scale = 1;
                step.gradient_scale = pass == UpdatePass::redo ? 0.37F : 1;
                const bool rewinds = pass == UpdatePass::rewind;
                // bf16, with fp32, fp32 alone.
                const bool both = step.step > 1, alone = step.step == 3;
                GradientRange host, on_device;
                if (!rewinds && !alone) host.bf16 = gradient.data(), on_device.bf16 = there.data();
                if (!rewinds && both) host.fp32 = sum.data(), on_device.fp32 = sum_there.data();
                adamw(pool, pass, step, expected.block(), ranges, host);
                gpu().kernels().adamw({pass, step, device.block(), ranges, on_device, sums.data()});
                Parameters result = expected;
                device.read_into(result);
                CHECK((result == expected));
            }
        }
    }
}

TEST_CASE("cuda adamw: sums that are not finite stop it", "[cuda_kernels]") {
    if (!has_gpu()) return;
    const Parameters before(test::normal_values(1024, 0.1F, 1), 12);
    const OnDevice device(before);
    const DeviceArray<std::uint16_t> gradient(std::vector<std::uint16_t>(1024, 0x3f80));
    const std::vector<DecayRange> all = {{0, 1024, true}};
    for (const StepSums stopped : {StepSums{std::nan(""), 1}, StepSums{1, 2e38}}) {
        const DeviceArray<StepSums> sums({stopped});
        gpu().kernels().adamw(
            {UpdatePass::update, {}, device.block(), all, {.bf16 = gradient.data()}, sums.data()});
        Parameters after = before;
        device.read_into(after);
        CHECK((after == before));
    }
}
