// Operations and buffers of the streamed schedule, counted by hand for real shapes.
#include <algorithm>
#include <set>
#include <string_view>

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

MachineSpec h200() { return resolve_machine(read_machine_profile("h200-sxm-pcie5")); }

/// 4 layers of hidden 512 (4 heads of 128), feed-forward 1024, vocabulary 1000, untied.
ModelSpec small() {
    return parse_generic_model("layers=4,hidden=512,kv_heads=4,intermediate=1024,vocabulary=1000");
}

TrainingSpec training(std::int64_t batch = 4, std::int64_t sequence = 256) {
    TrainingSpec spec;
    spec.batch = batch;
    spec.sequence = sequence;
    return spec;
}

int count(const StepPlan& plan, OperationKind kind) {
    return static_cast<int>(std::count_if(plan.program.operations.begin(),
                                          plan.program.operations.end(),
                                          [&](const Operation& op) { return op.kind == kind; }));
}

/// Rows of the embedding in each of its updates: between two steps, then the rest.
std::vector<double> updated_rows(const ModelSpec& model, const TrainingSpec& spec) {
    std::vector<double> rows;
    const double row_bytes = 26.0 * static_cast<double>(model.hidden);
    for (const Operation& op : plan_step(model, h200(), spec).program.operations)
        if (op.host_work == HostWork::adam && op.layer == kEmbeddingLayer)
            rows.push_back(op.host_bytes / row_bytes);
    return rows;
}

/// A plan can be executed if every wait points back, or to any operation of the step before.
void check_executable(const StepPlan& plan) {
    const auto n = static_cast<OperationId>(plan.program.operations.size());
    for (OperationId id = 0; id < n; ++id) {
        for (const Dependency& wait :
             plan.program.operations[static_cast<std::size_t>(id)].waits_for) {
            REQUIRE(wait.operation >= 0);
            REQUIRE(wait.operation < n);
            if (!wait.previous_step) REQUIRE(wait.operation < id);
        }
    }
}

}  // namespace

TEST_CASE(
    "streamed: every layer passes forward and backward once, and its weights come twice unless "
    "still there",
    "[plan]") {
    const StepPlan plan = plan_step(small(), h200(), training());
    check_executable(plan);
    CHECK(count(plan, OperationKind::forward) == 4);
    CHECK(count(plan, OperationKind::backward) == 4);
    // 4 for forward, 2 again for backward (two are still in the 2 slots), and the head.
    CHECK(count(plan, OperationKind::copy_weights_in) == 4 + 2 + 1);
    // A layer: qkv 1536x512, output 512x512, gate and up 2048x512, down 512x1024, two norms of 512:
    // 2,622,464. In: 6 layers, head 1000x512 and its norm, embedding rows 4x256x512; 2 bytes each;
    // 4x256 targets of 4 bytes.
    CHECK(link_bytes(plan, Work::host_to_device) ==
          2.0 * (6 * 2'622'464 + 512'000 + 512 + 524'288) + 4 * 1024);
    // Out: 4 layers' gradients, head and final norm, gradients of the rows.
    CHECK(link_bytes(plan, Work::device_to_host) ==
          2.0 * (4 * 2'622'464 + 512'000 + 512 + 524'288));
}

TEST_CASE("streamed: every parameter is updated once a step", "[plan]") {
    for (const Clipping clipping : {Clipping::speculative, Clipping::exact, Clipping::off}) {
        for (const char* shape :
             {"layers=4,hidden=512,vocabulary=5000", "layers=3,hidden=256,vocabulary=5000,tied=1",
              "layers=1,hidden=256,vocabulary=100"}) {
            const ModelSpec model = parse_generic_model(shape);
            TrainingSpec spec = training(2, 100);
            spec.clipping = clipping;
            const StepPlan plan = plan_step(model, h200(), spec);
            check_executable(plan);
            double traffic = 0;
            for (const Operation& op : plan.program.operations)
                traffic += op.host_work == HostWork::adam ? op.host_bytes : 0;
            // Tied: the final norm's few parameters travel with the head and are not counted as an
            // update of their own.
            const double norm = model.tied_embeddings ? static_cast<double>(model.hidden) : 0;
            CHECK(traffic / 26 == Approx(static_cast<double>(total_parameters(model)) - norm));
        }
    }
}

TEST_CASE("streamed: rows of the batch's different tokens are updated between two steps",
          "[plan]") {
    using Rows = std::vector<double>;
    TrainingSpec spec = training(2, 100);  // 200 tokens, vocabulary 1000
    CHECK(updated_rows(small(), spec) == Rows{200, 800});
    spec.distinct_tokens = 50;
    CHECK(updated_rows(small(), spec) == Rows{50, 950});
    spec.distinct_tokens = 300;  // of 200 tokens no more than 200 differ
    CHECK(updated_rows(small(), spec) == Rows{200, 800});
    // A batch that may touch all rows: they are updated at once.
    spec = training(4, 256);
    spec.distinct_tokens = 50;
    CHECK(updated_rows(small(), spec) == Rows{1000});
}

