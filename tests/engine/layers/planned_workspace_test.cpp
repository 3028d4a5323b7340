// Does every pass find room in the memory that the plan gives it, for models of full size? Kernels
// that compute nothing, on addresses without memory behind them.
#include <sys/mman.h>

#include <algorithm>

#include "engine/kernels/attention_batch.h"
#include "engine/layers/head_loss.h"
#include "engine/layers/transformer_layer.h"
#include "sim/plan/schedules/streamed_kernels.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/engine/layers/planned_memory.h"

using namespace sluice;

namespace {

class NoKernels final : public Kernels {
  public:
    std::vector<Fp8Cast> casts;

    void gemm(const Product&) override {}
    void rms_norm(Matrix, Matrix, Vector, float, Fp8Scale*) override {}
    void rms_norm_backward(Matrix, bool, Matrix, Matrix, Vector, float, Vector, bool) override {}
    void head_norm(const AttentionShape&, Matrix, Vector, Vector, float, Matrix) override {}
    void head_norm_backward(const AttentionShape&, Matrix, Matrix, Vector, Vector, float, Vector,
                            Vector, bool) override {}
    void rotary(const AttentionShape&, const RotaryShape&, Matrix, bool) override {}
    void attention(const AttentionShape&, Matrix, Matrix, float*, Documents) override {}
    void attention_backward(const AttentionShape&, Matrix, Matrix, const float*, Matrix, Matrix,
                            void*, Documents) override {}
    std::int64_t attention_workspace_bytes(const AttentionShape& shape,
                                           Documents documents) override {
        return sluice::attention_workspace_bytes(batch_of(shape, documents));
    }
    void swiglu(Matrix, Matrix, Fp8Scale*, EightBits) override {}
    void swiglu_backward(Matrix, Matrix, EightBits, Fp8Scale*) override {}
    void swiglu_backward_fp8(Matrix, Matrix, const SwigluCodes&, EightBits) override {}
    void route(const ExpertRoutes&, Matrix, RouteWeights, double*) override {}
    void route_backward(Matrix, Matrix, const ExpertRoutes&, const float*, RouteWeights) override {}
    void copy_to_experts(Matrix, Matrix, const ExpertRoutes&) override {}
    void sum_of_experts(Matrix, Matrix, Matrix, const ExpertRoutes&) override {}
    void expert_products(const ExpertProducts&, const ExpertRoutes&) override {}
    void expert_swiglu(Matrix, Matrix, const ExpertRoutes&, EightBits) override {}
    void expert_swiglu_backward(Matrix, Matrix, const ExpertRoutes&, float*, EightBits) override {}
    void bias_backward(Vector, Matrix, bool) override {}
    void cross_entropy(Matrix, const std::int32_t*, float, double*) override {}
    void gather_rows(Matrix, const std::uint16_t*, const std::int32_t*) override {}
    void sum_rows(float*, Matrix, const TokenRows&, const std::uint16_t*, double*) override {}
    void sum_squares(Vector, double*) override {}
    void round_to_bf16(Vector, Vector) override {}
    void adamw(const BlockUpdate&) override {}
    void cast_fp8(const Fp8Cast& cast) override { casts.push_back(cast); }
    void transpose_codes(Matrix, Matrix) override {}
    void decode_nf4(Matrix, const Nf4Tensor&) override {}
    void dropout(Matrix, Matrix, const Dropout&) override {}
    void fill_zero(void*, std::int64_t) override {}
};

/// Addresses that may be counted with but not followed.
class Addresses {
  public:
    Addresses() {
        base_ =
            mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        REQUIRE(base_ != MAP_FAILED);
    }
    ~Addresses() { munmap(base_, kBytes); }
    Addresses(const Addresses&) = delete;
    Addresses& operator=(const Addresses&) = delete;
    void* base() const { return base_; }

