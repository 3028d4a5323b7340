// How far is each operation from the GPU's floor, at the shapes of a 7B model (Qwen2.5-7B, 32768
// tokens)? Median of runs on random data, timed by events; no test asserts it.
//   ./dev run sluice_cuda_kernels_bench [part of an operation's name]
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "bench/cuda_kernels/expert_case.h"
#include "tests/engine/cuda_kernels/attention_case.h"
#include "tests/engine/cuda_kernels/elementwise_case.h"
#include "tests/engine/cuda_kernels/gemm_case.h"
#include "tests/engine/cuda_kernels/heads_case.h"
#include "tests/engine/cuda_kernels/rms_norm_case.h"
#include "tests/engine/cuda_kernels/sums_case.h"

namespace {

using namespace sluice;

// H200: the best copy within its memory and the best large bf16 product that were measured.
constexpr double kBytesPerSecond = 4.26e12;
constexpr double kFlopsPerSecond = 680e12;

constexpr std::int64_t kTokens = 32768, kHidden = 3584, kIntermediate = 18944, kQkv = 4608;
constexpr std::int64_t kVocabulary = 152064, kLogitRows = 4096;
constexpr Transpose kNo = Transpose::no, kYes = Transpose::yes;
using Added = GemmCase::Added;

struct Event {
    cudaEvent_t handle = nullptr;
    Event() { SLUICE_CHECK_CUDA(cudaEventCreate(&handle)); }
    ~Event() { cudaEventDestroy(handle); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
};

/// Median milliseconds of a run: 15 of them, after 3 that are not counted.
template <typename Case>
double median_ms(Case& timed) {
    constexpr int kWarmUp = 3, kRuns = 15;
    const Event begin, end;
    std::vector<float> runs;
    for (int run = 0; run < kWarmUp + kRuns; ++run) {
        SLUICE_CHECK_CUDA(cudaEventRecord(begin.handle, gpu().stream()));
        timed.run(gpu().kernels());
        SLUICE_CHECK_CUDA(cudaEventRecord(end.handle, gpu().stream()));
        SLUICE_CHECK_CUDA(cudaEventSynchronize(end.handle));
        float ms = 0;
        SLUICE_CHECK_CUDA(cudaEventElapsedTime(&ms, begin.handle, end.handle));
        if (run >= kWarmUp) runs.push_back(ms);
    }
    std::nth_element(runs.begin(), runs.begin() + kRuns / 2, runs.end());
    return static_cast<double>(runs[kRuns / 2]);
}

class Bench {
  public:
    explicit Bench(std::string_view wanted) : wanted_(wanted) {
        fmt::print("{:<20} {:>9} {:>9} {:>8} {:>9} {:>9}  {}\n", "operation", "ms", "floor ms",
                   "of floor", "GB/s", "TFLOP/s", "shape");
    }
    template <typename Case>
    void row(const typename Case::Shape& shape) const {
        if (std::string_view(Case::kName).find(wanted_) == std::string_view::npos) return;
        Case timed(shape);
        const double ms = median_ms(timed);
        const double floor_ms =
            1000 * std::max(timed.bytes() / kBytesPerSecond, timed.flops() / kFlopsPerSecond);
        fmt::print("{:<20} {:>9.3f} {:>9.3f} {:>7.1f}% {:>9.0f} {:>9.1f}  {}\n", Case::kName, ms,
                   floor_ms, 100 * floor_ms / ms, timed.bytes() / ms / 1e6,
                   timed.flops() / ms / 1e9, shape.text());
    }

