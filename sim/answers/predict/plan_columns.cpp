#include "sim/answers/predict/plan_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sim/answers/predict/linear_program.h"
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

constexpr std::size_t kLanes = StepWork::kLanes.size();
/// A solution has none of smaller amounts, which are rounding.
constexpr double kSome = 1e-3;

/// Everything of `with` that `without` lacks, over `amount`.
StepWork each_of(const StepWork& with, const StepWork& without, double amount) {
    StepWork out;
    out.add(with, 1 / amount);
    out.add(without, -1 / amount);
    return out;
}

TrainingSpec with_amount(TrainingSpec training, const Amount& amount, std::int64_t number) {
    amount.option->set(training, amount.value(number));
    return training;
}

}  // namespace

bool keeps(const Amount& amount) {
    using T = TrainingSpec;
    return amount.layers == &T::keep_last_layers || amount.layers == &T::host_kept_layers ||
           amount.layers == &T::keep_attention_layers;
}

std::vector<Amount> free_amounts(const ModelSpec& model, const PlanSpace& space) {
    std::vector<Amount> out;
    for (const HomeKind& kind : home_kinds())
        if (kind.layers != nullptr && space.may_try(kind))
            out.push_back({&training_option(kind.field()), 1, model.layer_count(), kind.layers});
    const auto choice = [&](const char* field, auto value) {
        if (space.may_set(field))
            out.push_back({&training_option(field), static_cast<double>(value), 1, nullptr});
    };
    choice("resident_tables", ResidentTables::both);
    choice("checkpoints", CheckpointPlacement::host);
    choice("saved_inputs", SavedInputs::half);
    return out;
}

std::shared_ptr<const PlanColumns> PlanColumns::of(const ModelSpec& model,
                                                   const MachineSpec& machine,
                                                   const PlanSpace& space, const TrainingSpec& base,
                                                   std::vector<Amount> amounts, Detail detail) {
    PlanColumns out(model, machine, space, base);
    const std::optional<StepWork> none = space.work(base);
    if (!none) return nullptr;
    out.work_ = *none;
    out.amounts_ = std::move(amounts);
    for (std::size_t i = 0; i < out.amounts_.size(); ++i) {
        const Amount& amount = out.amounts_[i];
        if (amount.option->get(base) != 0) continue;
        const std::int64_t many = std::max<std::int64_t>(1, amount.most / 2);
        const std::optional<StepWork> some = space.work(with_amount(base, amount, many));
        if (!some) continue;
        MixColumn column{i,
                         each_of(*some, *none, static_cast<double>(many)),
                         0,
                         0,
                         static_cast<double>(amount.most),
                         {}};
        const bool apart = detail == Detail::exact && many > 1;
        if (const auto one = apart ? space.work(with_amount(base, amount, 1)) : std::nullopt) {
            column.each = each_of(*some, *one, static_cast<double>(many - 1));
            StepWork fixed = each_of(*one, *none, 1);
            fixed.add(column.each, -1);
            column.device_fixed = fixed.device_bytes;
            column.host_fixed = fixed.host_bytes;
        }
        out.columns_.push_back(std::move(column));
    }
    for (MixColumn& column : out.columns_) {
        const Amount& amount = out.amounts_[column.amount];
        const auto kind = std::ranges::find_if(home_kinds(), [&](const HomeKind& one) {
            return one.layers == amount.layers && one.layers != nullptr && one.most != nullptr;
        });
        column.less.assign(out.columns_.size(), 0);
        if (kind == home_kinds().end()) continue;
        column.most = static_cast<double>(kind->most(model, base).layers);
        for (std::size_t other = 0; other < out.columns_.size(); ++other) {
            const TrainingSpec with =
                with_amount(base, out.amounts_[out.columns_[other].amount], 1);
            if (&out.columns_[other] != &column)
                column.less[other] =
                    column.most - static_cast<double>(kind->most(model, with).layers);
        }
    }
    return std::make_shared<const PlanColumns>(std::move(out));
}

namespace {

/// The linear program of a mixture. Its variables are the amounts, the times for which each set of
/// lanes runs in each part of the step, and how much of the work that may run in several parts
/// does so in each. The step is the sum of the times.
class MixProgram {
  public:
    MixProgram(const StepWork& base, const std::vector<MixColumn>& columns, Quiet quiet)
        : base_(base), columns_(columns) {
        for (const MixColumn& column : columns) {
            double busy = 0;
            for (std::size_t lane = kCompute + 1; lane < kLanes; ++lane)
                busy += all_seconds(column.each.lanes[lane]);
            amounts_.push_back(program_.variable((quiet == Quiet::little ? 0.01 : 0.1) * busy));
        }
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            StepWork::OfLane all = base.lanes[lane];
            for (const MixColumn& column : columns)
                if (all.bytes == 0) all = column.each.lanes[lane];
            const double seconds = all_seconds(all);
            rates_[lane] = seconds > 0 ? all.bytes / seconds : 0;
        }
    }