  private:
    static constexpr std::size_t kBytes = std::size_t{1} << 40;
    void* base_ = nullptr;
};

void check_layer(const ModelSpec& model, const TrainingSpec& training, void* at) {
    const StreamedPlan plan = plan_streamed(model, MachineSpec{}, training);
    const TransformerLayer layer(model, model.kinds.front(), training.micro_batch_block(),
                                 DType::bf16);
    const auto room = [&](BufferId id, std::int64_t parts = 1) {
        return Workspace(at, planned_bytes(plan, id, DType::bf16) / parts + kRoomForParts);
    };
    NoKernels kernels;
    const Matrix x(at, DType::bf16, training.micro_batch_block().tokens(), model.hidden);
    Workspace keep = room(plan.buffers.kept.front(), training.micro_batches());
    LayerActivations kept = layer.keep(training.recompute, keep, training.kept_bits);
    if (training.within_documents()) kept.documents.count = x.rows;
    const BufferId fp8 = plan.buffers.fp8_operands;
    REQUIRE((fp8 != kNoBuffer) == training.computes_in_fp8());
    const auto operands_if = [&](Compute compute) {
        return compute == Compute::fp8 ? room(fp8) : Workspace{};
    };
    const Workspace operands = operands_if(training.compute);
    const bool in_fp8 = training.compute == Compute::fp8;
    const LayerWeights weights =
        training.frozen_weights == Form::nf4
            ? LayerWeights(at, Form::nf4, room(plan.buffers.decoded_weights))
        : training.streams_codes()
            ? LayerWeights(at, Form::e4m3)
            : LayerWeights(at, Form::bf16,
                           in_fp8 ? room(plan.buffers.fp8_weights.front()) : Workspace{},
                           training.weight_code_layers > 0, true);
    CHECK_NOTHROW(layer.forward(kernels, weights, x, x, kept, room(plan.buffers.forward_workspace),
                                operands));
    if (training.saves_half())
        CHECK_NOTHROW(layer.forward_again(kernels, weights, x, x, kept,
                                          room(plan.buffers.backward_workspace), operands));
    const DType gradients = sums_gradients(training) ? DType::fp32 : DType::bf16;
    CHECK_NOTHROW(layer.backward(kernels, weights, {at, gradients, true}, x, x, kept,
                                 room(plan.buffers.backward_workspace), operands));
    const HeadLoss head(model, training.loss_chunk_tokens);
    double loss = 0;
    const std::vector<std::int32_t> targets(static_cast<std::size_t>(x.rows));
    CHECK_NOTHROW(head.run(kernels, head.weights_in(at), x, targets.data(), 1, &loss,
                           {at, DType::fp32, true}, room(plan.buffers.logits),
                           operands_if(training.head_gradients)));
}

}  // namespace

