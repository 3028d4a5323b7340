// Is the chosen plan nearly as fast as the fastest of all plans of a small model?
#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/predict/plan_choice.h"
#include "sim/base/input_error.h"
#include "sim/simulate/simulate_step.h"
#include "sim/simulate/step_bounds.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/answers/predict/known_questions.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr std::int64_t kLayers = 4;

/// Every number of layers of every kind, beside every home of tables and inputs, in one or two
/// micro-batches. They may break rules.
template <typename Visit>
void for_all_plans(const TrainingSpec& asked, Visit visit) {
    const auto numbers = [](std::int64_t from, std::int64_t to, auto each) {
        for (std::int64_t i = from; i <= to; ++i) each(i);
    };
    TrainingSpec t = asked;
    const auto with_inputs = [&] {
        for (const auto tables : {ResidentTables::none, ResidentTables::both})
            for (const auto place : {CheckpointPlacement::device, CheckpointPlacement::host})
                for (const auto saved : {SavedInputs::all, SavedInputs::half})
                    for (const std::int64_t micro_batch : {std::int64_t{0}, asked.batch / 2}) {
                        t.resident_tables = tables;
                        t.checkpoints = place;
                        t.saved_inputs = saved;
                        t.micro_batch = micro_batch;
                        visit(t);
                    }
    };
    const auto with_kept = [&] {
        numbers(0, kLayers, [&](std::int64_t kept) {
            t.keep_last_layers = kept;
            numbers(0, kLayers - kept, [&](std::int64_t on_host) {
                t.host_kept_layers = on_host;
                for (const std::int64_t attention : {std::int64_t{0}, kLayers}) {
                    t.keep_attention_layers = attention;
                    with_inputs();
                }
            });
        });
    };
    numbers(0, kLayers, [&](std::int64_t resident) {
        t.resident_layers = resident;
        const std::int64_t others = kLayers - resident;
        if (!asked.updates_after_norm())
            return numbers(0, others, [&](std::int64_t deferred) {
                t.deferred_layers = deferred;
                with_kept();
            });
        numbers(0, others, [&](std::int64_t visiting) {
            t.visiting_layers = visiting;
            numbers(0, others - visiting, [&](std::int64_t late) {
                t.late_moment_layers = late;
                with_kept();
            });
        });
    });
}

/// The least step of all that leave room.
Seconds fastest_of_all(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& asked, Seconds chosen) {
    Seconds best = chosen;
    for_all_plans(asked, [&](const TrainingSpec& training) {
        try {
            check_training_spec(training);
            const StepPlan plan = plan_step(model, machine, training);
            if (!check_fit(plan, machine, training).leaves_room()) return;
            const Seconds bound =
                step_bounds(plan.program, operation_demands(plan.program, machine, training),
                            machine, training)
                    .at_least();
            if (bound < best)
                best = std::min(best, simulate_step(plan, machine, training, best).step);
        } catch (const InputError&) {
            return;  // breaks a rule
        }
    });
    return best;
}

}  // namespace

TEST_CASE("plan choice: mostly within 1% of the fastest of all plans, on 48 small works",
          "[.][nightly]") {
    int within = 0, works = 0;
    for (const char* name :
         {"h200-pcie5-16vcpu-128gib", "rtx-4090", "gh200-480gb", "a100-80gb-sxm"})
        for (const std::int64_t batch : {4, 32})
            for (const double budget : {8e9, 12e9, 20e9})
                for (const Clipping clipping : {Clipping::exact, Clipping::speculative}) {
                    const ModelSpec model = read_model(
                        PlannedModel{.model = "qwen2.5-7b", .layers = std::to_string(kLayers)});
                    MachineSpec machine = resolve_machine(read_machine_profile(name));
                    machine.host.gpus = 1;  // all of its node, so that no plan bills more
                    TrainingSpec asked = batch_of(batch);
                    asked.clipping = clipping;
                    asked.device_budget_bytes = budget;
                    const PlanChoice choice =
                        choose_plan(model, machine, asked,
                                    {"passes", "host_gradient_slabs", "feed_forward_chunk_tokens"});
                    if (!choice.step) continue;
                    ++works;
                    const Seconds best = fastest_of_all(model, machine, asked, *choice.step);
                    const std::string work = fmt::format(
                        "{}, batch {}, {} GB, {}: chosen {:.4f} s, fastest {:.4f} s", name, batch,
                        budget / 1e9, option_text(asked, training_option("clipping")), *choice.step,
                        best);
                    INFO(work);
                    CHECK(*choice.step <= 1.05 * best);
                    within += *choice.step <= 1.01 * best ? 1 : 0;
                }
    CHECK(works >= 40);
    CHECK(10 * within >= 8 * works);  // 43 of 48 on 2026-11-29
}
