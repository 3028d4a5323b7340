// Does an order of operations that a streamed plan allows ever let two of them meet in one place,
// or in memory that one buffer hands to another? Happens-before is what lanes and waits enforce.
// Whether operations name all that they read and write, trials of orders in the trainer show
// (tests/engine/run/orders_test.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "sim/plan/schedules/streamed.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/unrolled_plan.h"

using namespace sluice;

namespace {

using LastOfLane = Clock;

/// Two operations, of which one writes, in one part of a buffer without an order. Only the latest
/// access of each lane needs a look: those before it come before.
void find_races(const Unrolled& unrolled, const StepPlan& plan, std::set<std::string>& found) {
    LastOfLane none;
    none.fill(-1);
    std::map<std::pair<BufferId, int>, std::array<LastOfLane, 2>> latest;  // reads, writes
    for (int id = 0; id < kSteps * unrolled.count(); ++id) {
        for (const BufferUse& use : unrolled.operation(id).uses) {
            if (use.as == BufferUse::As::holds) continue;
            const bool writes = use.as == BufferUse::As::writes;
            for (int part = use.part; part < use.part + use.parts; ++part) {
                auto& there =
                    latest.try_emplace({use.buffer, part}, std::array{none, none}).first->second;
                for (std::size_t with = writes ? 0 : 1; with < 2; ++with) {
                    for (const int before : there[with]) {
                        if (before < 0 || before == id || unrolled.ordered(before, id)) continue;
                        found.insert(fmt::format(
                            "{} may meet {} in {}", operation_name(unrolled.operation(before).kind),
                            operation_name(unrolled.operation(id).kind),
                            use.buffer == kStepOutcome
                                ? "the outcome"
                                : plan.memory.buffers[static_cast<std::size_t>(use.buffer)].name));
                    }
                }
                there[writes ? 1 : 0][unrolled.lane(id)] = id;
            }
        }
    }
}

/// First and last operation of each lane that uses a buffer, of one step.
struct Users {
    LastOfLane first, last;
};

std::vector<Users> users_of_buffers(const StepPlan& plan) {
    Users nobody;
    nobody.first.fill(-1);
    nobody.last.fill(-1);
    std::vector<Users> users(plan.memory.buffers.size(), nobody);
    for (int i = 0; i < static_cast<int>(plan.program.operations.size()); ++i) {
        const Operation& op = plan.program.operations[static_cast<std::size_t>(i)];
        const auto lane = op.lane.index();
        for (const BufferUse& use : op.uses) {
            const BufferId id = use.buffer;
            if (id == kStepOutcome) continue;
            Users& of = users[static_cast<std::size_t>(id)];
            if (of.first[lane] < 0) of.first[lane] = i;
            of.last[lane] = i;
        }
    }
    return users;
}

/// Buffers whose lifetimes do not overlap may share memory: all that use one must come before all
/// that use the other, in this step or the next.
void find_early_reuse(const Unrolled& unrolled, const StepPlan& plan,
                      std::set<std::string>& found) {
    const std::vector<Users> users = users_of_buffers(plan);
    const std::vector<Buffer>& buffers = plan.memory.buffers;
    const auto in_step = [](const Buffer& b) { return b.first != kWholeStep && b.first <= b.last; };
    for (std::size_t a = 0; a < buffers.size(); ++a) {
        for (std::size_t b = 0; b < buffers.size(); ++b) {
            if (buffers[a].memory != buffers[b].memory || !in_step(buffers[a]) ||
                !in_step(buffers[b]))
                continue;
            const bool same_step = buffers[a].last < buffers[b].first;
            if (!same_step && buffers[b].last >= buffers[a].first) continue;
            const int offset = same_step ? 0 : unrolled.count();
            for (const int last : users[a].last) {
                for (const int first : users[b].first) {
                    if (last < 0 || first < 0 || unrolled.ordered(last, first + offset)) continue;
                    found.insert(fmt::format("{} may still use '{}' when '{}' takes its memory",
                                             operation_name(unrolled.operation(last).kind),
                                             buffers[a].name, buffers[b].name));
                }
            }
        }
    }
}

/// Calls `use` with every combination of settings that decides an order.
template <typename Use>
void each_setting(std::int64_t layers, bool tied, Use use) {
    TrainingSpec t;
    t.batch = 4;
    t.sequence = 16;
    for (const std::int64_t depth : {1, 2, 3, 8}) {
        for (const auto& [slabs, host_slabs] : {std::pair{1, 1}, {1, 2}, {2, 0}, {4, 1}}) {
            for (const auto& [micro_batch, passes] :
                 {std::pair{4, 1}, {2, 1}, {1, 1}, {2, 2}, {1, 2}, {1, 4}}) {
                // Inputs on the device or the host, and half of them.
                for (const int place : {0, 1, 2, 3}) {
                    if (place > 0 && passes > 1) continue;
                    if (place > 1 && (micro_batch < t.batch || depth < 2)) continue;
                    for (const Clipping clipping :
                         {Clipping::automatic, Clipping::speculative, Clipping::off}) {
                        t.buffer_depth = depth;
                        t.gradient_slabs = slabs;
                        t.host_gradient_slabs = host_slabs;
                        t.micro_batch = micro_batch;
                        t.passes = passes;
                        t.checkpoints = static_cast<CheckpointPlacement>(place % 2);
                        t.saved_inputs = static_cast<SavedInputs>(place / 2);
                        t.clipping = clipping;
                        for (const auto& [resident, tables, deferred, leaving, visiting] :
                             {std::tuple{0, ResidentTables::none, 0, 0, 0},
                              {1, ResidentTables::head, 2, 0, 0},
                              {3, ResidentTables::both, 1, 0, 0},
                              {8, ResidentTables::none, 0, 0, 0},
                              {8, ResidentTables::both, 0, 0, 0},
                              {0, ResidentTables::both, 3, 0, 0},
                              {0, ResidentTables::none, 8, 0, 0},
                              {0, ResidentTables::none, 0, 8, 0},
                              {1, ResidentTables::none, 1, 3, 0},
                              {3, ResidentTables::both, 0, 1, 0},
                              {0, ResidentTables::none, 0, 0, 8},
                              {1, ResidentTables::both, 0, 0, 3},
                              {2, ResidentTables::head, 0, 0, 1},
                              {0, ResidentTables::both, 0, 2, 2}}) {
                            if (visiting > 0 && !t.updates_after_norm()) continue;
                            // States, of which a pass keeps a third or more of a layer, or little.
                            t.sequence = visiting == 8 ? 16 : 600;
                            t.recompute =
                                visiting > 0 && leaving == 0 ? Recompute::none : Recompute::full;
                            t.visiting_layers = std::min<std::int64_t>(
                                visiting, layers - std::min<std::int64_t>(resident, layers));
                            t.late_moment_layers =
                                t.updates_after_norm()
                                    ? std::clamp<std::int64_t>(
                                          3 + passes - visiting, 0,
                                          layers - std::min<std::int64_t>(resident, layers) -
                                              t.visiting_layers)
                                    : 0;
                            t.keep_last_layers = leaving == 3 && layers > 1 ? 1 : 0;
                            t.host_kept_layers =
                                place > 1
                                    ? 0
                                    : std::min<std::int64_t>(leaving, layers - t.keep_last_layers);
                            t.resident_layers = std::min<std::int64_t>(resident, layers);
                            t.deferred_layers = std::min(static_cast<std::int64_t>(deferred),
                                                         layers - t.resident_layers);
                            t.resident_tables = tables;
                            if (tied && tables == ResidentTables::head)
                                t.resident_tables = ResidentTables::both;
                            use(t);
                        }
                    }
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("streamed: nor do operations of many micro-batches", "[plan]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    const ModelSpec model = parse_generic_model("layers=4,hidden=256,vocabulary=5000");
    TrainingSpec t;
    t.sequence = 16;
    t.micro_batch = 1;
    for (const std::int64_t batch : {9, 33, 34, 63})
        for (const auto place : {CheckpointPlacement::device, CheckpointPlacement::host})
            for (const auto tables : {ResidentTables::none, ResidentTables::both})
                for (const std::int64_t leaving : {0, 1, 2, 4}) {
                    t.batch = batch;
                    t.checkpoints = place;
                    t.resident_tables = tables;
                    t.host_kept_layers = leaving;
                    CAPTURE(batch, static_cast<int>(place), static_cast<int>(tables), leaving);
                    const StepPlan plan = plan_streamed(model, machine, t, ClippedStep::ahead).step;
                    const Unrolled unrolled(plan);
                    std::set<std::string> found;
                    find_races(unrolled, plan, found);
                    find_early_reuse(unrolled, plan, found);
                    CHECK(fmt::format("{}", fmt::join(found, "; ")) == "");
                }
}

TEST_CASE("streamed: no two operations meet in one place, in any order that waits allow",
          "[plan]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    std::map<std::string, std::string> races;  // and the first setting that has each
    for (const int layers : {1, 2, 3, 5, 8}) {
        for (const bool tied : {false, true}) {
            const ModelSpec model = parse_generic_model(
                fmt::format("layers={},hidden=256,vocabulary=5000,tied={:d}", layers, tied));
            each_setting(layers, tied, [&](const TrainingSpec& t) {
                const StepPlan plan = plan_streamed(model, machine, t, ClippedStep::ahead).step;
                const Unrolled unrolled(plan);
                std::set<std::string> found;
                find_races(unrolled, plan, found);
                find_early_reuse(unrolled, plan, found);
                for (const std::string& race : found) {
                    races.emplace(
                        race,
                        fmt::format("layers {} tied {} depth {} slabs {}, {} on the"
                                    " host; passes {} micro-batches {} checkpoints {} "
                                    "clipping {} saved inputs {} resident {} tables {} deferred {} "
                                    "kept {}, {} on the host visiting {} late moments {}",
                                    layers, tied, t.buffer_depth, t.gradient_slabs,
                                    t.host_gradient_slabs, t.passes, t.micro_batches(),
                                    static_cast<int>(t.checkpoints), static_cast<int>(t.clipping),
                                    static_cast<int>(t.saved_inputs), t.resident_layers,
                                    static_cast<int>(t.resident_tables), t.deferred_layers,
                                    t.keep_last_layers, t.host_kept_layers, t.visiting_layers,
                                    t.late_moment_layers));
                }
            });
        }
    }
    for (const auto& [race, setting] : races) UNSCOPED_INFO(race << " (" << setting << ")");
    CHECK(races.empty());
}
