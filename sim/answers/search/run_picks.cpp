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

bool ends_in_time(const RunQuestion& question, const RunWay& one) {
    return ends_in_time(question.limits, one.run);
}
bool within_budget(const RunQuestion& question, const RunWay& one) {
    return meets({.days = {}, .usd = question.limits.usd}, one.run, one.priced);
}

/// 1 if it meets both, else the factor by which it misses the one it misses more.
double miss(const RunQuestion& question, const RunWay& one) {
    return std::max({1.0, question.limits.days ? one.run.days.value / *question.limits.days : 0,
                     question.limits.usd ? one.run.usd.value / *question.limits.usd : 0});
}

}  // namespace

std::string RunWay::name() const { return format_gpus(gpus(), machine()); }

bool RunWay::has_full_states() const {
    return bytes_of_states(answer->report().asked.training).full();
}

bool meets(const RunQuestion& question, const RunWay& one) {
    return one.fits() && one.priced && meets(question.limits, one.run, one.priced);
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
        for (const Fit::OfTier* const tier :
             {&report.plan.fit.device, &report.plan.fit.host, &report.plan.fit.storage})
            if (tier->shortfall() > 0)
                most = std::max(most, static_cast<double>(tier->peak.bytes) /
                                          std::max(1.0, static_cast<double>(tier->usable)));
        return std::tuple(!ways[i].owned, report.advice.suggestions.empty(), most);
    });
    out.resize(std::min(out.size(), kMost));
    return out;
}

std::string time_and_money(const RunWay& one) {
    const std::string days = format_days(one.run.days);
    if (!one.priced)
        return days +
               (one.owned ? "; the power of your machine is not known" : "; no price is known");
    const bool alone = one.owned && one.run.kwh_scope == EnergyScope::gpu_alone;
    return fmt::format("{}, {}{}", days, format_usd(one.run.usd.value),
                       alone       ? " for electricity of its GPUs, without the host's"
                       : one.owned ? " for electricity"
                                   : "");
}

std::vector<RunPick> pick_ways(const RunQuestion& question, const std::vector<RunWay>& candidates) {
    std::vector<RunPick> out;
    /// Adds the best way by `less` that `may` be proposed and is not proposed yet. `why_next`: if a
    /// proposed one is better.
    const auto pick = [&](const auto& may, const auto& less, const std::string& why,
                          const std::string& why_next = "") {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const RunWay& one = candidates[i];
            const bool taken = std::ranges::any_of(
                out, [&](const RunPick& before) { return before.candidate == i; });
            if (taken || !one.fits() || !one.priced || !may(one)) continue;
            if (!best || less(one, candidates[*best])) best = i;
        }
        if (!best || out.size() == 3) return;
        const bool is_next = std::ranges::any_of(out, [&](const RunPick& before) {
            const RunWay& other = candidates[before.candidate];
            return may(other) && less(other, candidates[*best]);
        });
        out.push_back({*best, is_next && !why_next.empty() ? why_next : why});
    };
    const auto cheaper = [](auto& a, auto& b) { return a.run.usd.value < b.run.usd.value; };
    const auto faster = [](auto& a, auto& b) { return a.run.days.value < b.run.days.value; };
    // Smaller states are another training: proposed last, unless nothing else meets both.
    const bool full_meets = std::ranges::any_of(candidates, [&](const RunWay& one) {
        return one.has_full_states() && meets(question, one);
    });
    const auto meets_both = [&](auto& one) {
        return meets(question, one) && (one.has_full_states() || !full_meets);
    };
    const auto any = [](auto&) { return true; };
    const auto on_another = [&](auto& one) {
        return meets_both(one) && std::ranges::none_of(out, [&](const RunPick& before) {
                   return candidates[before.candidate].machine() == one.machine();
               });
    };
    if (std::ranges::any_of(candidates, meets_both)) {
        const std::string limits = limits_name(question.limits);
        pick([&](auto& one) { return meets_both(one) && one.owned; }, cheaper,
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
        pick(meets_both, cheaper,
             (both ? "It costs the least and is the fastest" : "It costs the least") + of,
             "It is the next cheapest" + of);
        if (!both)
            pick(meets_both, faster, "It is the fastest" + of, "It is the next fastest" + of);
        pick(
            [&](auto& one) {
                return full_meets && !one.has_full_states() && meets(question, one) &&
                       cheaper(one, candidates[out.front().candidate]);
            },
            cheaper,
            "It costs less, with optimizer states in reduced precision: losses can differ.");
        pick(on_another, cheaper, "It is the next cheapest on another machine.");
        pick(meets_both, cheaper, "It is the next cheapest.");
        return out;
    }
    pick(
        any, [&](auto& a, auto& b) { return miss(question, a) < miss(question, b); },
        fmt::format("No way meets {}; this one comes nearest.", limits_name(question.limits)));
    if (question.limits.days)
        pick([&](auto& one) { return ends_in_time(question, one); }, cheaper,
             "It is the cheapest that ends in time.", "It is the next cheapest that ends in time.");
    if (question.limits.usd)
        pick([&](auto& one) { return within_budget(question, one); }, faster,
             "It is the fastest within the budget.", "It is the next fastest within the budget.");
    pick(any, cheaper, "It is the cheapest, however long it takes.",
         "It is the next cheapest, however long it takes.");
    return out;
}

}  // namespace sluice
