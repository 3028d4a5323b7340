#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "sim/base/units.h"
#include "tests/engine/cpu_kernels/float64_reference.h"

using namespace sluice;

namespace {

/// Counts what libtorch holds at once while it stands.
class CountedMemory final : public c10::Allocator {
  public:
    CountedMemory() : before_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this); }
    ~CountedMemory() override { c10::SetCPUAllocator(before_); }

    c10::DataPtr allocate(std::size_t bytes) override {
        count(static_cast<Bytes>(bytes));
        auto* const block = new Block{before_->allocate(bytes), static_cast<Bytes>(bytes), this};
        return {block->memory.get(), block, &release, c10::Device(c10::DeviceType::CPU)};
    }
    void copy_data(void* to, const void* from, std::size_t bytes) const override {
        std::memcpy(to, from, bytes);
    }
    Bytes most() const { return most_; }

  private:
    struct Block {
        c10::DataPtr memory;
        Bytes bytes;
        CountedMemory* owner;
    };
    static void release(void* block) {
        const std::unique_ptr<Block> owned(static_cast<Block*>(block));
        owned->owner->count(-owned->bytes);
    }
    void count(Bytes change) {
        const std::lock_guard lock(mutex_);
        held_ += change;
        most_ = std::max(most_, held_);
    }

    c10::Allocator* before_;
    std::mutex mutex_;
    Bytes held_ = 0, most_ = 0;
};

/// Most that libtorch held beside the matrices of a call.
template <typename Function>
Bytes temporaries_of(Function call) {
    CountedMemory memory;
    call();
    return memory.most();
}

// Attention keeps most: four times the scores of a block, 1 MiB a thread.
constexpr Bytes kMost = 12 * kMiB;

}  // namespace

TEST_CASE("cpu kernels: temporaries stay small however large the matrices are", "[cpu_kernels]") {
    at::manual_seed(30);
    constexpr std::int64_t kRows = 700, kWidth = 2048;  // 6 MB in fp32
    const TestMatrix weights = TestMatrix::random(DType::bf16, kWidth, kWidth);
    const TestMatrix norm = TestMatrix::random(DType::bf16, 1, kWidth),
                     dnorm(DType::bf16, 1, kWidth);
    for (const DType type : kActivationTypes) {
        CAPTURE(type);
        const TestMatrix x = TestMatrix::random(type, kRows, kWidth), y(type, kRows, kWidth);
        const TestMatrix gate_up = TestMatrix::random(type, kRows, 2 * kWidth);
        const TestMatrix gradient(DType::bf16, kWidth, kWidth);
        CHECK(temporaries_of([&] {
                  kernels().gemm({.d = y.matrix(),
                                  .a = x.matrix(),
                                  .b = weights.matrix(),
                                  .transpose_b = Transpose::yes});
              }) <= kMost);
        CHECK(temporaries_of([&] {
                  kernels().gemm({.d = gradient.matrix(),
                                  .a = y.matrix(),
                                  .b = x.matrix(),
                                  .transpose_a = Transpose::yes});
              }) <= kMost);
        CHECK(temporaries_of([&] {
                  kernels().rms_norm(y.matrix(), x.matrix(), norm.vector(), kEpsilon);
                  kernels().rms_norm_backward(y.matrix(), true, y.matrix(), x.matrix(),
                                              norm.vector(), kEpsilon, dnorm.vector(), false);
              }) <= kMost);
        CHECK(temporaries_of([&] {
                  kernels().swiglu(y.matrix(), gate_up.matrix());
                  kernels().swiglu_backward(gate_up.matrix(), y.matrix());
                  kernels().bias_backward(dnorm.vector(), y.matrix(), false);
              }) <= kMost);
        const std::vector<std::int32_t> targets(kRows, 1);
        double loss = 0;
        CHECK(temporaries_of(
                  [&] { kernels().cross_entropy(x.matrix(), targets.data(), 1, &loss); }) <= kMost);
    }
}

TEST_CASE("cpu kernels: attention's temporaries do not grow with sequences and heads",
          "[cpu_kernels]") {
    at::manual_seed(31);
    const AttentionShape shape{1, 512, 64, 32, 16, 0};
    for (const DType type : kActivationTypes) {
        CAPTURE(type);
        const TestMatrix qkv = TestMatrix::random(type, shape.tokens(), shape.qkv_width()),
                         dqkv(type, shape.tokens(), shape.qkv_width());
        const TestMatrix out(type, shape.tokens(), shape.query_width());
        const TestMatrix unnormed(type, shape.tokens(), shape.query_width() + shape.key_width());
        const TestMatrix statistics(DType::fp32, 1, shape.heads * shape.tokens());
        const TestMatrix weight = TestMatrix::random(DType::bf16, 1, shape.head_dim),
                         dweight(DType::bf16, 1, shape.head_dim);
        auto* const log_sum_exp = static_cast<float*>(statistics.vector().data);
        CHECK(temporaries_of([&] {
                  kernels().head_norm(shape, qkv.matrix(), weight.vector(), weight.vector(),
                                      kEpsilon, unnormed.matrix());
                  kernels().rotary(shape, {}, qkv.matrix(), false);
                  kernels().attention(shape, qkv.matrix(), out.matrix(), log_sum_exp);
                  kernels().attention_backward(shape, qkv.matrix(), out.matrix(), log_sum_exp,
                                               out.matrix(), dqkv.matrix(), nullptr);
                  kernels().head_norm_backward(shape, dqkv.matrix(), unnormed.matrix(),
                                               weight.vector(), weight.vector(), kEpsilon,
                                               dweight.vector(), dweight.vector(), false);
              }) <= kMost);
    }
}
