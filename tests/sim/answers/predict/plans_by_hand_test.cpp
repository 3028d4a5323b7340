// Is the chosen plan as fast as plans that somebody would set by hand?
#include <fmt/format.h>

#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/predict.h"
#include "sim/plan/nearest_fit.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

struct HandAsked {
    const char *machine, *model;
    std::int64_t batch;
    double device_budget = 0;
};

/// Recomputation with none, a quarter, half and all of the layers resident, tables there or not,
/// a fifth of the others' updates deferred or not, and one or two passes; or two micro-batches of
/// which a third of the layers keep everything on the host.
std::vector<TrainingSpec> plans_by_hand(const TrainingSpec& asked, std::int64_t layers) {
    std::vector<TrainingSpec> out;
    for (const Recompute recompute : {Recompute::full, Recompute::keep_attention, Recompute::none})
        for (const std::int64_t quarters : {0, 1, 2, 4})
            for (const ResidentTables tables : {ResidentTables::none, ResidentTables::both})
                for (const std::int64_t share : {0, 5})
                    for (const std::int64_t passes : {1, 2}) {
                        TrainingSpec plan = asked;
                        plan.recompute = recompute;
                        plan.resident_layers = layers * quarters / 4;
                        plan.resident_tables = tables;
                        plan.passes = passes;
                        if (share > 0)
                            plan.deferred_layers = (layers - plan.resident_layers) / share;
                        out.push_back(plan);
                        if (recompute == Recompute::none || passes > 1) continue;
                        plan.host_kept_layers = layers / 3;
                        plan.micro_batch = asked.batch / 2;
                        out.push_back(plan);
                    }
    return out;
}

}  // namespace

TEST_CASE("plan choice: within 2% of the best of all plans by hand, on nine works", "[simulate]") {
    for (const HandAsked& work : {HandAsked{"h200-pcie5-16vcpu-128gib-2", "qwen2.5-7b", 8, 24e9},
                                  {"h200-pcie5-16vcpu-128gib-2", "qwen2.5-7b", 32},
                                  {"h200-pcie5-16vcpu-128gib-2", "qwen2.5-3b", 32},
                                  {"h200-pcie5-16vcpu-128gib-2", "qwen2.5-7b", 32, 24e9},
                                  {"rtx-4090", "qwen2.5-7b", 8},
                                  {"rtx-5090", "qwen2.5-7b", 16},
                                  {"h100-sxm-pcie5", "qwen2.5-14b", 8},
                                  {"h200-sxm-pcie5-1.5tb", "qwen2.5-14b", 32},
                                  {"h200-sxm-pcie5-1.5tb", "qwen2.5-32b", 16}}) {
        INFO(fmt::format("{} on {}, batch {}", work.model, work.machine, work.batch));
        const ModelSpec model = read_model(work.model);
        MachineSpec machine = resolve_machine(read_machine_profile(work.machine));
        machine.host.gpus = 1;  // all of its node, so that no plan bills more than another
        TrainingSpec asked;
        asked.batch = work.batch;
        asked.device_budget_bytes = work.device_budget;
        const PlanChoice choice = choose_plan(model, machine, asked, {});
        REQUIRE(choice.step);
        int fitting = 0;
        Seconds best = *choice.step * 2;
        for (const TrainingSpec& plan : plans_by_hand(asked, model.layer_count())) {
            if (!fits_machine(model, machine, plan)) continue;
            ++fitting;
            best = std::min(best, predict(model, machine, plan).step.seconds);
        }
        CHECK(fitting >= 4);
        CHECK(*choice.step <= 1.02 * best);
    }
}