    /// While a set of lanes runs, each has a share of its rate.
    void add_times(const MachineSpec& machine, const TrainingSpec& training) {
        for (unsigned set = 0; set < 1u << kLanes; ++set) {
            std::array<double, kLanes> active{};
            bool all_work = true;
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                if (((set >> lane) & 1) == 0) continue;
                active[lane] = rates_[lane];
                all_work = all_work && rates_[lane] > 0;
            }
            if (!all_work) continue;
            const auto shares = lane_shares(active, machine, training);
            for (std::size_t part = 0; part < kStepParts; ++part) {
                const int time = program_.variable(1);
                times_.push_back(time);
                for (std::size_t lane = 0; lane < kLanes; ++lane)
                    if (active[lane] > 0) done_[part][lane].emplace_back(time, shares[lane]);
                if (active[kCompute] == 0 && part != kBackward) resting_.emplace_back(time, 1);
            }
        }
    }

    /// Each lane does all of its work, in the parts in which it may run.
    void add_work() {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            if (rates_[lane] > 0) add_work(lane);
        Terms rest = resting_;
        append(rest, less([](const MixColumn& column) { return column.each.rest; }));
        program_.at_least(std::move(rest), base_.rest);
    }

    void add_memory(const MemoryLimits& limits, const std::vector<bool>& used) {
        double device = base_.device_bytes, host = base_.host_bytes;
        for (std::size_t c = 0; c < columns_.size(); ++c)
            if (used[c]) device += columns_[c].device_fixed, host += columns_[c].host_fixed;
        // As shares of the limits, which keeps numbers of bytes and seconds alike.
        program_.at_least(
            less([&](const MixColumn& column) { return column.each.device_bytes / limits.device; }),
            device / limits.device - 1);
        program_.at_least(
            less([&](const MixColumn& column) { return column.each.host_bytes / limits.host; }),
            host / limits.host - 1);
    }

    /// The layers of each kind are as many as others leave; each layer keeps in one way.
    void add_counts(const std::vector<Amount>& amounts, int layers,
                    const std::vector<bool>& without) {
        Terms kept;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            Terms terms = {{amounts_[c], 1}};
            for (std::size_t other = 0; other < columns_.size(); ++other)
                if (columns_[c].less[other] != 0)
                    terms.emplace_back(amounts_[other], columns_[c].less[other]);
            program_.at_most(std::move(terms), columns_[c].most);
            if (without[c]) program_.at_most({{amounts_[c], 1}}, 0);
            if (keeps(amounts[columns_[c].amount])) kept.emplace_back(amounts_[c], 1);
        }
        if (!kept.empty()) program_.at_most(std::move(kept), layers);
    }

    void add_choices(const std::vector<Amount>& amounts, const TrainingSpec& training) {
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const Amount& amount = amounts[columns_[c].amount];
            if (amount.layers != nullptr) continue;
            if (amount.option->get(training) == amount.one)
                program_.at_least({{amounts_[c], 1}}, 1);
            else
                program_.at_most({{amounts_[c], 1}}, 0);
        }
    }

    std::optional<PlanColumns::Solution> solve() const {
        const std::optional<std::vector<double>> found = program_.least_cost();
        if (!found) return std::nullopt;
        PlanColumns::Solution out;
        for (const int amount : amounts_)
            out.amounts.push_back((*found)[static_cast<std::size_t>(amount)]);
        for (const int time : times_) out.seconds += (*found)[static_cast<std::size_t>(time)];
        return out;
    }

  private:
    using Terms = LinearProgram::Terms;
    static constexpr std::size_t kCompute = 0, kBackward = 1;

    static double all_seconds(const StepWork::OfLane& lane) {
        return std::accumulate(lane.seconds.begin(), lane.seconds.end(), 0.0);
    }
    static void append(Terms& terms, const Terms& more) {
        terms.insert(terms.end(), more.begin(), more.end());
    }
    /// The sum of something over the amounts, with the sign turned.
    Terms less(auto of_column) const {
        Terms out;
        for (std::size_t c = 0; c < columns_.size(); ++c)
            if (const double each = of_column(columns_[c]); each != 0)
                out.emplace_back(amounts_[c], -each);
        return out;
    }

    void add_work(std::size_t lane) {
        std::array<Terms, kStepParts> in_part = done_by(lane);
        for (StepParts parts = 1; parts < 1u << kStepParts; ++parts) {
            Terms all = less(
                [&](const MixColumn& column) { return column.each.lanes[lane].seconds[parts]; });
            const double base = base_.lanes[lane].seconds[parts];
            if (all.empty() && base == 0) continue;
            for (std::size_t part = 0; part < kStepParts; ++part) {
                if (((parts >> part) & 1) == 0) continue;
                const int some = program_.variable(0);
                in_part[part].emplace_back(some, -1);
                all.emplace_back(some, 1);
            }
            program_.at_least(std::move(all), base);
        }
        for (Terms& terms : in_part) program_.at_least(std::move(terms), 0);
    }
    std::array<Terms, kStepParts> done_by(std::size_t lane) const {
        std::array<Terms, kStepParts> out;
        for (std::size_t part = 0; part < kStepParts; ++part) out[part] = done_[part][lane];
        return out;
    }

    const StepWork& base_;
    const std::vector<MixColumn>& columns_;
    LinearProgram program_;
    std::vector<int> amounts_, times_;
    std::array<double, kLanes> rates_{};  ///< bytes/s of each lane alone
    std::array<std::array<Terms, kLanes>, kStepParts> done_;
    Terms resting_;  ///< between the last backward of a step and the next loss
};

}  // namespace

