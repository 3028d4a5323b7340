#include "sim/answers/search/search.h"

#include <algorithm>
#include <span>
#include <type_traits>

#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/plan/step_plan.h"
#include "sim/simulate/operation_cost.h"
#include "sim/simulate/simulation_service.h"
#include "sim/simulate/step_bounds.h"

namespace sluice {
namespace {

static_assert(std::is_trivially_copyable_v<SearchRow>);

StepPlan plan_of(const GridPoint& point) {
    check_training_spec(point.training);
    return plan_step(*point.model, *point.machine, point.training);
}

class Search {
  public:
    Search(const ScenarioGrid& grid, const SearchOptions& options, const ShowProgress& show)
        : grid_(grid),
          options_(options),
          show_(show),
          memory_(grid.size() * sizeof(SearchRow)),
          rows_(static_cast<SearchRow*>(memory_.data()), grid.size()),
          groups_(grid.groups()) {
        progress_.all = rows_.size();
    }

    std::vector<SearchRow> run() {
        in_processes(
            options_.processes, rows_.size(),
            [this](std::size_t i) {
                rows_[i] = bound_scenario(grid_.at(i));
                rows_[i].index = i;
            },
            [this](std::size_t done) {
                progress_.planned = done;
                show();
            });
        progress_.planned = rows_.size();
        for (std::size_t group = 0; group < groups_.size(); ++group) open(group);
        progress_.settled = static_cast<std::size_t>(std::count_if(
            rows_.begin(), rows_.end(), [](const SearchRow& row) { return !row.fits(); }));
        while (true) {
            const std::vector<std::size_t> next = next_round();
            if (next.empty()) break;
            simulate(next, options_.bands == BandsOf::simulated);
            for (const std::size_t index : next) {
                double& best = groups_[index / grid_.group_size()].best;
                best = std::max(best, rows_[index].tokens_per_s(training(index)));
                best_of_all_ = std::max(best_of_all_, best);
            }
            progress_.settled += next.size();
            progress_.simulated += next.size();
            show();
        }
        std::vector<SearchRow> rows(rows_.begin(), rows_.end());
        if (options_.bands != BandsOf::best) return rows;
        std::vector<std::size_t> best;
        for (std::size_t group = 0; group < groups_.size(); ++group)
            if (const auto index = best_of_group(grid_, rows, group)) best.push_back(*index);
        simulate(best, true);
        for (const std::size_t index : best) rows[index] = rows_[index];
        return rows;
    }

  private:
    struct Group {
        std::vector<std::size_t> candidates;  ///< scenarios that fit, the best bound first
        std::size_t next = 0;                 ///< number of simulated ones
        double best = 0;                      ///< simulated tokens/s
    };

    TrainingSpec training(std::size_t index) const { return grid_.at(index).training; }

    void open(std::size_t number) {
        Group& group = groups_[number];
        std::vector<std::pair<double, std::size_t>> order;
        const std::size_t first = number * grid_.group_size();
        for (std::size_t i = first; i < first + grid_.group_size(); ++i)
            if (rows_[i].fits()) order.emplace_back(-rows_[i].tokens_per_s_at_most(training(i)), i);
        std::sort(order.begin(), order.end());
        for (const auto& [speed, index] : order) group.candidates.push_back(index);
    }

    bool could_be_best(const Group& group, std::size_t index) const {
        if (options_.every_row) return true;
        const double most = rows_[index].tokens_per_s_at_most(training(index));
        const bool no_rival =
            options_.rival && group.best > 0 && most < best_of_all_ * (1 - *options_.rival);
        return !no_rival && most > group.best * (1 + options_.indifferent);
    }

    std::vector<std::size_t> next_round() {
        std::vector<std::size_t> next;
        for (Group& group : groups_) {
            const std::size_t most =
                options_.every_row ? group.candidates.size() : options_.in_a_round;
            for (std::size_t taken = 0; taken < most && group.next < group.candidates.size();
                 ++taken) {
                const std::size_t index = group.candidates[group.next];
                if (!could_be_best(group, index)) {
                    progress_.settled += group.candidates.size() - group.next;
                    group.next = group.candidates.size();
                    break;
                }
                ++group.next;
                next.push_back(index);
            }
        }
        show();
        return next;
    }

