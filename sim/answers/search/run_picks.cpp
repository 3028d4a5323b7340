// Which ways are proposed for a run?
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/answers/cost/run_limits.h"
#include "sim/answers/search/run_question.h"
#include "sim/base/format.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

constexpr const char* kBought = ", bought";

bool ends_in_time(const RunQuestion& question, const RunWay& one) {
    return ends_in_time(question.limits, one.run);
}
bool within_budget(const RunQuestion& question, const RunWay& one) {
    return meets({.days = {}, .usd = question.limits.usd}, one.run, one.priced);
}

/// 1 if it meets both, else the factor by which it misses the one it misses more.
double miss(const RunQuestion& question, const RunWay& one) {
    return std::max({1.0, question.limits.days ? one.run.days.value / *question.limits.days : 0,
                     question.limits.usd ? one.run.spent.value / *question.limits.usd : 0});
}

bool cheaper(const RunWay& a, const RunWay& b) { return a.run.spent.value < b.run.spent.value; }
bool faster(const RunWay& a, const RunWay& b) { return a.run.days.value < b.run.days.value; }
bool trains_more(const RunWay& a, const RunWay& b) { return a.run.tokens > b.run.tokens; }

/// At most three ways.
class Picks {
  public:
    explicit Picks(const std::vector<RunWay>& candidates) : candidates_(candidates) {}

    /// Adds the best way by `less` that `may` be proposed and is not proposed yet. `why_next`: if a
    /// proposed one is better.
    template <typename May, typename Less>
    void add(const May& may, const Less& less, const std::string& why,
             const std::string& why_next = "") {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const RunWay& one = candidates_[i];
            const bool taken = std::ranges::any_of(
                out_, [&](const RunPick& before) { return before.candidate == i; });
            if (taken || !one.fits() || !one.priced || !may(one)) continue;
            if (!best || less(one, candidates_[*best])) best = i;
        }
        if (!best || out_.size() == 3) return;
        const bool is_next = std::ranges::any_of(out_, [&](const RunPick& before) {
            const RunWay& other = candidates_[before.candidate];
            return may(other) && less(other, candidates_[*best]);
        });
        out_.push_back({*best, is_next && !why_next.empty() ? why_next : why});
    }
    bool empty() const { return out_.empty(); }
    const RunWay& first() const { return candidates_[out_.front().candidate]; }
    bool has_machine_of(const RunWay& one) const {
        return std::ranges::any_of(out_, [&](const RunPick& before) {
            return candidates_[before.candidate].machine() == one.machine();
        });
    }
    std::vector<RunPick> take() { return std::move(out_); }

  private:
    const std::vector<RunWay>& candidates_;
    std::vector<RunPick> out_;
};

/// Those that train the most tokens. `may`: with states that may be proposed.
template <typename May>
std::vector<RunPick> pick_most(const RunQuestion& question, Picks out, const May& may,
                               bool full_meets) {
    out.add(may, trains_more,
            fmt::format("It trains the most tokens that {} allows.", limits_name(question.limits)));
    out.add(
        [&](auto& one) {
            return full_meets && !one.has_full_states() && meets(question, one) &&
                   trains_more(one, out.first());
        },
        trains_more,
        "It trains more, with optimizer states in reduced precision: losses can differ.");
    out.add([&](auto& one) { return may(one) && !out.has_machine_of(one); }, trains_more,
            "It trains the next most, on another machine.");
    out.add(may, trains_more, "It trains the next most.");
    return out.take();
}

}  // namespace

std::string tokens_words(const RunQuestion& question) {
    return question.most_tokens ? "the most tokens"
                                : format_short_count(question.tokens) + " tokens";
}

std::string RunWay::name() const {
    return format_gpus(gpus(), machine()) + (is_bought() ? kBought : "");
}

std::string RunWay::short_name() const {
    const std::string& id = answer->report().asked.machine_id;  // of a path: the file's name
    return cut_to_letters(format_gpus(gpus(), id), kMostNameLetters, is_bought() ? kBought : "");
}

bool RunWay::has_full_states() const {
    return bytes_of_states(answer->report().asked.training).full();
}

bool meets(const RunQuestion& question, const RunWay& one) {
    return one.fits() && one.priced && one.run.tokens > 0 &&
           meets(question.limits, one.run, one.priced);
}

