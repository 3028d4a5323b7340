#include "sim/answers/search/run_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <tuple>

#include "sim/answers/predict/known_plans.h"
#include "sim/answers/search/advise_grid.h"
#include "sim/answers/search/least_run.h"
#include "sim/answers/search/ways_on_machine.h"
#include "sim/base/format.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/simulate/simulation_service.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/money_options.h"

namespace sluice {

PlannedScenario run_scenario(const RunQuestion& question) {
    PlannedScenario out;
    out.model.model = model_of(question.model);
    const std::int64_t batch =
        std::max<std::int64_t>(1, task_record(question.task).tokens_of_a_step / question.context);
    out.training = {{"batch", std::to_string(batch)}, {"seq", std::to_string(question.context)}};
    if (question.compute) out.training["compute"] = *question.compute;
    out.money = {{"tokens", fmt::format("{:.15g}", question.tokens)}};
    if (question.limits.days) out.money["days"] = fmt::format("{:.15g}", *question.limits.days);
    if (question.limits.usd) out.money["budget_usd"] = fmt::format("{:.15g}", *question.limits.usd);
    if (question.quotes) out.money["quotes"] = *question.quotes;
    return out;
}

std::optional<PlannedMachine> owned_machine(const RunQuestion& question) {
    if (question.owned.empty()) return std::nullopt;
    PlannedMachine out{question.owned, question.owned_memory, {}};
    if (!question.owned_gpus) return out;
    const MachineSpec node = read_machine({question.owned, {}, {}}).spec;
    std::int64_t gpus = *question.owned_gpus;
    const std::int64_t joined = joins_gpus(node) ? node.interconnect.gpus_per_node : gpus;
    if (gpus > joined && gpus % joined != 0)
        throw InputError(
            fmt::format("--owned-gpus is {}, expected at most the {} GPUs of a node of {}, or "
                        "whole nodes",
                        gpus, joined, question.owned),
            "owned_gpus");
    gpus = std::min(gpus, joined);
    if (static_cast<double>(gpus) != node.host.gpus)
        out.settings.push_back(fmt::format("host.gpus={}", gpus));
    return out;
}

std::vector<PlannedMachine> tried_machines(const RunQuestion& question) {
    std::vector<PlannedMachine> out;
    if (const auto owned = owned_machine(question)) out.push_back(*owned);
    const std::vector<Quote> quotes =
        question.quotes ? read_quotes(*question.quotes) : std::vector<Quote>();
    const auto add = [&](const std::string& id) {
        const PlannedMachine machine{id, {}, {}};
        if (std::ranges::find(out, machine) == out.end()) out.push_back(machine);
    };
    std::ranges::for_each(priced_machines(quotes), add);
    // A quote may be for another size of host memory.
    for (const Quote& quote : quotes)
        if (quote.usd_per_hour > 0) add(quote.machine);
    return out;
}

void try_ways(const RunQuestion& question, const std::function<void(RunWay)>& found,
              const RunProgress& progress) {
    const PlannedScenario asked = run_scenario(question);
    // A mistake gives one sentence, not one for each machine.
    read_model(asked.model);
    const TrainingSpec training = read_training(asked);
    const double step = static_cast<double>(training.tokens());
    if (question.most_tokens && !question.limits.any())
        throw InputError("--tokens is most, but neither --days nor --budget limits them; give one",
                         "tokens");
    if (question.tokens < step)
        throw InputError(
            fmt::format(
                "--tokens is \"{:.15g}\", expected at least {}, the tokens of a step; 2B is "
                "two billion",
                question.tokens, format_thousands(step)),
            "tokens");
    if (!question.owned.empty()) resolve_machine(read_machine_profile(question.owned, "--owned"));
    if (const auto owned = owned_machine(question)) read_machine(*owned);
    const std::vector<PlannedMachine> machines = tried_machines(question);
    if (!out_of_reach(question).empty()) return progress(machines.size(), machines.size());
    std::atomic<std::size_t> done = 0;
    progress(0, machines.size());
    const auto plans = std::make_shared<KnownPlans>();
    in_threads(machines.size(), [&](std::size_t i) {
        const KnownPlans::Scope scope(plans);
        ways_on_machine(question, asked, machines[i], found);
        progress(++done, machines.size());
    });
}

void predict_again(const FoundWays& asked, const std::function<void(RunWay)>& found,
                   const std::function<void()>& done) {
    in_threads(asked.ways.size(), [&](std::size_t i) {
        try {
            found(way_of(asked.question, asked.ways[i]));
        } catch (const InputError&) {
            // The others stay.
        }
        done();
    });
}

void rank(std::vector<RunWay>& ways) {
    std::ranges::sort(ways, {}, [](const RunWay& one) {
        return std::tuple(!one.fits(), !one.priced, one.most_tokens ? -one.run.tokens : 0,
                          one.priced ? one.run.spent.value : 0, one.run.days.value, one.name());
    });
}

std::vector<RunWay> all_ways(const RunQuestion& question, const RunProgress& progress) {
    std::vector<RunWay> out;
    std::mutex adding;
    try_ways(
        question,
        [&](RunWay one) {
            const std::lock_guard lock(adding);
            out.push_back(std::move(one));
        },
        [&](std::size_t done, std::size_t all) {
            const std::lock_guard lock(adding);
            if (progress) progress(done, all);
        });
    rank(out);
    return out;
}

}  // namespace sluice