TEST_CASE("streamed: weights stream once a step whatever the number of micro-batches", "[plan]") {
    TrainingSpec spec = training(8);
    const StepPlan whole = plan_step(small(), h200(), spec);
    spec.micro_batch = 2;
    const StepPlan split = plan_step(small(), h200(), spec);
    check_executable(split);
    CHECK(count(split, OperationKind::forward) == 4 * 4);
    CHECK(count(split, OperationKind::copy_weights_in) ==
          count(whole, OperationKind::copy_weights_in));
    CHECK(link_bytes(split, Work::host_to_device) == link_bytes(whole, Work::host_to_device));
    CHECK(split.program.flops() == Approx(whole.program.flops()).epsilon(1e-12));
    CHECK(peak_memory(split.memory, Tier::device, 1000).bytes <
          peak_memory(whole.memory, Tier::device, 1000).bytes + 4 * 2'622'464 + 1);
}

TEST_CASE("streamed: host memory is 12 bytes a parameter and the listed buffers", "[plan]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const MachineSpec machine = h200();
    TrainingSpec spec = training(32, 1024);
    spec.clipping = Clipping::speculative;
    const StepPlan plan = plan_step(model, machine, spec);
    const Bytes parameters = 7'615'616'512;
    CHECK(bytes_of(plan, "weights in bf16") + bytes_of(plan, "embedding in bf16") ==
          2 * parameters);
    CHECK(bytes_of(plan, "embedding in bf16") == 2 * Bytes{152064} * 3584);
    CHECK(bytes_of(plan, "rest of the masters, and moments") == 10 * parameters);
    // Four slabs of the largest layer (233,057,792), the head's gradient, rows in and out.
    CHECK(bytes_of(plan, "pinned places of waiting gradients") == 4 * 2 * Bytes{233'057'792});
    CHECK(bytes_of(plan, "pinned head gradient") == 2 * Bytes{152065} * 3584);
    CHECK(bytes_of(plan, "pinned embedding rows in and out") == 2 * 2 * Bytes{32768} * 3584);
    Bytes sum = 0;
    for (const Buffer& buffer : plan.memory.buffers)
        sum += buffer.memory == Tier::host ? buffer.bytes : 0;
    CHECK(peak_memory(plan.memory, Tier::host, 1000).bytes == sum);
}

