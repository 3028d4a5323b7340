#include "sim/specs/model/module_experts.h"

#include <algorithm>

#include "sim/specs/model/adapters.h"

namespace sluice {
namespace {

// Bytes of device memory a number: an elementwise kernel of one operand, and of two.
constexpr double kUnary = 2.0 * kBf16, kBinary = 3.0 * kBf16;
// Kernels that are slower than their bytes, as bytes that a copy moves in that time (on an H200,
// experts-h200.txt): one with an operand that is repeated for each row or column; one that takes or
// writes every second number of a row; sums of rows by atomics.
constexpr double kRepeated = 11, kEverySecond = 12, kAtomicSums = 36;

// Activations, a number of the expert's width. Modules: silu(gate) x up. Stacked: biases of gate
// and up; both clamped; (up + 1) x gate x sigmoid(1.702 gate).
constexpr double kModuleForward = kUnary + kBinary;
constexpr std::int64_t kModuleForwardLaunches = 2;
constexpr double kStackedForward = 2 * kRepeated + 2 * kEverySecond + 3 * kUnary + 2 * kBinary;
constexpr std::int64_t kStackedForwardLaunches = 8;
// Backward. Modules: two products of the product, and of silu. Stacked: products (4), of the
// sigmoid, the scale and their sum, clamps (three comparisons and two selections), zeros of both
// with every second number filled in (2 each), their sum, and sums of the biases' gradients.
constexpr double kModuleBackward = 3 * kBinary;
constexpr std::int64_t kModuleBackwardLaunches = 3;
constexpr double kStackedBackward = 4 * kBinary + kBinary + kUnary + kBinary + 3 * kEverySecond +
                                    2 * kRepeated + 2 * (2 * kBf16 + kEverySecond) + 2 * kBinary +
                                    2 * kBf16;
constexpr std::int64_t kStackedBackwardLaunches = 15;

/// One expert and its rows.
class Expert {
  public:
    Expert(KernelList& kernels, const ModuleExperts& experts)
        : kernels_(kernels),
          of_(experts),
          rows_((experts.tokens * experts.spec.experts_per_token + experts.busy - 1) /
                experts.busy),
          stacked_(experts_are_stacked(experts.spec)) {}

    void forward() {
        traffic("tokens of an expert", kUnary, rows_, of_.hidden);
        up_projections([this](std::int64_t n) { linear(n, of_.hidden); });
        if (stacked_) {
            traffic("activation", kStackedForward, rows_, width(), kStackedForwardLaunches);
        } else {
            traffic("activation", kModuleForward, rows_, width(), kModuleForwardLaunches);
        }
        linear(of_.hidden, width());
        if (stacked_) traffic("bias", kRepeated, rows_, of_.hidden);
        // Copied for backward and weighted in place, then added to the tokens' sums.
        traffic("weights of tokens", kUnary + kRepeated, rows_, of_.hidden, 2);
        traffic("sums of tokens", kAtomicSums, rows_, of_.hidden);
    }

    void backward() {
        traffic("gradients of an expert", kUnary, rows_, of_.hidden);
        // Gradients of the rows, and of the weights with their sums.
        traffic("weights of tokens", kRepeated + kBinary + kBf16, rows_, of_.hidden, 3);
        if (stacked_) traffic("bias", kBf16, rows_, of_.hidden);
        linear_backward(of_.hidden, width());
        if (stacked_) {
            traffic("activation", kStackedBackward, rows_, width(), kStackedBackwardLaunches);
        } else {
            traffic("activation", kModuleBackward, rows_, width(), kModuleBackwardLaunches);
        }
        std::int64_t projections = 0;
        up_projections([&](std::int64_t n) {
            linear_backward(n, of_.hidden);
            if (projections++ > 0) traffic("input gradients added", kBinary, rows_, of_.hidden);
        });
        // Whole zeros, the rows added to them (sorted by the token first), and their sum.
        constexpr std::int64_t kIndexPut = 8;
        traffic("gradients of tokens", kBf16 + kBinary, of_.tokens, of_.hidden, 2);
        traffic("gradients of tokens", kBinary, rows_, of_.hidden, kIndexPut);
        if (stacked_) weights_of_all();
    }

