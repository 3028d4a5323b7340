#include "engine/run/step_buffers.h"

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// Layers of odd sizes, so that each tensor and each slot leaves a gap.
ModelSpec odd_model(int intermediate) {
    ModelSpec model = parse_generic_model(
        "layers=64,hidden=42,heads=3,kv_heads=1,head_dim=10,vocabulary=97,intermediate=" +
        std::to_string(intermediate));
    model.family = "qwen2";
    model.kinds.front().attention.qkv_bias = true;
    return model;
}

}  // namespace

TEST_CASE("step buffers: every slot of weights and gradients lies within its buffer", "[run]") {
    for (const int intermediate : {53, 85}) {
        const ModelSpec model = odd_model(intermediate);
        for (const std::int64_t slots : {1, 2, 16, 64}) {
            TrainingSpec training;
            training.batch = 1;
            training.sequence = 8;
            training.buffer_depth = training.gradient_slabs = slots;
            const StreamedPlan plan = plan_streamed(model, MachineSpec{}, training);
            const std::unique_ptr<Device> device = make_cpu_device(1);
            ThreadPool pool(1);
            const PlaneStore planes(model, plan, *device, pool);
            const StepBuffers buffers(model, plan, planes);
            const ArenaLayout layout = layout_arena(plan.step.memory);
            const Bytes layer = kBf16 * layer_layout(model, model.kinds.front()).size;
            const auto end_of = [&](const void* last, const void* first) {
                return static_cast<const char*>(last) - static_cast<const char*>(first) + layer;
            };
            const int last = static_cast<int>(slots) - 1;
            CAPTURE(intermediate, slots);
            CHECK(end_of(buffers.weight_slot(last), buffers.weight_slot(0)) <=
                  layout.bytes[static_cast<std::size_t>(plan.buffers.weight_slots)]);
            CHECK(end_of(buffers.gradient_slab(last), buffers.gradient_slab(0)) <=
                  layout.bytes[static_cast<std::size_t>(plan.buffers.gradient_slabs)]);
        }
    }
}

TEST_CASE("step buffers: so does each streamed layer's slot, apart from the other slots", "[run]") {
    ModelSpec model = odd_model(85);
    truncate_layers(model, 5);
    for (const Compute form : {Compute::bf16, Compute::fp8}) {
        const Form arrives = form == Compute::fp8 ? Form::e4m3 : Form::bf16;
        const Bytes layer = layer_layout(model, model.kinds.front(), arrives).size;
        for (const std::int64_t resident : {0, 1, 2, 3, 4}) {
            for (const std::int64_t slots : {1, 2, 3, 7}) {
                TrainingSpec training;
                training.batch = 2;
                training.sequence = 8;
                training.compute = training.stream_weights = form;
                training.buffer_depth = slots;
                training.resident_layers = resident;
                const StreamedPlan plan = plan_streamed(model, MachineSpec{}, training);
                const std::unique_ptr<Device> device = make_cpu_device(1);
                ThreadPool pool(1);
                const PlaneStore planes(model, plan, *device, pool);
                const StepBuffers buffers(model, plan, planes);
                const auto weights = static_cast<std::size_t>(plan.buffers.weight_slots);
                const Bytes planned = plan.step.memory.buffers[weights].bytes;
                const auto slot_of = [&](std::int64_t streamed) {
                    return static_cast<const char*>(
                        buffers.weight_slot(static_cast<int>(streamed)));
                };
                CAPTURE(static_cast<int>(form), resident, slots);
                CHECK(buffers.weight_slot_bytes() == layer);
                for (std::int64_t streamed = resident; streamed < 5; ++streamed) {
                    const Bytes at = slot_of(streamed) - slot_of(resident);
                    CHECK(at == (streamed - resident) % slots * layer);
                    CHECK(at + layer <= planned + kRoomForParts);
                }
            }
        }
    }
}

TEST_CASE("step buffers: a plan with a buffer on storage is refused", "[run]") {
    TrainingSpec training;
    training.batch = 1;
    training.sequence = 8;
    const ModelSpec model = odd_model(53);
    StreamedPlan plan = plan_streamed(model, MachineSpec{}, training);
    const std::unique_ptr<Device> device = make_cpu_device(1);
    ThreadPool pool(1);
    std::vector<Buffer>& buffers = plan.step.memory.buffers;
    const auto on_host = std::ranges::find(buffers, Memory(Tier::host), &Buffer::memory);
    REQUIRE(on_host != buffers.end());
    on_host->memory = Tier::storage;
    CHECK_THROWS_AS(PlaneStore(model, plan, *device, pool), InternalError);
}