TEST_CASE("layers: forward, backward and loss fit the bytes of the plan, for models of full size",
          "[layers]") {
    const Addresses addresses;
    TrainingSpec t;
    t.batch = 4;
    for (const char* name : {"qwen2.5-0.5b", "qwen2.5-7b", "qwen2.5-72b", "qwen3-0.6b", "qwen3-8b",
                             "qwen3-32b", "llama-3.1-8b", "llama-3.1-405b", "mistral-7b-v0.1",
                             "qwen3-30b-a3b", "mixtral-8x7b-v0.1"}) {
        const ModelSpec model = read_model(name);
        for (const std::int64_t sequence : {1, 77, 4096}) {
            for (const std::int64_t micro_batch : {1, 4}) {
                for (const std::int64_t chunk : {0, 1, 100, 3000}) {
                    if (chunk == 1 && sequence > 77) continue;  // as many passes as tokens
                    for (const Recompute recompute :
                         {Recompute::full, Recompute::keep_attention, Recompute::none}) {
                        CAPTURE(name, sequence, micro_batch, chunk, static_cast<int>(recompute));
                        t.sequence = sequence;
                        t.micro_batch = micro_batch;
                        t.saved_inputs =
                            micro_batch == t.batch ? SavedInputs::half : SavedInputs::all;
                        t.feed_forward_chunk_tokens = chunk;
                        t.loss_chunk_tokens = chunk == 0 ? 4096 : chunk;
                        t.recompute = recompute;
                        using Of = Compute;
                        for (const auto& [compute, head, code_layers, arrive, frozen] :
                             {std::tuple{Of::bf16, Of::bf16, 0, Of::bf16, Form::bf16},
                              {Of::fp8, Of::bf16, 0, Of::bf16, Form::bf16},
                              {Of::fp8, Of::bf16, 1, Of::bf16, Form::bf16},
                              {Of::fp8, Of::bf16, 0, Of::fp8, Form::bf16},
                              {Of::bf16, Of::fp8, 0, Of::bf16, Form::bf16},
                              {Of::bf16, Of::bf16, 0, Of::bf16, Form::nf4},
                              {Of::fp8, Of::bf16, 0, Of::bf16, Form::nf4}}) {
                            const bool dense = compute == Of::bf16 && frozen == Form::bf16;
                            if (!dense && has_experts(model)) continue;
                            t.frozen_weights = frozen;
                            t.adapter_rank = frozen == Form::bf16 ? 0 : 1;
                            t.stream_weights = arrive;
                            t.compute = compute;
                            t.head_gradients = head;
                            t.weight_code_layers = code_layers;
                            for (const std::int64_t bits : {16, 8}) {
                                t.kept_bits = bits;
                                t.attend_within = AttendWithin::sequence;
                                check_layer(model, t, addresses.base());
                                if (chunk > 0) continue;
                                t.attend_within = AttendWithin::document;
                                check_layer(model, t, addresses.base());
                            }
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("layers: attention in parts finds its room, for long sequences", "[layers]") {
    const Addresses addresses;
    TrainingSpec t;
    t.batch = 1;
    t.feed_forward_chunk_tokens = 16'384;
    for (const char* name : {"qwen2.5-7b", "qwen3-0.6b", "qwen2.5-72b"}) {
        for (const std::int64_t sequence : {131'072, 262'144, 524'288}) {
            for (const Recompute recompute :
                 {Recompute::full, Recompute::keep_attention, Recompute::none}) {
                CAPTURE(name, sequence, static_cast<int>(recompute));
                t.sequence = sequence;
                t.recompute = recompute;
                t.saved_inputs = SavedInputs::half;
                check_layer(read_model(name), t, addresses.base());
            }
        }
    }
}

TEST_CASE("fp8: a feed-forward in chunks looks for the largest numbers of weights once",
          "[layers]") {
    const Addresses addresses;
    const ModelSpec model = read_model("qwen2.5-7b");
    constexpr TokenBlock kWhole = {1, 4096, 0}, kQuarters = {1, 4096, 1024};
    const Workspace memory(addresses.base(), Bytes{1} << 40);
    const auto casts_of = [&](TokenBlock block, bool keeps_codes) {
        NoKernels kernels;
        const Matrix x(addresses.base(), DType::bf16, block.tokens(), model.hidden);
        TransformerLayer(model, model.kinds.front(), block, DType::bf16)
            .forward(kernels, {addresses.base(), Form::bf16, memory, keeps_codes, true}, x, x, {},
                     memory, memory);
        return kernels.casts;
    };
    const auto seeking = [](const std::vector<Kernels::Fp8Cast>& casts) {
        return std::count_if(casts.begin(), casts.end(),
                             [](const Kernels::Fp8Cast& cast) { return !cast.measured; });
    };
    // Four weights and attention's output. Each chunk casts two inputs, and with no codes kept two
    // weights.
    for (const bool keeps_codes : {false, true}) {
        const auto whole = casts_of(kWhole, keeps_codes), chunks = casts_of(kQuarters, keeps_codes);
        CHECK(seeking(whole) == 5);
        CHECK(seeking(chunks) == 5);
        CHECK(chunks.size() - whole.size() == 3 * (keeps_codes ? 2 : 4));
    }
}

TEST_CASE("workspace: refuses what does not fit and gives back what is rewound", "[layers]") {
    std::vector<char> memory(1024);
    Workspace workspace(memory.data(), 1024);
    const void* const first = workspace.take(1);
    const Bytes mark = workspace.used();
    CHECK(mark == 256);
    CHECK(workspace.take(700) == static_cast<const char*>(first) + 256);
    CHECK(workspace.used() == 1024);
    CHECK_THROWS_AS(workspace.take(1), InternalError);
    workspace.rewind(mark);
    CHECK(workspace.take(768) == static_cast<const char*>(first) + 256);
    CHECK(workspace.most() == 1024);
}