Seconds PlanColumns::time_of(const Planned& one) const {
    const StepOutline outline = step_outline(one.plan);
    const StepWork work = step_work(outline, space_.demands(outline.kinds, one.training), machine_);
    const std::vector<MixColumn> none;
    MixProgram program(work, none, Quiet::little);
    program.add_times(machine_, one.training);
    program.add_work();
    const std::optional<Solution> found = program.solve();
    return found ? found->seconds : 0;
}

std::optional<PlanColumns::Solution> PlanColumns::solve(const MemoryLimits& limits, Quiet quiet,
                                                        const Marked& used, const Marked& without,
                                                        const TrainingSpec* choices) const {
    MixProgram program(work_, columns_, quiet);
    program.add_times(machine_, base_);
    program.add_work();
    program.add_memory(limits, used);
    program.add_counts(amounts_, model_.layer_count(), without);
    if (choices != nullptr) program.add_choices(amounts_, *choices);
    return program.solve();
}

std::optional<PlanColumns::Solution> PlanColumns::solve_with(const TrainingSpec& training,
                                                             const MemoryLimits& limits) const {
    return solve(limits, Quiet::little, none(), none(), &training);
}

TrainingSpec PlanColumns::rounded(const std::vector<double>& amounts) const {
    constexpr double kAlmost = 1e-6;
    TrainingSpec out = base_;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const Amount& amount = amounts_[columns_[c].amount];
        const double number =
            amount.layers == nullptr ? std::round(amounts[c]) : std::floor(amounts[c] + kAlmost);
        amount.option->set(out, amount.value(static_cast<std::int64_t>(number)));
    }
    // Its option counts all of the last layers.
    if (out.keep_attention_layers > 0) {
        out.keep_attention_layers += out.keep_last_layers;
        out.keep_attention_layers =
            std::min<std::int64_t>(out.keep_attention_layers, model_.layer_count());
    }
    return out;
}

/// First without, then with what any number of a used kind takes.
std::optional<PlanColumns::Solution> PlanColumns::solve(const MemoryLimits& limits, Quiet quiet,
                                                        const Marked& without) const {
    Marked used = none();
    std::optional<Solution> found = solve(limits, quiet, used, without);
    if (!found) return std::nullopt;
    for (std::size_t c = 0; c < columns_.size(); ++c)
        used[c] = found->amounts[c] > kSome &&
                  (columns_[c].device_fixed != 0 || columns_[c].host_fixed != 0);
    if (std::ranges::find(used, true) != used.end())
        if (auto with_fixed = solve(limits, quiet, used, without)) found = std::move(with_fixed);
    return found;
}

bool PlanColumns::has(const Solution& solution, std::string_view field) const {
    for (std::size_t c = 0; c < columns_.size(); ++c)
        if (amounts_[columns_[c].amount].option->field == field) return solution.amounts[c] > kSome;
    return false;
}

double PlanColumns::device_bytes(Layers layers) const {
    for (const MixColumn& column : columns_)
        if (amounts_[column.amount].layers == layers) return column.each.device_bytes;
    return 0;
}

std::optional<Planned> PlanColumns::fastest_of_others(const MemoryLimits& limits,
                                                      Quiet quiet) const {
    const std::optional<Solution> found = solve(limits, quiet, none());
    if (!found) return std::nullopt;
    Marked without = none();
    for (std::size_t c = 0; c < columns_.size(); ++c)
        without[c] = found->amounts[c] > kSome && columns_[c].device_fixed > 0;
    return without == none() ? std::nullopt : fastest(limits, quiet, without);
}

std::optional<Planned> PlanColumns::fastest(MemoryLimits limits, Quiet quiet,
                                            const Marked& without) const {
    const MemoryLimits all = limits;
    // Where the whole plan takes more than its columns say, they get that much less, then twice.
    constexpr int kMostTries = 8;
    for (int i = 0; i < kMostTries; ++i) {
        const std::optional<Solution> found = solve(limits, quiet, without);
        if (!found) return std::nullopt;
        std::optional<Planned> one = space_.planned(rounded(found->amounts));
        if (!one) return std::nullopt;
        if (one->fits) space_.lay_out(*one);
        const double host_over = static_cast<double>(one->host_peak) - all.host;
        if (one->fits && host_over <= 0) return one;
        const double device_over = machine_.unified_memory ? 0 : -one->spare_bytes;
        const bool other = device_over <= 0 && host_over <= 0;  // gaps between buffers
        constexpr double kLeast = 0.002;
        if (device_over > 0 || other)
            limits.device -=
                all.device - limits.device + std::max(device_over, kLeast * all.device);
        if (host_over > 0)
            limits.host -= all.host - limits.host + std::max(host_over, kLeast * all.host);
        if (limits.device <= 0 || limits.host <= 0) return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace sluice
