// Does measuring the host leave all that it measures as it was?
#include "engine/train/host_probe.h"

#include <algorithm>

#include "sim/plan/schedules/streamed.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// The state of a run before its first parameters.
struct BeforeParameters {
    BeforeParameters(std::int64_t state_bytes, std::int64_t resident,
                     Compute stream_weights = Compute::bf16)
        : model(parse_generic_model("layers=4,hidden=256,vocabulary=500")),
          training(training_with(state_bytes, resident, stream_weights)),
          plan(plan_streamed(model, resolve_machine(read_machine_profile("h200-sxm-pcie5")),
                             training, ClippedStep::waits, Form::fp32)),
          buffers(model, plan, planes),
          store(model, planes.sections(), plan.homes.resident_sections(),
                planes.at(plan.buffers.host.staging), pool, *device) {}

    static TrainingSpec training_with(std::int64_t state_bytes, std::int64_t resident,
                                      Compute stream_weights) {
        TrainingSpec out;
        out.batch = 2;
        out.sequence = 16;
        out.state_bytes = state_bytes;
        out.resident_layers = resident;
        out.compute = out.stream_weights = stream_weights;
        return out;
    }
    std::optional<HostRates> probe(std::int64_t least = kLeastProbed) {
        return probe_host(store, buffers, planes.at(plan.buffers.host.gradients), pool, *device,
                          least);
    }
    bool all_zero() const {
        for (int section = 0; section < store.sections(); ++section) {
            const ParameterBlock& block = store.block(section);
            const auto zero = [](const void* data, std::int64_t bytes) {
                const auto* const begin = static_cast<const char*>(data);
                return std::all_of(begin, begin + bytes, [](char byte) { return byte == 0; });
            };
            const std::int64_t moment = (block.state_bytes - 4) / 2;
            if (!zero(block.high, 2 * block.count) || !zero(block.low, 2 * block.count) ||
                !zero(block.first_moment, moment * block.count) ||
                !zero(block.second_moment, moment * block.count))
                return false;
        }
        return true;
    }

    ModelSpec model;
    TrainingSpec training;
    StreamedPlan plan;
    std::unique_ptr<Device> device = make_cpu_device(1);
    ThreadPool pool{1};
    PlaneStore planes{model, plan, *device, pool};
    StepBuffers buffers;
    ParameterStore store;
};

}  // namespace

TEST_CASE("host probe: zeros stay zeros at any precision of the states", "[train]") {
    for (const std::int64_t state_bytes : {12, 8, 6}) {
        CAPTURE(state_bytes);
        BeforeParameters before(state_bytes, 1);
        const auto rates = before.probe(1);
        REQUIRE(rates);
        CHECK(rates->known());
        CHECK(rates->host_to_device > 0);
        CHECK(rates->device_to_host > 0);
        CHECK(before.all_zero());
    }
}

TEST_CASE("host probe: a host with few or no layers is not measured", "[train]") {
    for (const std::int64_t resident : {0, 4}) {
        BeforeParameters before(12, resident);
        CHECK_FALSE(before.probe());
    }
}

TEST_CASE("host probe: copies stay within the slot of one layer", "[train]") {
    for (const Compute form : {Compute::bf16, Compute::fp8}) {
        CAPTURE(static_cast<int>(form));
        BeforeParameters before(12, 0, form);
        auto* const next = static_cast<char*>(before.buffers.weight_slot(1));
        const auto bytes = before.buffers.weight_slot_bytes();
        REQUIRE(next == static_cast<char*>(before.buffers.weight_slot(0)) + bytes);
        std::fill_n(next, bytes, char{1});
        REQUIRE(before.probe(1));
        CHECK(std::all_of(next, next + bytes, [](char byte) { return byte == 1; }));
    }
}
