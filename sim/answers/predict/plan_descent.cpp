#include "sim/answers/predict/plan_descent.h"

#include <algorithm>
#include <cmath>

#include "sim/plan/homes/home_kind.h"
#include "sim/plan/moves.h"
#include "sim/plan/sizes.h"

namespace sluice {
namespace {

bool counts_layers(const Amount& amount) { return amount.layers != nullptr; }

bool keeps_on_device(const Amount& amount) {
    return keeps(amount) && amount.layers != &TrainingSpec::host_kept_layers;
}

/// It takes the memory that others leave.
bool fills(const Amount& amount) {
    return amount.layers == &TrainingSpec::keep_last_layers ||
           amount.layers == &TrainingSpec::resident_layers;
}

/// Equal for trainings with the same plan.
std::vector<double> key(TrainingSpec training) {
    if (training.keep_attention_layers <= training.keep_last_layers && !training.saves_half())
        training.keep_attention_layers = 0;
    return option_values(training);
}

/// A smaller step changes too little.
std::int64_t finest_step(const ModelSpec& model) {
    return std::max<std::int64_t>(1, model.layer_count() / 32);
}

/// The kind whose layers take the memory that other changes leave, or give what they need.
Layers filler(const ModelSpec& model, const TrainingSpec& training) {
    const bool some_attention =
        training.keep_attention_layers > 0 && training.keep_attention_layers < model.layer_count();
    return some_attention && training.keep_last_layers == 0 ? &TrainingSpec::keep_attention_layers
                                                            : &TrainingSpec::keep_last_layers;
}

}  // namespace

PlanDescent::PlanDescent(const ModelSpec& model, const TrainingSpec& asked, const PlanSpace& space,
                         PlanTrials& trials)
    : model_(model),
      asked_(asked),
      space_(space),
      trials_(trials),
      amounts_(free_amounts(model, space)) {}

void PlanDescent::add(const Planned& start, std::shared_ptr<const PlanColumns> columns) {
    std::optional<Planned> one = filled(start.training, *columns);
    if (!one) return;
    // The bound knows the order of the work.
    const Seconds promised = std::max(columns->time_of(*one) * trials_.least_bill(*one),
                                      trials_.estimated(*one, 1).billed);
    starts_.push_back({*std::move(one), std::move(columns), promised});
}

bool PlanDescent::any() {
    std::ranges::stable_sort(starts_, {}, &Start::promised);
    starts_.resize(std::min(starts_.size(), kMostStarts));
    return std::ranges::any_of(starts_, [this](Start& one) {
        return laid_out(std::move(one.planned), *one.columns).has_value();
    });
}

void PlanDescent::run() {
    constexpr std::size_t kMostDescents = 5;
    constexpr double kFar = 1.08;
    std::ranges::stable_sort(starts_, {}, &Start::promised);
    std::vector<At> begun;
    // Steps take so much longer than was promised, at least.
    double over_promise = kNever;
    for (std::size_t i = 0; i < std::min(starts_.size(), kMostStarts); ++i) {
        Start& start = starts_[i];
        const double least = over_promise == kNever ? 1 : (1 + over_promise) / 2;
        if (!trials_.could_gain(start.promised * least)) break;
        std::optional<Planned> planned = laid_out(std::move(start.planned), *start.columns);
        if (!planned) continue;
        PlanTrials::Tried tried = trials_.try_beyond(*planned, 1);
        // Others near it may gain where it cannot.
        if (tried.over_bound == kNever) tried.over_bound = 1;
        begun.push_back({*std::move(planned), tried, start.columns});
        try_ends(begun.back());
        over_promise = std::min(over_promise, begun.back().tried.timed.billed / start.promised);
    }
    const auto billed = [](const At& at) { return at.tried.timed.billed; };
    std::ranges::stable_sort(begun, {}, billed);
    const auto far = std::ranges::find_if(
        begun, [&](const At& at) { return billed(at) > kFar * billed(begun.front()); });
    begun.erase(far, begun.end());
    if (begun.size() > kMostDescents) begun.erase(begun.begin() + kMostDescents, begun.end());
    // All of them roughly, then the best to the end.
    std::int64_t stride = std::max(finest_step(model_), model_.layer_count() / std::int64_t{16});
    for (At& at : begun) try_steps(at, stride);
    if (begun.empty()) return;
    At& best = *std::ranges::min_element(begun, {}, billed);
    for (bool moved = true; moved || stride > finest_step(model_);) {
        stride = std::max(finest_step(model_), stride / 2);
        moved = try_steps(best, stride);
    }
}

/// None or all of a kind: a mixture promises too much of some whose work comes in bursts, and too
/// little where the last layer frees a buffer.
void PlanDescent::try_ends(At& at) {
    for (const Amount& amount : amounts_) {
        if (!counts_layers(amount) || fills(amount)) continue;
        for (const std::int64_t end : {std::int64_t{0}, amount.most}) {
            TrainingSpec training = at.planned.training;
            amount.option->set(training, static_cast<double>(end));
            try_step(at, within_most(training, at.planned.training));
        }
    }
}

/// Tries each direction once, and goes on along it while steps are faster. Returns whether one was.
bool PlanDescent::try_steps(At& at, std::int64_t stride) {
    const auto stepped = [&](TrainingSpec training, const Amount& amount, std::int64_t by) {
        const auto now = static_cast<std::int64_t>(amount.option->get(training));
        amount.option->set(training,
                           static_cast<double>(std::clamp<std::int64_t>(now + by, 0, amount.most)));
        return training;
    };
    bool moved = false;
    const auto go = [&](auto changed) {
        while (try_step(at, within_most(changed(at.planned.training), at.planned.training)))
            moved = true;
    };
    for (const Amount& amount : amounts_)
        if (counts_layers(amount))
            for (const std::int64_t by : {stride, -stride})
                go([&](const TrainingSpec& from) { return stepped(from, amount, by); });
    // The filling kind takes the memory that two kinds free together.
    const auto is_paired = [&](const Amount& amount) {
        const bool is_there = amount.option->get(at.planned.training) > 0 ||
                              at.columns->device_bytes(amount.layers) > 0;
        return counts_layers(amount) && is_there && !keeps_on_device(amount);
    };
    for (const Amount& first : amounts_)
        for (const Amount& second : amounts_) {
            if (&first == &second || !is_paired(first) || !is_paired(second)) continue;
            go([&](const TrainingSpec& from) {
                return stepped(stepped(from, second, -stride), first, stride);
            });
            if (&first < &second)
                for (const std::int64_t by : {stride, -stride})
                    go([&](const TrainingSpec& from) {
                        return stepped(stepped(from, second, by), first, by);
                    });
        }
    if (stride > finest_step(model_)) return moved;
    for (const TrainingSpec& other : other_choices(at.planned.training))
        moved = try_step(at, other) || moved;
    return moved;
}

/// Goes there if it is faster.
bool PlanDescent::try_step(At& at, const TrainingSpec& training) {
    if (key(training) == key(at.planned.training)) return false;
    std::optional<Planned> one = filled(training, *at.columns);
    if (!one) return false;
    const double over_bound = (1 + at.tried.over_bound) / 2;
    const Seconds than = at.tried.timed.billed;
    if (!trials_.may_gain(*one, over_bound, than)) return false;
    one = laid_out(*std::move(one), *at.columns);
    if (!one) return false;
    seen_.insert(key(one->training));
    const PlanTrials::Tried tried = trials_.try_beyond(*one, over_bound, than);
    if (tried.over_bound == kNever || tried.timed.billed >= at.tried.timed.billed) return false;
    at.planned = *std::move(one);
    at.tried = tried;
    return true;
}

/// With as many layers of the filling kind as fit without gaps; empty if none do, or if that was
/// seen before.
std::optional<Planned> PlanDescent::filled(TrainingSpec training, const PlanColumns& columns) {
    struct Best {
        TrainingSpec training;
        std::optional<Planned> made;
    };
    std::optional<Best> best;
    std::optional<PlannedBytes> one;
    const auto take = [&] {
        std::optional<Planned> made;
        one = space_.bytes(training, made);
        if (one && one->fits) best = {training, std::move(made)};
    };
    take();
    const Layers layers = filler(model_, training);
    const double each = columns.device_bytes(layers);  // 0 where the number is not free
    if (one && each > 0 && training.recompute != Recompute::none) {
        std::int64_t least = best ? training.*layers : 0, most = model_.layer_count();
        if (!best) most = training.*layers - 1;
        while (least <= most) {
            const auto change = static_cast<std::int64_t>(std::floor(one->spare_bytes / each));
            const std::int64_t next = std::clamp(training.*layers + change, least, most);
            if (best && next == best->training.*layers) break;
            training.*layers = next;
            take();
            if (!one) break;
            if (one->fits) {
                least = next + 1;
                if (one->spare_bytes < each) break;
            } else {
                most = next - 1;
            }
        }
    }
    if (!best || !seen_.insert(key(best->training)).second) return std::nullopt;
    if (!best->made) best->made = space_.planned(best->training);
    return space_.timeable(*std::move(best->made));
}

/// With as few layers of the filling kind less as leave room for the gaps, too.
std::optional<Planned> PlanDescent::laid_out(Planned one, const PlanColumns& columns) const {
    const Layers layers = filler(model_, one.training);
    const double each = columns.device_bytes(layers);
    while (true) {
        space_.lay_out(one);
        if (one.fits) return one;
        if (each <= 0 || one.training.recompute == Recompute::none) return std::nullopt;
        TrainingSpec training = one.training;
        training.*layers -= std::max<std::int64_t>(
            1, static_cast<std::int64_t>(std::ceil(-one.spare_bytes / each)));
        if (training.*layers < 0) return std::nullopt;
        std::optional<Planned> less = space_.planned(training);
        if (!less) return std::nullopt;
        one = space_.timeable(*std::move(less));
    }
}

/// A layer count that had all layers that it may have, has so after the change, too.
TrainingSpec PlanDescent::within_most(TrainingSpec changed, const TrainingSpec& before) const {
    for (const HomeKind& kind : home_kinds()) {
        if (kind.most == nullptr || !space_.is_free(kind.field())) continue;
        const Layers layers = kind.layers;
        const std::int64_t most = kind.most(model_, changed).layers;
        const bool all = before.*layers > 0 && changed.*layers == before.*layers &&
                         before.*layers == kind.most(model_, before).layers;
        changed.*layers = all ? most : std::min(changed.*layers, most);
    }
    return changed;
}

/// Choices of two values taken the other way, and more buffers.
std::vector<TrainingSpec> PlanDescent::other_choices(const TrainingSpec& from) const {
    std::vector<TrainingSpec> out;
    for (const Amount& amount : amounts_) {
        if (counts_layers(amount)) continue;
        TrainingSpec other = from;
        amount.option->set(other, amount.option->get(from) == 0 ? amount.one : 0);
        out.push_back(other);
    }
    if (space_.may_set("host_gradient_slabs") &&
        from.host_gradient_slabs == asked_.host_gradient_slabs) {
        TrainingSpec more = from;
        more.host_gradient_slabs = 2 * host_gradient_slabs(asked_);
        out.push_back(more);
    }
    return out;
}

}  // namespace sluice
