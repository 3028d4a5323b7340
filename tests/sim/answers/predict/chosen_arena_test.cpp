// Does every chosen plan fit once its buffers are laid out, whatever the model, the machine and the
// budgets?
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "sim/answers/predict/plan_choice.h"
#include "sim/base/input_error.h"
#include "sim/plan/arena_layout.h"
#include "sim/plan/schedules/streamed.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/trials.h"

using namespace sluice;

namespace {

struct Question {
    ModelSpec model;
    MachineSpec machine;
    TrainingSpec training;
};

/// The options that a user fixes; all others are chosen.
const std::set<std::string> kFixed = {
    "batch",          "seq",           "clipping",    "state_bytes", "compute",
    "head_gradients", "device_budget", "host_budget", "kept_bits",   "attend_within"};

class RandomQuestion {
  public:
    explicit RandomQuestion(std::uint64_t seed) : random_(static_cast<std::uint32_t>(seed)) {}

    Question question() {
        Question out{model(), machine(), {}};
        TrainingSpec& t = out.training;
        t.sequence = std::int64_t{128} << below(7);
        t.batch = below(4) == 0 ? 1 + below(48) : 1 << below(6);
        t.clipping = static_cast<Clipping>(below(4));
        t.state_bytes = kStatePrecisions[static_cast<std::size_t>(below(5))].bytes;
        if (out.machine.gpu.fp8_gemm_flops_per_s > 0 && below(2) == 0) t.compute = Compute::fp8;
        if (t.compute == Compute::fp8 && below(2) == 0) t.head_gradients = Compute::fp8;
        if (below(8) == 0) t.attend_within = AttendWithin::document;
        if (below(4) == 0) t.kept_bits = 8;
        if (below(2) == 0)
            t.device_budget_bytes =
                share(0.02) * static_cast<double>(usable_memory(out.machine, t, Tier::device));
        if (below(2) == 0)
            t.host_budget_bytes =
                share(0.05) * static_cast<double>(usable_memory(out.machine, t, Tier::host));
        return out;
    }

  private:
    int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
    double share(double least) { return least + (1 - least) * below(1000) / 1000; }

    /// Few layers, so that a choice takes little time.
    ModelSpec model() {
        const int layers = 1 + below(below(4) == 0 ? 16 : 6);
        if (below(2) == 0)
            return parse_generic_model(fmt::format("layers={},hidden={},vocabulary={},tied={}",
                                                   layers, 256 * (1 + below(32)),
                                                   1000 * (1 + below(150)), below(2)));
        const std::vector<std::string> names = library_models();
        ModelSpec out =
            read_model(names[static_cast<std::size_t>(below(static_cast<int>(names.size())))]);
        truncate_layers(out, std::min(layers, out.layer_count()));
        return out;
    }
    MachineSpec machine() {
        const std::vector<std::string> names = library_machines();
        return resolve_machine(read_machine_profile(
            names[static_cast<std::size_t>(below(static_cast<int>(names.size())))]));
    }

    std::mt19937 random_;
};

/// Tells how the arena of a choice that fits differs from the plan or exceeds the budget.
std::string fault_of(const Question& asked, const TrainingSpec& chosen, const Fit& fit) {
    const StreamedPlan plan = plan_streamed(asked.model, asked.machine, chosen, ClippedStep::ahead);
    for (const int scale : {1, 2})
        if (buffers_that_meet(plan.step.memory, layout_arena(plan.step.memory, scale)))
            return fmt::format("two buffers share memory at scale {}", scale);
    const Bytes arena = layout_arena(plan.step.memory).total;
    if (arena != fit.device().peak.bytes)
        return fmt::format("the arena takes {}, the plan {}", arena, fit.device().peak.bytes);
    if (arena > usable_memory(asked.machine, asked.training, Tier::device))
        return fmt::format("the arena takes {}, of {}", arena, fit.device().usable);
    Bytes kinds = 0;
    for (const Bytes bytes : fit.device().peak.by_kind) kinds += bytes;
    return kinds == arena ? "" : fmt::format("kinds add up to {}, not {}", kinds, arena);
}

}  // namespace

TEST_CASE("chosen plans: 100 of random questions fit once they are laid out", "[simulate]") {
    const auto [first, count] = trials(100);
    int fitting = 0, with_gaps = 0, failures = 0;
    double most = 0;
    for (std::uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
        std::string fault;
        try {
            const Question asked = RandomQuestion(seed).question();
            const TrainingSpec chosen =
                choose_plan(asked.model, asked.machine, asked.training, kFixed).training;
            const StepPlan plan = plan_step(asked.model, asked.machine, chosen);
            const Fit fit = check_fit(plan, asked.machine, chosen);
            const Fit in_search = check_fit(plan, asked.machine, chosen, Gaps::until_it_fits);
            if (fit.fits() != in_search.fits()) fault = "the search takes it to fit, or not";
            if (!fit.fits()) continue;
            ++fitting;
            const Peak& peak = fit.device().peak;
            const Bytes gaps = peak.by_kind[static_cast<std::size_t>(MemoryKind::gaps)];
            if (gaps > 0) ++with_gaps;
            most = std::max(most, static_cast<double>(gaps) / static_cast<double>(peak.bytes));
            if (fault.empty()) fault = fault_of(asked, chosen, fit);
        } catch (const InputError&) {
            continue;  // a model or a machine that does not take the settings
        }
        if (fault.empty()) continue;
        ++failures;
        UNSCOPED_INFO("SLUICE_TRIAL=" << seed << ": " << fault);
    }
    std::printf("chosen plans: %d of %d questions fit; %d have gaps, of %.3f%% at most\n", fitting,
                static_cast<int>(count), with_gaps, 100 * most);
    CHECK(failures == 0);
    CHECK(2 * fitting > static_cast<int>(count));
}
