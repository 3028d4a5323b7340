// Which bytes does a streamed step move and keep where head and embedding stay on the device?
#include <fmt/format.h>

#include "sim/plan/moves.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr Bytes kTable = 1000 * 512, kTokens = 4 * 256;

/// Vocabulary 1000, hidden 512.
ModelSpec small(bool tied) {
    return parse_generic_model(fmt::format(
        "layers=4,hidden=512,kv_heads=4,intermediate=1024,vocabulary=1000,tied={:d}", tied));
}

TrainingSpec training(ResidentTables tables) {
    TrainingSpec spec;
    spec.batch = 4;
    spec.sequence = 256;
    spec.resident_layers = 4;
    spec.resident_tables = tables;
    return spec;
}

StepPlan plan_of(bool tied, ResidentTables tables) {
    return plan_step(small(tied), resolve_machine(read_machine_profile("h200-sxm-pcie5")),
                     training(tables));
}

Bytes states(const StepPlan& plan) {
    Bytes total = 0;
    for (const Buffer& buffer : plan.memory.buffers)
        if (buffer.memory == Tier::device && buffer.kind == MemoryKind::optimizer_state)
            total += buffer.bytes;
    return total;
}

Bytes host_peak(const StepPlan& plan) { return peak_memory(plan.memory, Tier::host, 10'000).bytes; }

}  // namespace

TEST_CASE("streamed: with head and embedding resident, only the batch's tokens travel", "[plan]") {
    for (const bool tied : {false, true}) {
        const StepPlan without = plan_of(tied, ResidentTables::none),
                       with = plan_of(tied, ResidentTables::both);
        CAPTURE(tied);
        // Row, place in the order and target of each token; three numbers of each row.
        CHECK(link_bytes(with, Work::host_to_device) == 4.0 * (3 * kTokens + 3 * 1000));
        CHECK(link_bytes(with, Work::device_to_host) == 16);  // loss and norm
        for (const Operation& op : with.program.operations) CHECK(op.host_bytes == 0);
        CHECK(states(with) - states(without) == 12 * ((tied ? 1 : 2) * kTable + 512));
        // The rows in and out, their gradients, the head's, the states; now there is the index.
        const Bytes rows = 2 * kTokens * 512, index = 4 * (2 * kTokens + 3 * 1000);
        CHECK(host_peak(without) - host_peak(with) ==
              2 * rows + 4 * kTable + 2 * (kTable + 512) - index + states(with) - states(without));
    }
}

TEST_CASE("streamed: a resident head alone neither arrives nor leaves", "[plan]") {
    const StepPlan without = plan_of(false, ResidentTables::none),
                   with = plan_of(false, ResidentTables::head);
    const double head = 2 * (kTable + 512);
    for (const Lane lane : {Work::host_to_device, Work::device_to_host})
        CHECK(link_bytes(without, lane) - link_bytes(with, lane) == head);
    CHECK(states(with) - states(without) == 12 * (kTable + 512));
    CHECK_THROWS_WITH(plan_of(true, ResidentTables::head), ContainsSubstring("give both or none"));
}

TEST_CASE("moves: resident tables leave the device where memory is short", "[plan]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    for (const bool tied : {false, true}) {
        std::vector<double> values;
        const Asked asked{small(tied), machine, training(ResidentTables::both)};
        for (const OptionChange& change : changes_of(asked, Effect::frees_memory))
            if (std::string_view(change.option->field) == "resident_tables")
                values.push_back(change.value);
        CAPTURE(tied);
        CHECK(values == (tied ? std::vector<double>{0} : std::vector<double>{1, 0}));
    }
}

namespace {

/// No gradients are held on the host.
TrainingSpec batch_with_states(std::int64_t batch, std::int64_t state_bytes) {
    TrainingSpec out;
    out.clipping = Clipping::speculative;
    out.batch = batch;
    out.state_bytes = state_bytes;
    return out;
}

Fit fit_on(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training) {
    return check_fit(plan_step(model, machine, training), machine, training);
}

}  // namespace

TEST_CASE("nearest fit: where the host is short, the fewest layers that make room are resident",
          "[plan]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib"));
    const ModelSpec model = read_model("qwen2.5-14b");
    const TrainingSpec asked = batch_with_states(32, 12);
    TrainingSpec with = with_layers_off_host(model, machine, asked);
    REQUIRE(with.resident_layers > 0);
    CHECK(fits_machine(model, machine, with));
    const std::vector<FittingTraining> nearest = nearest_fits(model, machine, asked, 3);
    REQUIRE_FALSE(nearest.empty());
    CHECK(nearest.front().training.resident_layers == with.resident_layers);
    // The device gets what leaves the host, but for the pieces through which it moves.
    CHECK(fit_on(model, machine, asked).host().peak.bytes -
              fit_on(model, machine, with).host().peak.bytes ==
          Approx(12 * with.resident_layers * layer_parameters(model, model.layer(0)) - kStaging));
    --with.resident_layers;
    CHECK(fit_on(model, machine, with).host().shortfall() > 0);
    // Enough memory, or never enough: nothing changes.
    CHECK(with_layers_off_host(model, machine, batch_with_states(32, 8)).resident_layers == 0);
    TrainingSpec tight = asked;
    tight.host_budget_bytes = 1e9;
    CHECK(with_layers_off_host(model, machine, tight).resident_layers == 0);
}

TEST_CASE("nearest fit: a model is too large only if device and host do not hold it", "[plan]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib"));
    CHECK(fits_by_token(read_model("qwen2.5-32b"), machine, batch_with_states(8, 6)));
    CHECK_FALSE(fits_by_token(read_model("llama-3.1-70b"), machine, batch_with_states(8, 12)));
    // One token in one pass, or the 16 that FP8 needs, without what a larger batch may hold.
    TrainingSpec other = batch_with_states(8, 6);
    other.passes = 4;
    other.compute = Compute::fp8;
    other.deferred_layers = other.weight_code_layers = 64;
    CHECK(fits_by_token(read_model("qwen2.5-32b"), machine, other));
}
