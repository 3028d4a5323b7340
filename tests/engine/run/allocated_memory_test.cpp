// Does the trainer allocate the memory that the plan counts, on the device and on the host, and
// copy the bytes that it counts?
#include <algorithm>
#include <random>

#include "engine/memory/streamed_codes.h"
#include "engine/run/step_buffers.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// Large enough that the alignment of host memory is far below a hundredth.
ModelSpec model_of(bool tied) {
    ModelSpec model = parse_generic_model(
        "layers=6,hidden=256,heads=4,kv_heads=2,head_dim=64,intermediate=700,vocabulary=9000");
    model.family = "qwen2";
    model.tied_embeddings = tied;
    return model;
}

TrainingSpec random_plan(bool tied, std::mt19937& random) {
    const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
    TrainingSpec out;
    out.batch = 4;
    out.sequence = 128;
    out.micro_batch = 1 << below(3);
    out.state_bytes = kStatePrecisions[static_cast<std::size_t>(below(5))].bytes;
    out.resident_layers = below(7);
    out.resident_tables = static_cast<ResidentTables>(tied ? 2 * below(2) : below(3));
    out.clipping = static_cast<Clipping>(below(4));
    out.recompute = static_cast<Recompute>(below(3));
    out.keep_last_layers = below(7);
    out.checkpoints = static_cast<CheckpointPlacement>(below(2));
    if (out.recompute != Recompute::none)
        out.host_kept_layers = below(static_cast<unsigned>(7 - out.keep_last_layers));
    out.compute = static_cast<Compute>(below(2));
    if (out.compute == Compute::fp8) out.stream_weights = static_cast<Compute>(below(2));
    if (out.updates_after_norm() && !out.streams_codes())
        out.visiting_layers = below(static_cast<unsigned>(7 - out.resident_layers));
    out.attend_within = static_cast<AttendWithin>(below(2));
    out.kept_bits = 8 << below(2);
    if (out.micro_batch < 4 && out.checkpoints == CheckpointPlacement::device)
        out.passes = 1 << below(2);
    return out;
}

/// Without the process itself.
Bytes planned_host(const StreamedPlan& plan) {
    Bytes sum = 0;
    for (const Buffer& buffer : plan.step.memory.buffers)
        if (buffer.memory == Tier::host && buffer.kind != MemoryKind::process) sum += buffer.bytes;
    return sum;
}
Bytes room_of_parts(const StreamedPlan& plan) {
    Bytes sum = 0;
    for (const Buffer& buffer : plan.step.memory.buffers)
        if (buffer.memory == Tier::host && buffer.kind != MemoryKind::process)
            sum += buffer.parts * kRoomForParts;
    return sum;
}

Bytes copied(const std::vector<BlockCopy>& copies) {
    Bytes sum = 0;
    for (const BlockCopy& copy : copies) sum += copy.to.bytes;
    return sum;
}

/// From page-locked memory to the device or back, as the lane says, and within the buffers.
bool are_of_lane(const std::vector<BlockCopy>& copies, Lane lane, const MemoryPlan& memory) {
    const auto is_in = [&](const BufferBlock& block, Tier tier) {
        const Buffer& buffer = memory.buffers[static_cast<std::size_t>(block.buffer)];
        return buffer.memory == tier && buffer.pinned == (tier == Tier::host) &&
               block.offset + block.bytes <= buffer.bytes + buffer.parts * kRoomForParts;
    };
    const bool in = lane == Work::host_to_device;
    return std::all_of(copies.begin(), copies.end(), [&](const BlockCopy& copy) {
        return is_in(copy.from, in ? Tier::host : Tier::device) &&
               is_in(copy.to, in ? Tier::device : Tier::host);
    });
}

}  // namespace

TEST_CASE("allocated memory: of 40 random plans, exactly that of device and host", "[run]") {
    std::mt19937 random(11);
    for (int i = 0; i < 40; ++i) {
        const bool tied = i % 2 == 1;
        const ModelSpec model = model_of(tied);
        const TrainingSpec training = random_plan(tied, random);
        const StreamedPlan plan = plan_streamed(model, MachineSpec{}, training);
        const std::unique_ptr<Device> device = make_cpu_device(1);
        ThreadPool pool(1);
        const PlaneStore planes(model, plan, *device, pool);
        const StepBuffers there(model, plan, planes);
        const ParameterStore store(model, planes.sections(), plan.homes.resident_sections(),
                                   planes.at(plan.buffers.host.staging), pool, *device);
        const StreamedCodes codes(model, plan, planes, store, pool);
        const auto operations = static_cast<OperationId>(plan.step.program.operations.size());
        CAPTURE(tied, training.state_bytes, training.resident_layers,
                static_cast<int>(training.resident_tables), static_cast<int>(training.clipping));
        CHECK(planes.device_bytes() == device_peak(plan.step.memory, operations).bytes);
        CHECK(planes.host_bytes() - planned_host(plan) == room_of_parts(plan));
    }
}

TEST_CASE("allocated memory: a copy has the bytes by which the plan times it", "[run]") {
    std::mt19937 random(12);
    for (const char* const name : {"qwen2.5-0.5b", "qwen3-0.6b", "llama-3.1-8b"}) {
        ModelSpec model = read_model(name);
        truncate_layers(model, 6);
        for (int i = 0; i < 30; ++i) {
            model.vocabulary = 9000;
            model.tied_embeddings = i % 2 == 1;
            const TrainingSpec training = random_plan(model.tied_embeddings, random);
            const StreamedPlan plan = plan_streamed(model, MachineSpec{}, training);
            const StreamedParts parts(model, plan, stored_sizes(model, plan));
            for (const Operation& op : plan.step.program.operations) {
                if (op.lane.work != Work::host_to_device && op.lane.work != Work::device_to_host)
                    continue;
                const std::vector<BlockCopy> copies = parts.copies(op);
                // Sums leave with all gradients, but count only where nothing else leaves.
                const Bytes sums = copies.empty() ? kStepSums : 0;
                CAPTURE(name, i, operation_label(op, model.layer_count()));
                CHECK(static_cast<double>(copied(copies) + sums) == op.link_bytes);
                CHECK(are_of_lane(copies, op.lane, plan.step.memory));
            }
        }
    }
}
