#include "sim/answers/search/advise.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <type_traits>

#include "sim/answers/predict/plan_choice.h"
#include "sim/simulate/simulation_service.h"

namespace sluice {
namespace {

class Adviser {
  public:
    Adviser(const ScenarioGrid& grid, const AdviceRequest& request)
        : grid_(grid), request_(request) {}

    Advice run(int processes, const ShowProgress& show) {
        advice_.model_name = grid_.models.front().name;
        advice_.layers = grid_.models.front().layer_count();
        advice_.machine_id = grid_.machines.front().id;
        rows_ =
            search(grid_, {false, BandsOf::none, kIndifferent, request_.knee, 1, processes}, show);
        count_rows();
        choose(processes);
        if (advice_.best)
            look_around();
        else
            find_nearest();
        return std::move(advice_);
    }

  private:
    AdvisedSettings settings(std::size_t index) const {
        return {grid_.at(index).training, rows_[index]};
    }

    void count_rows() {
        advice_.combinations = rows_.size();
        std::map<std::string, LeftOut> by_field;
        for (const SearchRow& row : rows_) {
            if (row.state == RowState::excluded) {
                const std::optional<InputError> why = why_excluded(grid_.at(row.index));
                LeftOut& left_out = by_field[why->field()];
                if (++left_out.count == 1) left_out = {why->field(), why->what(), 1};
            }
            if (row.state == RowState::too_large) ++advice_.too_large;
            if (row.state == RowState::bounded) ++advice_.bounded;
            if (row.state == RowState::simulated) ++advice_.simulated;
        }
        for (auto& [field, left_out] : by_field) advice_.left_out.push_back(std::move(left_out));
    }

    void choose(int processes) {
        std::vector<TrainingSpec> starts;
        for (std::size_t group = 0; group < grid_.groups(); ++group)
            if (const auto index = best_of_group(grid_, rows_, group)) {
                advice_.by_batch.push_back(settings(least_memory_near(*index)));
                starts.push_back(advice_.by_batch.back().training);
            } else if (const SearchRow* const row = nearest(group)) {
                starts.push_back(settings(row->index).training);
            }
        // The grid has no resident layers or tables, with which more fits and less is copied, and
        // not every number of kept layers.
        advice_.by_batch = with_chosen_plans(starts, processes);
        const auto slower = [](const AdvisedSettings& a, const AdvisedSettings& b) {
            return a.tokens_per_s() < b.tokens_per_s();
        };
        const std::vector<AdvisedSettings>& by_batch = advice_.by_batch;
        if (by_batch.empty()) return;
        advice_.best = *std::max_element(by_batch.begin(), by_batch.end(), slower);
        const double most = advice_.best->tokens_per_s();
        advice_.reaches_least = most >= request_.least_tokens_per_s;
        const double enough = std::max(most * (1 - request_.knee), request_.least_tokens_per_s);
        const auto knee =
            std::find_if(by_batch.begin(), by_batch.end(),
                         [&](const AdvisedSettings& one) { return one.tokens_per_s() >= enough; });
        if (knee != by_batch.end() && knee->training.batch < advice_.best->training.batch)
            advice_.knee = *knee;
        add_bands();
    }

    /// The fastest plan of each, where one fits.
    std::vector<AdvisedSettings> with_chosen_plans(const std::vector<TrainingSpec>& starts,
                                                   int processes) const {
        if (starts.empty()) return {};
        static_assert(std::is_trivially_copyable_v<AdvisedSettings>);
        const SharedMemory memory(starts.size() * sizeof(AdvisedSettings));
        auto* const found = static_cast<AdvisedSettings*>(memory.data());
        in_processes(processes, starts.size(), [&](std::size_t i) {
            const PlanChoice choice = choose_plan(grid_.models.front(), grid_.machines.front(),
                                                  starts[i], request_.fixed, request_.prices);
            const GridPoint chosen = point(choice.training);
            found[i] = {choice.training, bound_scenario(chosen)};
            if (choice.step) found[i].row = simulate_row(found[i].row, chosen, false);
        });
        std::vector<AdvisedSettings> out(found, found + starts.size());
        std::erase_if(out, [](const AdvisedSettings& one) { return !one.row.fits(); });
        return out;
    }

    GridPoint point(const TrainingSpec& training) const {
        return {&grid_.models.front(), &grid_.machines.front(), training, {}};
    }