  private:
    std::int64_t width() const { return of_.spec.intermediate; }
    void traffic(const char* name, double bytes, std::int64_t rows, std::int64_t columns,
                 std::int64_t launches = 1) {
        kernels_.push_back(memory_bound(
            name, bytes * static_cast<double>(rows) * static_cast<double>(columns), launches));
    }
    /// Gate and up in one product where they are stacked.
    template <typename Use>
    void up_projections(Use use) {
        const std::int64_t projections = of_.spec.projections();
        if (stacked_) return use(projections * width());
        for (std::int64_t i = 0; i < projections; ++i) use(width());
    }
    /// Gate and up count as one: a linear layer that either is.
    AdapterTargets targets(std::int64_t n) const { return n == of_.hidden ? kDown : kGateUp; }
    AdaptedLinear adapted(std::int64_t n, std::int64_t k) const { return {rows_, n, k}; }
    void linear(std::int64_t n, std::int64_t k) {
        kernels_.push_back(gemm("expert", GemmRole::forward, rows_, n, k));
        if (of_.adapters.has(targets(n)) && !stacked_)
            append_adapter_forward(kernels_, adapted(n, k), of_.adapters, KernelStyle::modules);
    }
    void linear_backward(std::int64_t n, std::int64_t k) {
        kernels_.push_back(gemm("input gradient", GemmRole::input_gradient, rows_, k, n));
        if (!of_.adapters.present()) {
            kernels_.push_back(gemm("weight gradient", GemmRole::weight_gradient, n, k, rows_));
        } else if (!stacked_ && of_.adapters.has(targets(n))) {
            append_adapter_backward(kernels_, adapted(n, k), of_.adapters, KernelStyle::modules);
        }
    }
    /// The gradient of one expert's weights as zeros of all experts', added to the sum.
    void weights_of_all() {
        if (of_.adapters.present()) return;
        const std::int64_t numbers = (of_.spec.projections() + 1) * width();
        constexpr std::int64_t kTensors = 4, kKernels = 3;
        traffic("gradients of all experts", kBf16 + kBinary, of_.spec.experts * numbers, of_.hidden,
                kTensors * kKernels);
    }

    KernelList& kernels_;
    const ModuleExperts& of_;
    std::int64_t rows_;
    bool stacked_;
};

// Router: product, softmax, the best experts, sorted, counted and copied to the host.
constexpr std::int64_t kRouterLaunches = 14, kRouterBackwardLaunches = 8;

double router_bytes(const ModuleExperts& experts) {
    return 4.0 * kFp32 * static_cast<double>(experts.tokens * experts.spec.experts);
}

}  // namespace

bool experts_are_stacked(const FeedForwardSpec& feed_forward) { return feed_forward.bias; }

void append_experts_forward(KernelList& kernels, const ModuleExperts& experts) {
    const FeedForwardSpec& spec = experts.spec;
    kernels.push_back(
        gemm("router", GemmRole::forward, experts.tokens, spec.experts, experts.hidden));
    kernels.push_back(memory_bound("router", router_bytes(experts), kRouterLaunches));
    Expert expert(kernels, experts);
    for (std::int64_t i = 0; i < experts.busy; ++i) expert.forward();
}

void append_experts_backward(KernelList& kernels, const ModuleExperts& experts) {
    const FeedForwardSpec& spec = experts.spec;
    Expert expert(kernels, experts);
    for (std::int64_t i = 0; i < experts.busy; ++i) expert.backward();
    kernels.push_back(memory_bound("router", router_bytes(experts), kRouterBackwardLaunches));
    kernels.push_back(gemm("input gradient", GemmRole::input_gradient, experts.tokens,
                           experts.hidden, spec.experts));
    kernels.push_back(gemm("weight gradient", GemmRole::weight_gradient, spec.experts,
                           experts.hidden, experts.tokens));
}

}  // namespace sluice