  private:
    std::string_view wanted_;
};

void bench_gemm(const Bench& bench) {
    const GemmCase::Shape shapes[] = {
        {kTokens, kQkv, kHidden, kNo, kYes, DType::bf16, Added::nothing, true},
        {kTokens, kHidden, kHidden, kNo, kYes, DType::bf16, Added::addend},
        {kTokens, 2 * kIntermediate, kHidden, kNo, kYes},
        {kTokens, kHidden, kIntermediate, kNo, kYes, DType::bf16, Added::addend},
        {kLogitRows, kVocabulary, kHidden, kNo, kYes},
        {kTokens, kHidden, 2 * kIntermediate, kNo, kNo},
        {kTokens, kIntermediate, kHidden, kNo, kNo},
        {kTokens, kHidden, kQkv, kNo, kNo},
        {2 * kIntermediate, kHidden, kTokens, kYes, kNo},
        {2 * kIntermediate, kHidden, kTokens, kYes, kNo, DType::fp32, Added::sum},
        {kHidden, kIntermediate, kTokens, kYes, kNo},
        {kQkv, kHidden, kTokens, kYes, kNo},
        {kVocabulary, kHidden, kLogitRows, kYes, kNo, DType::fp32, Added::sum},
    };
    for (const GemmCase::Shape& shape : shapes) bench.row<GemmCase>(shape);
}

void bench_rows(const Bench& bench) {
    bench.row<RmsNormCase>({kTokens, kHidden});
    bench.row<RmsNormCase>({kTokens, 8192});
    bench.row<RmsNormBackwardCase>({kTokens, kHidden, true});
    bench.row<RmsNormBackwardCase>({kTokens, 8192, true});
    bench.row<SwigluCase>({kTokens, kIntermediate});
    bench.row<SwigluBackwardCase>({kTokens, kIntermediate});
    bench.row<CrossEntropyCase>({kLogitRows, kVocabulary, 1.0F / kLogitRows});
    bench.row<CrossEntropyCase>({kLogitRows, 32000, 1.0F / kLogitRows});
    bench.row<BiasBackwardCase>({kTokens, kQkv});
    bench.row<SumSquaresCase>({233'000'000});
    bench.row<SumSquaresCase>({1'090'000'000});
    bench.row<RoundCase>({233'000'000});
}

void bench_heads(const Bench& bench) {
    const AttentionShape qwen25{4, kTokens / 4, 28, 4, 128}, qwen3{4, kTokens / 4, 32, 8, 128};
    bench.row<RotaryCase>({qwen25, {1e6}});
    bench.row<HeadNormCase>({qwen3});
    bench.row<HeadNormBackwardCase>({qwen3});
    for (const std::int64_t sequence : {std::int64_t{1024}, std::int64_t{8192}, kTokens}) {
        AttentionShape shape = qwen25;
        shape.sequence = sequence;
        shape.sequences = kTokens / sequence;
        bench.row<AttentionCase>({shape});
        bench.row<AttentionBackwardCase>({shape});
    }
    AttentionShape windowed = qwen25;
    windowed.window = 1024;
    bench.row<AttentionCase>({windowed});
    bench.row<AttentionBackwardCase>({windowed});
}

/// qwen3-30b-a3b.
void bench_experts(const Bench& bench) {
    using Work = ExpertCase::Work;
    for (const std::int64_t tokens : {std::int64_t{8192}, kTokens})
        for (const auto& [work, name] : {std::pair{Work::route, "route"},
                                         {Work::route_backward, "route backward"},
                                         {Work::copies, "copies"},
                                         {Work::sum, "sum"},
                                         {Work::swiglu, "swiglu"},
                                         {Work::swiglu_backward, "swiglu backward"},
                                         {Work::gate_up, "gate and up"},
                                         {Work::gate_up_input, "their input's gradient"},
                                         {Work::gate_up_weights, "their weights' gradient"},
                                         {Work::down, "down"},
                                         {Work::down_input, "its input's gradient"},
                                         {Work::down_weights, "its weights' gradient"}})
            bench.row<ExpertCase>({work, name, tokens, 2048, 128, 8, 768});
}

}  // namespace

int main(int argc, char** argv) {
    const std::string reason = no_gpu_reason();
    if (!reason.empty()) {
        fmt::print(stderr, "sluice_cuda_kernels_bench: {}; run it on a machine with a GPU\n",
                   reason);
        return 2;
    }
    const Bench bench(argc > 1 ? argv[1] : "");
    bench_gemm(bench);
    bench_rows(bench);
    bench_heads(bench);
    bench_experts(bench);
    return 0;
}