    /// The row with the least memory of those in its group that are as fast as `best` within
    /// kNoGain.
    std::size_t least_memory_near(std::size_t best) const {
        const std::size_t first = best - best % grid_.group_size();
        const double enough = settings(best).tokens_per_s() * (1 - kNoGain);
        std::size_t least = best;
        for (std::size_t i = first; i < first + grid_.group_size(); ++i) {
            if (rows_[i].state != RowState::simulated || settings(i).tokens_per_s() < enough)
                continue;
            if (memory(rows_[i]) < memory(rows_[least])) least = i;
        }
        return least;
    }
    static Bytes memory(const SearchRow& row) { return row.device_peak + row.host_peak; }

    void add_bands() {
        for (std::optional<AdvisedSettings>* settings : {&advice_.best, &advice_.knee})
            if (*settings)
                (*settings)->row =
                    simulate_row((*settings)->row, point((*settings)->training), true);
    }

    /// The neighbouring values on each axis; for a choice without an order, all other values.
    void look_around() {
        for (const std::vector<OptionAxis>* axes : {&grid_.questions, &grid_.choices})
            for (const OptionAxis& axis : *axes)
                for (const double value : values_around(axis)) add_neighbour(axis, value);
        for (const Option& option : training_options()) add_without(option);
        for (const OptionChange& other : other_numbers(request_)) add_other_numbers(other);
    }

    bool is_on_axis(const Option& option) const {
        const auto has = [&](const std::vector<OptionAxis>& axes) {
            return std::ranges::any_of(axes, [&](const OptionAxis& axis) {
                return axis.option->field == std::string_view(option.field);
            });
        };
        return has(grid_.questions) || has(grid_.choices);
    }

    /// A choice of the plan that the grid does not vary, such as resident layers.
    void add_without(const Option& option) {
        TrainingSpec training = advice_.best->training;
        if (!is_free_choice(option) || is_on_axis(option) ||
            request_.fixed.contains(option.field) ||
            option.get(training) == option.get(request_.given))
            return;
        option.set(training, option.get(request_.given));
        add({option.field, option_text(advice_.best->training, option),
             option_text(training, option)},
            training);
    }

    /// With the fastest plan of its own.
    void add_other_numbers(const OptionChange& other) {
        TrainingSpec training = advice_.best->training;
        for (const Option& option : training_options())
            if (is_free_choice(option)) option.set(training, option.get(request_.given));
        other.option->set(training, other.value);
        if (bound_scenario(point(training)).state == RowState::excluded) return;
        training = choose_plan(grid_.models.front(), grid_.machines.front(), training,
                               request_.fixed, request_.prices)
                       .training;
        add({other.option->field, option_text(request_.given, *other.option),
             option_text(training, *other.option)},
            training);
    }

    std::vector<double> values_around(const OptionAxis& axis) const {
        const double chosen = axis.option->get(advice_.best->training);
        std::vector<double> others = axis.values;
        std::erase(others, chosen);
        if (!axis.option->choices.empty()) return others;
        std::vector<double> out;
        const auto at = std::find(axis.values.begin(), axis.values.end(), chosen);
        if (at != axis.values.end()) {
            if (at != axis.values.begin()) out.push_back(at[-1]);
            if (at + 1 != axis.values.end()) out.push_back(at[1]);
            return out;
        }
        std::sort(others.begin(), others.end());
        const auto above = std::upper_bound(others.begin(), others.end(), chosen);
        if (above != others.begin()) out.push_back(above[-1]);
        if (above != others.end()) out.push_back(*above);
        return out;
    }

    /// The best settings with another value on one axis. Axes counted as parts of the batch keep
    /// that count.
    TrainingSpec changed(const OptionAxis& axis, double value) const {
        TrainingSpec out = advice_.best->training;
        for (const std::vector<OptionAxis>* axes : {&grid_.questions, &grid_.choices})
            for (const OptionAxis& one : *axes)
                one.option->set(out,
                                &one == &axis ? value : one.option->get(advice_.best->training));
        return out;
    }

    void add_neighbour(const OptionAxis& axis, double value) {
        const TrainingSpec training = changed(axis, value);
        add({axis.option->field, shown(axis, advice_.best->training), shown(axis, training)},
            training);
    }
    void add(Neighbour neighbour, const TrainingSpec& training) {
        GridPoint at = point(training);
        // The plan that is chosen beyond the grid need not keep the grid's rule.
        if (grid_.rule && !grid_.rule(advice_.best->training))
            at.against_rule = grid_.rule(training);
        neighbour.row = bound_scenario(at);
        if (neighbour.row.state == RowState::excluded) return;  // left_out has the reason
        if (neighbour.row.fits()) {
            neighbour.row = simulate_row(neighbour.row, at, false);
            compare(neighbour, training);
        }
        advice_.neighbours.push_back(std::move(neighbour));
    }