TEST_CASE("streamed: smaller states shrink the host, exact clipping holds all gradients",
          "[plan]") {
    const ModelSpec model = small();
    const auto host_peak = [&](auto change) {
        TrainingSpec spec = training();
        spec.clipping = Clipping::speculative;
        change(spec);
        return peak_memory(plan_step(model, h200(), spec).memory, Tier::host, 10'000).bytes;
    };
    const Bytes parameters = total_parameters(model);
    const Bytes standard = host_peak([](TrainingSpec&) {});
    CHECK(standard - host_peak([](TrainingSpec& s) { s.state_bytes = 8; }) == 4 * parameters);
    // 8-bit moments have two fp32 scales for every 128 parameters, 1/16 byte each.
    CHECK(standard - host_peak([](TrainingSpec& s) { s.state_bytes = 6; }) ==
          6 * parameters - 2 * 4 * parameters / 128);
    // 4 slabs are all layers; exact clipping needs that many, however many slabs are asked for.
    for (const Clipping holding : {Clipping::exact, Clipping::automatic})
        CHECK(host_peak([&](TrainingSpec& s) { s.clipping = holding; }) == standard);
    CHECK(standard - host_peak([](TrainingSpec& s) { s.host_gradient_slabs = 3; }) ==
          2 * 2'622'464);
}

TEST_CASE("streamed: resident layers do not travel and are updated by compute", "[plan]") {
    const ModelSpec model = small();
    const StepPlan without = plan_step(model, h200(), training());
    const auto bytes = static_cast<double>(2 * layer_parameters(model, model.layer(0)));
    for (const std::int64_t resident : {1, 3, 4}) {
        TrainingSpec spec = training();
        spec.resident_layers = resident;
        const StepPlan plan = plan_step(model, h200(), spec);
        check_executable(plan);
        const auto fewer = [&](Lane lane) {
            return (link_bytes(without, lane) - link_bytes(plan, lane)) / bytes;
        };
        // In forward all weights travel; in backward those of the last two layers are there.
        CHECK(fewer(Work::host_to_device) == resident + std::min<std::int64_t>(2, resident));
        CHECK(fewer(Work::device_to_host) == resident);
        CHECK(count(plan, OperationKind::update) == count(without, OperationKind::update));
        CHECK(bytes_of(plan, "resident layers, weights and states") ==
              static_cast<Bytes>(6 * bytes) * resident);
    }
}

TEST_CASE("streamed: checkpoints are one layer input each, on the device or on the host",
          "[plan]") {
    TrainingSpec spec = training(2, 128);
    const Bytes input = 2 * 128 * 512 * 2;
    const StepPlan on_device = plan_step(small(), h200(), spec);
    CHECK(bytes_of(on_device, "layer input") == 4 * input);
    CHECK(count(on_device, OperationKind::copy_checkpoint_out) == 0);

    spec.checkpoints = CheckpointPlacement::host;
    const StepPlan on_host = plan_step(small(), h200(), spec);
    check_executable(on_host);
    // Layer 0's input is the embedding rows, which the host has: three leave, four come back.
    CHECK(bytes_of(on_host, "checkpoints") == 3 * input);
    CHECK(count(on_host, OperationKind::copy_checkpoint_out) == 3);
    CHECK(count(on_host, OperationKind::copy_checkpoint_in) == 4);
}

TEST_CASE("streamed: what is kept is not computed again", "[plan]") {
    TrainingSpec spec = training();
    const auto flops = [&] { return plan_step(small(), h200(), spec).program.flops(); };
    const Flops full = flops();
    spec.recompute = Recompute::keep_attention;
    const Flops kept_attention = flops();
    spec.recompute = Recompute::none;
    const Flops none = flops();
    CHECK(kept_attention < full);
    CHECK(none < kept_attention);
    spec.recompute = Recompute::full;
    spec.keep_last_layers = 4;
    CHECK(flops() == none);
    spec.keep_last_layers = 2;
    CHECK(flops() == Approx((full + none) / 2).epsilon(1e-12));
}

TEST_CASE("streamed: gradients are summed by each micro-batch, rounded and normed by the last",
          "[plan]") {
    TrainingSpec spec = training(4);
    spec.micro_batch = 1;
    const StepPlan plan = plan_step(small(), h200(), spec);
    const double parameters = 4 * 2'622'464;  // of four layers
    const auto sum = [&](std::string_view name, double Kernel::*bytes) {
        double total = 0;
        for (const Operation& op : plan.program.operations) {
            for (const std::int32_t list : op.kernels) {
                for (const Kernel& k : plan.program.kernel_lists[static_cast<std::size_t>(list)])
                    total += k.name == name ? k.*bytes : 0;
            }
        }
        return total;
    };
    const auto bytes = [&](std::string_view name) { return sum(name, &Kernel::bytes); };
    // The product of each of 4 micro-batches reads and writes the sum in fp32 instead of writing
    // bf16: 6 bytes more an element of a matrix; a layer has two norms of 512 beside its matrices.
    // The head's (1000 x 512), in one chunk a micro-batch, too.
    const double matrices = parameters - 4 * 2 * 512, head_matrix = 1000 * 512;
    CHECK(sum("weight gradient", &Kernel::added_bytes) == 4 * 6 * (matrices + head_matrix));
    const double head = 1001 * 512;  // its gradient is summed always, chunk by chunk
    CHECK(bytes("round gradients") == 6 * (parameters + head));
    CHECK(bytes("gradient norm") == 2 * (parameters + head));
}

TEST_CASE("streamed: what is kept is not in backward's workspace a second time", "[plan]") {
    // 1024 tokens. Beside what was kept: normed input; gradients of q, k, v, and of the query again
    // (4 x 128 in fp32), 4 numbers; 256 bytes of cuDNN's.
    TrainingSpec spec = training();
    spec.recompute = Recompute::none;
    CHECK(bytes_of(plan_step(small(), h200(), spec), "backward workspace") ==
          1024 * (1024 + 3 * 1024 + 2048 + 16) + 256);
    // Full recompute: q, k, v, attention output and 4 statistics, residual, normed input; in place
    // of the gradients the feed-forward's normed input, gate and up, their product, which are more.
    spec.recompute = Recompute::full;
    CHECK(bytes_of(plan_step(small(), h200(), spec), "backward workspace") ==
          1024 * (3 * 1024 + 1024 + 16 + 1024 + 1024 + 1024 + 4096 + 2048));
}

TEST_CASE("streamed: one layer with checkpoints on the host has no second input", "[plan]") {
    const ModelSpec model = parse_generic_model("layers=1,hidden=512,vocabulary=1000");
    TrainingSpec spec = training(64);
    const auto checkpoints = [&] {
        const Peak peak = peak_memory(plan_step(model, h200(), spec).memory, Tier::device, 1000);
        return peak.by_kind[static_cast<std::size_t>(MemoryKind::checkpoints)];
    };
    const Bytes input = 64 * 256 * 512 * 2;
    CHECK(checkpoints() == 2 * input);  // the input, and the hidden state
    spec.checkpoints = CheckpointPlacement::host;
    CHECK(checkpoints() <= 4 * input);  // and two places for those that come back
}

TEST_CASE(
    "streamed: odd shapes plan: one layer, more slots than layers, mixture of experts, every "
    "library model",
    "[plan]") {
    TrainingSpec spec = training(1, 1);
    spec.buffer_depth = 8;
    check_executable(plan_step(parse_generic_model("layers=1,hidden=128"), h200(), spec));
    for (const std::string& name : library_models())
        check_executable(plan_step(read_model(name), h200(), training(2, 64)));
}
