// Does the trainer allocate the memory that the plan counts, on the device and on the host?
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
    return out;
}

/// Without the process itself.
Bytes planned_host(const StreamedPlan& plan) {
    Bytes sum = 0;
    for (const Buffer& buffer : plan.step.memory.buffers)
        if (buffer.tier == Tier::host && buffer.kind != MemoryKind::process) sum += buffer.bytes;
    return sum;
}
Bytes room_of_parts(const StreamedPlan& plan) {
    Bytes sum = 0;
    for (const Buffer& buffer : plan.step.memory.buffers)
        if (buffer.tier == Tier::host && buffer.kind != MemoryKind::process)
            sum += buffer.parts * (kRoomForParts + kPage);
    return sum;
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
        const PlaneStore planes(plan, *device, pool);
        const DeviceBuffers there(model, training, plan, planes);
        const ParameterStore store(
            model, section_blocks(model, static_cast<int>(training.state_bytes), plan, planes),
            plan.homes.resident_sections(), planes.at(plan.buffers.host.staging), pool, *device);
        const HostBuffers here(model, training, plan, planes);
        const StreamedCodes codes(model, plan, planes, store, pool);
        const auto operations = static_cast<OperationId>(plan.step.program.operations.size());
        CAPTURE(tied, training.state_bytes, training.resident_layers,
                static_cast<int>(training.resident_tables), static_cast<int>(training.clipping));
        CHECK(planes.device_bytes() == device_peak(plan.step.memory, operations).bytes);
        CHECK(planes.host_bytes() - planned_host(plan) == room_of_parts(plan));
    }
}
