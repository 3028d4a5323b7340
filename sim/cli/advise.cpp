#include "sim/answers/search/advise.h"

#include <fmt/format.h>

#include "sim/answers/predict/predict.h"
#include "sim/answers/search/advise_grid.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/cli/progress.h"
#include "sim/command_line/help.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/table.h"
#include "sim/specs/scenario/price.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

struct AdviseFlags {
    ScenarioFlags scenario;
    std::vector<std::string> machines, prices;
    std::optional<std::string> state_bytes, most_batch, least_speed, knee, most_usd;
    int workers = 0;
    bool planned_too = false, json = false;
};

double number_of(const std::string& text, const char* flag, double low, double high,
                 const char* expected) {
    const std::optional<double> value = parse_number(text);
    if (value && *value >= low && *value <= high) return *value;
    throw InputError(fmt::format("{} is \"{}\", expected {}", flag, text, expected));
}

/// Removes a project's settings that advise chooses itself: those for speed and memory, and with
/// --most-batch the batch.
PlannedScenario asked_of(const AdviseFlags& flags) {
    PlannedScenario base = base_scenario(flags.scenario);
    forget_free_choices(base);
    if (flags.most_batch) base.training.erase("batch");
    return with_flags(std::move(base), flags.scenario);
}

AdviceRequest read_request(const AdviseFlags& flags, const PlannedScenario& asked) {
    AdviceRequest request = advice_request(asked);
    if (flags.most_batch) {
        request.most_batch = static_cast<std::int64_t>(number_of(
            *flags.most_batch, "--most-batch", 1, 1e6, "a number of sequences from 1 to 1000000"));
        if (request.fixed.contains("batch"))
            throw InputError("--batch fixes the batch, so --most-batch has no effect; give one");
    }
    if (flags.least_speed)
        request.least_tokens_per_s =
            number_of(*flags.least_speed, "--tokens-per-s", 0, 1e15, "a number of tokens a second");
    if (flags.knee)
        request.knee = number_of(*flags.knee, "--knee", 0, 50, "a percentage from 0 to 50") / 100;
    if (flags.state_bytes) {
        request.state_bytes = {12};
        for (const std::string& one : split_list(*flags.state_bytes)) {
            const double bytes_given = parse_number(one).value_or(0);
            const auto bytes = static_cast<std::int64_t>(bytes_given);
            if (find_state_precision(bytes) == nullptr || static_cast<double>(bytes) != bytes_given)
                throw InputError(
                    fmt::format("--allow-state-bytes is \"{}\", expected {}, or several as in 8,6",
                                *flags.state_bytes, state_bytes_choices()));
            if (std::find(request.state_bytes.begin(), request.state_bytes.end(), bytes) ==
                request.state_bytes.end())
                request.state_bytes.push_back(bytes);
        }
    }
    return request;
}

/// The price that --price gives, else the typical rent.
std::optional<Payment> price_of(const std::string& machine, const PriceList& rents,
                                const std::map<std::string, double>& prices,
                                const NodeShare& share) {
    const auto given = prices.find(machine);
    if (given == prices.end()) return typical_rent(rents, share);
    Payment out;
    out.name = "--price";
    out.origin = "as given";
    out.usd_per_hour = given->second;
    return out;
}

std::string over_budget(const std::optional<Payment>& price, const std::optional<double>& most) {
    if (!most) return "";
    if (!price) return "has no price in its profile; give --price NAME=DOLLARS";
    if (price->usd_per_hour <= *most) return "";
    return fmt::format("costs {} an hour ({}), more than {}", format_usd(price->usd_per_hour),
                       payment_words(*price), format_usd(*most));
}

Advice advise_with_progress(const ScenarioGrid& grid, const AdviceRequest& request, int processes) {
    ProgressLine line("advise");
    ShowProgress show;
    if (line.terminal())
        show = [&line](const SearchProgress& progress) { sluice::show(line, progress); };
    return advise(grid, request, processes, show);
}