    void simulate(const std::vector<std::size_t>& indices, bool with_band) {
        const SearchProgress before = progress_;
        in_processes(
            options_.processes, indices.size(),
            [&](std::size_t i) {
                SearchRow& row = rows_[indices[i]];
                row = simulate_row(row, grid_.at(indices[i]), with_band);
            },
            [&](std::size_t done) {
                if (before.settled == before.all) return;  // bands of rows that are settled
                progress_.settled = before.settled + done;
                progress_.simulated = before.simulated + done;
                show();
            });
        progress_ = before;
    }

    void show() const {
        if (show_) show_(progress_);
    }

    const ScenarioGrid& grid_;
    const SearchOptions& options_;
    const ShowProgress& show_;
    const SharedMemory memory_;
    const std::span<SearchRow> rows_;
    std::vector<Group> groups_;
    double best_of_all_ = 0;  ///< simulated tokens/s
    SearchProgress progress_;
};

}  // namespace

const char* row_state_name(RowState state) {
    // In the order of the enumeration.
    static constexpr const char* kNames[] = {"excluded", "does not fit", "bounded", "simulated"};
    return kNames[static_cast<std::size_t>(state)];
}

SearchRow bound_scenario(const GridPoint& point) {
    SearchRow row;
    if (point.against_rule) return row;
    try {
        const StepPlan plan = plan_of(point);
        const Fit fit = check_fit(plan, *point.machine, point.training);
        row.device_peak = fit.device().peak.bytes;
        row.host_peak = fit.host().peak.bytes;
        row.storage_peak = fit.storage().peak.bytes;
        row.device_short = fit.device().shortfall();
        row.host_short = fit.host().shortfall();
        row.storage_short = fit.storage().shortfall();
        row.state = fit.fits() ? RowState::bounded : RowState::too_large;
        if (!fit.fits()) return row;
        row.at_least = step_bounds(plan.program,
                                   operation_demands(plan.program, *point.machine, point.training),
                                   *point.machine, point.training)
                           .at_least();
    } catch (const InputError&) {
        row.state = RowState::excluded;
    }
    return row;
}

std::optional<InputError> why_excluded(const GridPoint& point) {
    if (point.against_rule) return point.against_rule;
    try {
        (void)plan_of(point);
    } catch (const InputError& error) {
        return error;
    }
    return std::nullopt;
}

SearchRow simulate_row(const SearchRow& row, const GridPoint& point, bool with_band) {
    const Wanted wanted{.band = with_band ? Wanted::Band::always : Wanted::Band::none};
    const Prediction predicted = predict(*point.model, *point.machine, point.training, wanted);
    SearchRow out = row;
    out.state = RowState::simulated;
    out.step = predicted.step.seconds;
    if (predicted.band) {
        out.step_low = predicted.band->low;
        out.step_high = predicted.band->high;
    }
    out.bottleneck = predicted.step.bottleneck();
    return out;
}

std::optional<std::size_t> best_of_group(const ScenarioGrid& grid,
                                         const std::vector<SearchRow>& rows, std::size_t group) {
    std::optional<std::size_t> best;
    double most = 0;
    const std::size_t first = group * grid.group_size();
    for (std::size_t i = first; i < first + grid.group_size(); ++i) {
        if (rows[i].state != RowState::simulated) continue;
        const double speed = rows[i].tokens_per_s(grid.at(i).training);
        if (best && speed <= most) continue;
        best = i;
        most = speed;
    }
    return best;
}

std::vector<SearchRow> search(const ScenarioGrid& grid, const SearchOptions& options,
                              const ShowProgress& show) {
    return Search(grid, options, show).run();
}

}  // namespace sluice