std::vector<std::size_t> near_misses(const std::vector<RunWay>& ways) {
    constexpr std::size_t kMost = 3;
    const bool any_fits = std::ranges::any_of(ways, &RunWay::fits);
    const bool owned_fits =
        std::ranges::any_of(ways, [](const RunWay& one) { return one.owned && one.fits(); });
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < ways.size(); ++i)
        if (!ways[i].fits() && (ways[i].owned ? !owned_fits : !any_fits)) out.push_back(i);
    std::ranges::stable_sort(out, {}, [&](std::size_t i) {
        const Prediction& report = ways[i].answer->report();
        double most = 0;  // over what the memory offers
        for (const Fit::OfMemory& one : report.plan.fit.memories)
            if (one.shortfall() > 0)
                most = std::max(most, static_cast<double>(one.peak.bytes) /
                                          std::max(1.0, static_cast<double>(one.usable)));
        return std::tuple(!ways[i].owned, report.advice.suggestions.empty(), most);
    });
    out.resize(std::min(out.size(), kMost));
    return out;
}

std::string time_and_money(const RunWay& one) {
    const std::string days =
        (one.most_tokens ? format_short_count(one.run.tokens) + " tokens: " : "") +
        format_days(one.run.days);
    if (!one.priced)
        return days +
               (one.owned ? "; the power of your machine is not known" : "; no price is known");
    const bool alone = one.owned && one.run.kwh_scope == EnergyScope::gpu_alone;
    const std::string out = fmt::format("{}, {}", days, format_usd(one.run.spent.value));
    if (one.run.usd_at_once > 0)
        return fmt::format("{}, of which {} buy it; this run's part is {}", out,
                           format_usd(one.run.usd_at_once), format_usd(one.run.usd.value));
    return out + (alone       ? " for electricity of its GPUs, without the host's"
                  : one.owned ? " for electricity"
                              : "");
}

std::vector<RunPick> pick_ways(const RunQuestion& question, const std::vector<RunWay>& candidates) {
    Picks out(candidates);
    // Smaller states are another training: proposed last, unless nothing else meets both.
    const bool full_meets = std::ranges::any_of(candidates, [&](const RunWay& one) {
        return one.has_full_states() && meets(question, one);
    });
    const auto meets_both = [&](auto& one) {
        return meets(question, one) && (one.has_full_states() || !full_meets);
    };
    if (question.most_tokens) return pick_most(question, out, meets_both, full_meets);
    const auto any = [](auto&) { return true; };
    if (std::ranges::any_of(candidates, meets_both)) {
        const std::string limits = limits_name(question.limits);
        out.add(
            [&](auto& one) { return meets_both(one) && one.owned; }, cheaper,
            limits.empty() ? "You own it." : fmt::format("You own it, and it meets {}.", limits));
        const auto best = [&](const auto& less) {
            const RunWay* first = nullptr;
            for (const RunWay& one : candidates)
                if (meets_both(one) && (first == nullptr || less(one, *first))) first = &one;
            return first;
        };
        const bool both = out.empty() && best(cheaper) == best(faster);
        const std::string of =
            limits.empty() ? "." : fmt::format(" of the ways that meet {}.", limits);
        out.add(meets_both, cheaper,
                (both ? "It costs the least and is the fastest" : "It costs the least") + of,
                "It is the next cheapest" + of);
        if (!both)
            out.add(meets_both, faster, "It is the fastest" + of, "It is the next fastest" + of);
        out.add(
            [&](auto& one) {
                return full_meets && !one.has_full_states() && meets(question, one) &&
                       cheaper(one, out.first());
            },
            cheaper,
            "It costs less, with optimizer states in reduced precision: losses can differ.");
        out.add([&](auto& one) { return meets_both(one) && !out.has_machine_of(one); }, cheaper,
                "It is the next cheapest on another machine.");
        out.add(meets_both, cheaper, "It is the next cheapest.");
        return out.take();
    }
    out.add(
        any, [&](auto& a, auto& b) { return miss(question, a) < miss(question, b); },
        fmt::format("No way meets {}; this one comes nearest.", limits_name(question.limits)));
    if (question.limits.days)
        out.add([&](auto& one) { return ends_in_time(question, one); }, cheaper,
                "It is the cheapest that ends in time.",
                "It is the next cheapest that ends in time.");
    if (question.limits.usd)
        out.add([&](auto& one) { return within_budget(question, one); }, faster,
                "It is the fastest within the budget.",
                "It is the next fastest within the budget.");
    out.add(any, cheaper, "It is the cheapest, however long it takes.",
            "It is the next cheapest, however long it takes.");
    return out.take();
}

}  // namespace sluice