    static std::string shown(const OptionAxis& axis, const TrainingSpec& training) {
        const std::string field = axis.option->field;
        if (field == "micro_batch") return std::to_string(training.micro_batch_sequences());
        if (field == "optimizer_threads" && training.optimizer_threads == 0) return "fastest";
        return option_text(training, *axis.option);
    }

    void compare(Neighbour& neighbour, const TrainingSpec& training) const {
        const AdvisedSettings& best = *advice_.best;
        const double speed = neighbour.row.tokens_per_s(training);
        neighbour.speed_change = speed / best.tokens_per_s() - 1;
        neighbour.device_change = neighbour.row.device_peak - best.row.device_peak;
        neighbour.host_change = neighbour.row.host_peak - best.row.host_peak;
        const double as_fast = best.row.step / (1 + neighbour.speed_change);
        neighbour.within_band = as_fast > best.row.step_low && as_fast < best.row.step_high;
    }

    void find_nearest() {
        const SearchRow* least = nullptr;
        for (std::size_t group = 0; group < grid_.groups(); ++group)
            if (const SearchRow* const row = nearest(group);
                row != nullptr && (least == nullptr || short_by(*row) < short_by(*least)))
                least = row;
        if (least != nullptr) advice_.nearest = settings(least->index);
    }

    static Bytes short_by(const SearchRow& row) {
        return row.device_short + row.host_short + row.storage_short;
    }

    /// The row of the group that does not fit by the least memory; null if rules leave all out.
    const SearchRow* nearest(std::size_t group) const {
        const SearchRow* least = nullptr;
        const std::size_t first = group * grid_.group_size();
        for (std::size_t i = first; i < first + grid_.group_size(); ++i)
            if (rows_[i].state == RowState::too_large &&
                (least == nullptr || short_by(rows_[i]) < short_by(*least)))
                least = &rows_[i];
        return least;
    }

    const ScenarioGrid& grid_;
    const AdviceRequest& request_;
    std::vector<SearchRow> rows_;
    Advice advice_;
};

}  // namespace

Advice advise(const ScenarioGrid& grid, const AdviceRequest& request, int processes,
              const ShowProgress& show) {
    return Adviser(grid, request).run(processes, show);
}

std::optional<double> MachineAdvice::usd_per_million_tokens() const {
    constexpr double kSecondsAnHour = 3600;
    if (!price || !advice || !advice->best) return std::nullopt;
    return price->usd_per_hour / kSecondsAnHour / advice->best->tokens_per_s() * kMega;
}

namespace {

/// The choice of the least `value`, where it has one.
template <typename Value>
const MachineAdvice* least(const std::vector<MachineAdvice>& machines, Value value) {
    const MachineAdvice* best = nullptr;
    for (const MachineAdvice& one : machines)
        if (one.is_choice() && value(one) && (best == nullptr || *value(one) < *value(*best)))
            best = &one;
    return best;
}

}  // namespace

const MachineAdvice* best_machine(const std::vector<MachineAdvice>& machines) {
    return least(machines, [](const MachineAdvice& one) {
        return std::optional(-one.advice->best->tokens_per_s());
    });
}

const MachineAdvice* cheapest_machine(const std::vector<MachineAdvice>& machines) {
    return least(machines, std::mem_fn(&MachineAdvice::usd_per_million_tokens));
}

std::vector<std::string> near_best_machine(const std::vector<MachineAdvice>& machines) {
    std::vector<std::string> out;
    const MachineAdvice* const best = best_machine(machines);
    if (best == nullptr) return out;
    const AdvisedSettings& first = *best->advice->best;
    const double least = static_cast<double>(first.training.tokens()) / first.row.step_high;
    for (const MachineAdvice& one : machines) {
        if (&one == best || !one.is_choice()) continue;
        const AdvisedSettings& other = *one.advice->best;
        const double most = static_cast<double>(other.training.tokens()) / other.row.step_low;
        if (most > least) out.push_back(one.machine);
    }
    return out;
}

}  // namespace sluice