int run_advise(const AdviseFlags& flags) {
    PlannedScenario asked = asked_of(flags);
    const std::vector<std::string> names =
        flags.machines.empty() ? std::vector{asked.machine.machine} : flags.machines;
    AdviceRequest request = read_request(flags, asked);
    const std::map<std::string, double> prices = read_prices(flags.prices, names);
    std::optional<double> most_usd;
    if (flags.most_usd)
        most_usd = number_of(*flags.most_usd, "--max-usd-per-hour", 0, 1e9, "dollars an hour");
    const std::vector<Quote> quotes = read_money(asked).quotes;
    const int workers = processes_of(flags.workers);
    const ModelSpec model = read_model(asked.model);
    std::vector<MachineAdvice> machines;
    std::vector<MachineSpec> specs;
    std::vector<PriceList> rents;
    std::vector<ScenarioGrid> grids;  // all mistakes before any work
    for (const std::string& name : names) {
        asked.machine.machine = name;
        const ProfiledMachine read = read_machine(asked.machine);
        const MachineSpec& machine = specs.emplace_back(read.spec);
        rents.push_back(price_list(read.profile, quotes));
        // The share of a node is known with the plan; until then, that of its GPUs.
        const NodeShare least{static_cast<double>(request.given.gpus), machine.host.gpus};
        machines.push_back(
            {machine.id, price_of(name, rents.back(), prices, least), "", std::nullopt});
        machines.back().left_out = over_budget(machines.back().price, most_usd);
        grids.push_back(advice_grid(model, machine, request));
    }
    for (std::size_t i = 0; i < machines.size(); ++i) {
        MachineAdvice& one = machines[i];
        if (!one.left_out.empty()) continue;
        request.prices = rents[i];
        one.advice = advise_with_progress(grids[i], request, workers);
        if (!one.advice->best) continue;
        const Prediction best = predict(model, specs[i], one.advice->best->training);
        one.price = price_of(names[i], rents[i], prices, best.share);
        one.left_out = over_budget(one.price, most_usd);
        one.asked = best.asked;
        if (!flags.planned_too && !best.asked.runs_today.runs())
            one.left_out = "does not train it this way today: " + best.asked.runs_today.why_not;
    }
    return print(flags.json ? advice_json(machines, request)
                            : folded(advice_text(machines, request)));
}

void add_constraint_flags(CLI::App& command, AdviseFlags& flags) {
    add_option(command, {"--most-batch", "N", "Constraints"}, flags.most_batch,
               "largest batch to choose [sequences]; default 1,024");
    add_option(command, {"--allow-state-bytes", "N[,N...]", "Constraints"}, flags.state_bytes,
               "smaller optimizer states that may be chosen: 8, 6, 5, 4 or several, as in 8,6");
    add_option(command, {"--tokens-per-s", "N", "Constraints"}, flags.least_speed,
               "least tokens/s to accept; default: any speed");
    add_option(command, {"--max-usd-per-hour", "N", "Constraints"}, flags.most_usd,
               "leave out machines that cost more");
    add_option(command, {"--price", "NAME=N", "Constraints"}, flags.prices,
               "NAME=DOLLARS an hour for a machine; default: the median of its rents");
    add_option(command, {"--knee", "N", "Constraints"}, flags.knee,
               "tokens/s that the smaller batch may lose against the best [percent]; default 2");
}

}  // namespace

void add_advise(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(
        app, chosen, "advise",
        "Which settings are the best for that model on that machine, and why?", run_advise);
    add_scenario_flag(*command, flags->scenario);
    command->get_option("--scenario")
        ->description(
            "FILE or FILE:NAME, a scenario of a project that the planner saved; flags override it. "
            "Settings that change only speed and memory are chosen anyway; --most-batch chooses "
            "the batch too");
    add_model_flags(*command, flags->scenario.given.model);
    add_machine_flags(*command, flags->scenario.given.machine);
    command->remove_option(command->get_option("--machine"));
    add_option(*command, {"--machine", "NAME", "Model and machine"}, flags->machines,
               "as for predict; from several, the fastest is chosen too");
    add_planned_too_flag(*command, flags->planned_too);
    add_workers_flag(*command, flags->workers);
    add_quotes_flag(*command, flags->scenario);
    add_constraint_flags(*command, *flags);
    add_option_flags(*command, flags->scenario.given.training, "; if given, it is fixed");
    add_json_flag(*command, flags->json);
}

}  // namespace sluice
