// Which machines are proposed for a run, why, and what must a reader know about each?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/answers/cost/run_limits.h"
#include "sim/answers/search/least_run.h"
#include "sim/answers/search/run_question.h"
#include "sim/base/json_text.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/beside_speed.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"
#include "sim/specs/machine/default_host.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

/// Why more GPUs are paid for than train: " for 4 of the 8 GPUs of a node: one trains, ...".
std::string paid_for(const Payment& payment, std::int64_t train) {
    if (!payment.paid) return "";
    const PaidGpus& paid = *payment.paid;
    if (paid.of <= 1) return " for the whole machine";
    std::string out = fmt::format(" for {:g} of {:g} GPUs", paid.gpus, paid.of);
    if (paid.gpus <= static_cast<double>(train)) return out;
    if (paid.part != NodePart::gpus)
        out += fmt::format(": {} trains, but the plan needs the {} of {:g}", train,
                           node_part_name(paid.part), paid.needed);
    else
        out += fmt::format(": {} trains", train);
    if (paid.gpus > paid.needed) out += ", and this offer rents no fewer";
    return out;
}

/// The precision of the optimizer's state, for a reader who has not met it.
std::string precision_of(const TrainingSpec& training) {
    return bytes_of_states(training).full()
               ? "optimizer state in full precision"
               : fmt::format("optimizer state in reduced precision ({})", states_of(training));
}

/// Why a way has no plan that fits, and the command of settings that would, if any are known.
struct Misfit {
    bool owned = false;
    std::string sentence, command;
};

std::vector<Misfit> misfits_of(const std::vector<RunWay>& ways) {
    std::vector<Misfit> out;
    for (const RunWay& one : ways) {
        if (one.fits()) continue;
        const Prediction& report = one.answer->report();
        const auto& suggestions = report.advice.suggestions;
        out.push_back(
            {one.owned,
             misfit_sentence(fmt::format("{}{} with {}", one.owned ? "your machine " : "",
                                         one.name(), report.asked.training.schedule->name),
                             report),
             suggestions.empty()
                 ? ""
                 : command_line(with_settings(one.answer->planned, suggestions.front().settings))});
    }
    std::ranges::stable_sort(out, std::greater(), &Misfit::owned);  // first in JSON
    return out;
}

/// Those of the owned machine, or the others; a command has a line of its own.
std::string misfit_lines(const std::vector<Misfit>& misfits, bool owned, std::string_view indent) {
    std::string out;
    for (const Misfit& one : misfits) {
        if (one.owned != owned) continue;
        out += fmt::format("{}{}\n", indent, one.sentence);
        if (!one.command.empty()) out += fmt::format("{}  {}\n", indent, one.command);
    }
    return out;
}

/// Commands that tell more of a way: its step, and all ways to pay for it.
std::vector<std::string> commands_of(const RunWay& one) {
    return {command_line(one.answer->planned), command_line(one.answer->planned, "cost")};
}

/// The command that compares the picks which are paid for and have full states, each once; "" if
/// fewer than two are left. With the most tokens, those of the first pick.
std::string report_command(const RunQuestion& question, const std::vector<RunWay>& ways,
                           const std::vector<RunPick>& picks) {
    std::string machines;
    std::size_t count = 0;
    std::set<std::string> named;
    RunQuestion of_tokens = question;
    if (question.most_tokens && !picks.empty())
        of_tokens.tokens = ways[picks.front().candidate].run.tokens;
    const PlannedScenario run = run_scenario(of_tokens);
    for (const RunPick& pick : picks) {
        const RunWay& one = ways[pick.candidate];
        if (one.owned || one.is_bought() || !one.has_full_states() ||
            !named.insert(one.name()).second)
            continue;
        machines +=
            one.gpus() == 1
                ? " --machine " + shell_quoted(one.machine())
                : fmt::format(" --cluster {}",
                              shell_quoted(fmt::format("{}:{}", one.machine(), one.gpus())));
        ++count;
    }
    return count < 2 ? ""
                     : fmt::format("./dev run sluice report{}{}{} --out choice.html",
                                   scenario_flags(run), machines, money_flags(run));
}

/// The best purchase within a budget that ends in time. Precondition: rank().
std::string purchase_words(const RunQuestion& question, const std::vector<RunWay>& ways) {
    if (!question.limits.usd) return "";
    const auto best = std::ranges::find_if(
        ways, [&](const RunWay& one) { return one.is_bought() && meets(question, one); });
    const std::string limits = limits_name(question.limits);
    if (best == ways.end())
        return fmt::format(" No machine whose purchase price is known meets {} if it is bought.",
                           limits);
    return fmt::format(" The {} that meets {}: {}, {}.",
                       question.most_tokens ? "purchase with the most tokens" : "cheapest purchase",
                       limits, format_gpus(best->gpus(), best->machine()), time_and_money(*best));
}

/// By how much the limits are missed at least, in the best case of each.
std::string out_of_reach_words(const RunQuestion& question, const std::vector<LeastRun>& least) {
    const RunLimits& limits = question.limits;
    const auto bounds = [&](const LeastRun& one) {
        std::string out = fmt::format("{} takes at least {}", one.name(), format_days({one.days}));
        if (limits.days && one.days > *limits.days)
            out += fmt::format(" ({} after the deadline)", format_days({one.days - *limits.days}));
        out += fmt::format(" and costs at least {}", format_usd(one.usd));
        if (limits.usd && one.usd > *limits.usd)
            out += fmt::format(" ({} more than the budget)", format_usd(one.usd - *limits.usd));
        return out;
    };
    std::string out = fmt::format(
        "No way can meet {}, even if the GPUs did the matrix products of {} at their highest rate "
        "and nothing else, so no plan was searched. The nearest: {}.",
        limits_name(limits), question.most_tokens ? "a single step" : tokens_words(question),
        bounds(least.front()));
    const LeastRun& cheapest = *std::ranges::min_element(least, {}, &LeastRun::usd);
    const LeastRun& fastest = *std::ranges::min_element(least, {}, &LeastRun::days);
    if (limits.usd && cheapest.name() != least.front().name())
        out += fmt::format(" The cheapest: {}.", bounds(cheapest));
    if (limits.days && fastest.name() != least.front().name())
        out += fmt::format(" The fastest: {}.", bounds(fastest));
    return out;
}

Table least_runs_table(const std::vector<LeastRun>& least) {
    return table_of<LeastRun>(
        least,
        std::vector<ColumnOf<LeastRun>>{
            {"way", "way", &LeastRun::name},
            {"machine", "", &LeastRun::machine},
            {"gpus", "", Unit::whole, &LeastRun::gpus},
            {"owned", "", Unit::flag, &LeastRun::owned},
            {"bought", "", Unit::flag, &LeastRun::bought},
            {"least_days", "days at least", Unit::ratio,
             [](auto& one) { return Cell(one.days).shown_as(fmt::format("{:.3g}", one.days)); }},
            {"least_spent_usd", "$ at least", Unit::usd, &LeastRun::usd}});
}

/// "llama-3.1-70b (70.55 B parameters): fine-tuning on 2 B tokens in 30 days".
std::string question_line(const RunQuestion& question, const std::string& model,
                          std::int64_t parameters) {
    return fmt::format("{} ({} parameters): {} on {}{}\n", model,
                       format_count(static_cast<double>(parameters)), task_name(question.task),
                       tokens_words(question), limits_words(question.limits));
}

}  // namespace

Table ways_table(const RunQuestion& question, const std::vector<RunWay>& ways) {
    const auto if_priced = [](auto value) {
        return [value](const RunWay& one) { return one.priced ? Cell(value(one)) : Cell(); };
    };
    std::vector<ColumnOf<RunWay>> columns = {
        {"way", "way", [](auto& one) { return Cell(one.name()).cut_as(one.short_name()); }},
        {"tokens", question.most_tokens ? "tokens" : "", Unit::whole,
         [](auto& one) {
             return Cell(one.run.tokens).shown_as(format_short_count(one.run.tokens));
         }},
        {"machine", "", &RunWay::machine},
        {"gpus", "", Unit::whole, &RunWay::gpus},
        {"owned", "", Unit::flag, &RunWay::owned},
        {"bought", "", Unit::flag, &RunWay::is_bought},
        {"meets", question.limits.any() ? "meets all" : "", Unit::flag,
         [&](auto& one) {
             if (!one.priced && ends_in_time(question.limits, one.run))
                 return Cell().shown_as("no price");
             const bool may_miss = meets(question, one) &&
                                   !limit_warnings(question.limits, one.run, one.priced).empty();
             return may_miss ? Cell(true).shown_as("maybe") : Cell(meets(question, one));
         }},
        {"days", "days", Unit::ratio,
         [](auto& one) {
             return Cell(one.run.days.value).shown_as(fmt::format("{:.3g}", one.run.days.value));
         }},
        {"usd", "", Unit::usd, if_priced([](auto& one) { return one.run.usd.value; })},
        {"spent_usd", "$", Unit::usd, if_priced([](auto& one) { return one.run.spent.value; })},
        {"spent_usd_{}_percent", "5 to 95%", Unit::usd,
         if_priced([](auto& one) { return range_of(one.run.spent); })},
        {"usd_per_hour", "$ an hour", Unit::usd,
         if_priced([](auto& one) { return one.run.usd_per_hour; })},
        {"tokens_per_s", "tokens/s", Unit::whole,
         [](auto& one) { return one.answer->report().tokens_per_s(); }},
        {"settings", "",
         [](auto& one) { return settings_flags(one.answer->report().asked.training); }}};
    add_beside_speed(columns, "tokens_per_s",
                     [](const RunWay& one) { return &one.answer->report().asked; });
    std::vector<RunWay> fitting;
    std::ranges::copy_if(ways, std::back_inserter(fitting), &RunWay::fits);
    return table_of<RunWay>(fitting, columns);
}

std::string ways_summary(const RunQuestion& question, const std::vector<RunWay>& ways) {
    if (ways.empty())
        if (const std::vector<LeastRun> least = out_of_reach(question); !least.empty())
            return out_of_reach_words(question, least);
    std::ptrdiff_t fitting = 0, meeting = 0;
    std::set<std::string> unpriced, alone, one_node, without;
    std::vector<PlannedMachine> unfitting = tried_machines(question);
    std::erase(unfitting, owned_machine(question).value_or(PlannedMachine()));
    for (const RunWay& one : ways) {
        const MachineSpec& machine = one.answer->scenario.machine;
        if (machine.host.gpus > 1 && !joins_gpus(machine)) alone.insert(one.machine());
        if (joins_gpus(machine) && !machine.interconnect.has_network())
            one_node.insert(one.machine());
        if (!one.fits()) continue;
        ++fitting;
        meeting += meets(question, one);
        std::erase(unfitting, one.answer->planned.machine);
        const std::string& no_rent = one.answer->cost.no_rent;
        if (!one.priced)
            unpriced.insert(no_rent.empty() ? one.name()
                                            : fmt::format("{} ({})", one.name(), no_rent));
    }
    std::string out = fitting == 0
                          ? "The model fits no machine with a price"
                          : fmt::format("{} {} in memory", format_number_of(fitting, "way"),
                                        fitting == 1 ? "fits" : "fit");
    if (const std::string limits = limits_name(question.limits); !limits.empty() && fitting > 0)
        out += fmt::format("; {} of them {} {}", meeting, meeting == 1 ? "meets" : "meet", limits);
    out += ".";
    if (fitting > 0) out += purchase_words(question, ways);
    for (const PlannedMachine& one : unfitting) without.insert(one.machine);
    const auto add = [&](const char* sentence, const std::set<std::string>& names) {
        if (!names.empty()) out += fmt::format(" {}: {}.", sentence, fmt::join(names, ", "));
    };
    add("Not proposed, since no price is known", unpriced);
    add("Tried with one GPU alone, since it is not known which GPUs are connected how fast", alone);
    add("Tried with one node alone, since the rate of the network is not known", one_node);
    add("Left out, since no program that runs there today has a plan that fits", without);
    if (!question.owned.empty() && std::ranges::none_of(ways, &RunWay::owned))
        out += fmt::format(
            " Your machine {} has no plan: no program that runs there today has one that fits, or "
            "a "
            "number of the machine is not known.",
            question.owned);
    return out;
}

std::vector<std::string> run_warnings(const RunQuestion& question, const RunWay& one) {
    std::vector<std::string> out = limit_warnings(question.limits, one.run, one.priced);
    const HostMemory host = host_memory_of(one.answer->scenario.profile);
    if (host.assumed && one.gpus() == 1)
        out.push_back("Its " + host_memory_caveat(host, !one.owned) + ".");
    return out;
}

std::string run_explanation(const RunWay& one) {
    const Prediction& r = one.answer->report();
    const BytesByKind& host = r.plan.fit.host().peak.by_kind;
    const bool on_host = host[static_cast<std::size_t>(MemoryKind::optimizer_state)] > 0 ||
                         host[static_cast<std::size_t>(MemoryKind::weights)] > 0;
    const std::string memory =
        r.asked.training.schedule->several_gpus
            ? " splits the model and its optimizer states over the GPUs."
        : on_host ? " trains on one GPU, and the host's memory holds what the GPU does not."
                  : " trains on one GPU, whose memory holds everything.";
    const std::string step = fmt::format(
        " {} tokens/s with {} tokens a step and {}.", format_thousands(r.tokens_per_s()),
        format_thousands(static_cast<double>(r.asked.training.tokens())),
        precision_of(r.asked.training));
    const auto& payment = one.answer->cost.payment;
    const std::string paid =
        one.owned || !payment
            ? ""
            : fmt::format(" You pay {} an hour{} ({}).", format_usd(one.run.usd_per_hour),
                          paid_for(*payment, one.gpus()), offer_words(*payment));
    return r.asked.runs_today.program + memory + step + paid;
}

std::string run_text(const RunQuestion& question, const std::vector<RunWay>& ways) {
    if (const std::vector<LeastRun> least =
            ways.empty() ? out_of_reach(question) : std::vector<LeastRun>();
        !least.empty()) {
        const ModelSpec model = read_model(run_scenario(question).model);
        return question_line(question, model.name, total_parameters(model)) + "\n" +
               out_of_reach_words(question, least) + "\n" + to_text(least_runs_table(least));
    }
    const std::vector<Misfit> misfits = misfits_of(ways);
    if (std::ranges::none_of(ways, &RunWay::fits))
        return ways_summary(question, ways) + "\n" + misfit_lines(misfits, true, "") +
               misfit_lines(misfits, false, "");
    const AskedStep& asked = ways.front().answer->report().asked;
    std::string out = question_line(question, asked.model_name, asked.parameters);
    out += fmt::format(
        "{} tokens a step, in sequences of {}. Each way has its fastest settings; clusters have "
        "at most {} nodes.\n",
        format_thousands(static_cast<double>(asked.training.tokens())),
        format_thousands(static_cast<double>(asked.training.sequence)), kMostNodesTried);
    if (const std::string own = misfit_lines(misfits, true, ""); !own.empty()) out += "\n" + own;
    int number = 0;
    const std::vector<RunPick> picks = pick_ways(question, ways);
    for (const RunPick& pick : picks) {
        const RunWay& one = ways[pick.candidate];
        out += fmt::format("\n{}. {}: {}\n", ++number, one.name(), time_and_money(one));
        std::vector<std::string> sentences = run_warnings(question, one);
        sentences.insert(sentences.begin(), pick.why);
        out += fmt::format("   {}\n   {}\n", fmt::join(sentences, " "), run_explanation(one));
        for (const std::string& command : commands_of(one)) out += fmt::format("   {}\n", command);
    }
    out += fmt::format("\n{}\n", ways_summary(question, ways));
    if (const std::string others = misfit_lines(misfits, false, "  "); !others.empty())
        out +=
            "There, a plan of one GPU lacks this memory, even with the smallest states of its "
            "system:\n" +
            others;
    out += fmt::format(
        "{}\n`./dev predict` tells the memory and the time of a step, `sluice "
        "cost` all ways to pay for it.",
        to_text(ways_table(question, ways)));
    const std::string report = report_command(question, ways, picks);
    return out + (report.empty() ? "\n"
                                 : fmt::format(" One page on the machines that are paid for, each "
                                               "with its fastest plan:\n{}\n",
                                               report));
}

std::string run_json(const RunQuestion& question, const std::vector<RunWay>& ways) {
    Json picks = Json::array(), do_not_fit = Json::array();
    for (const Misfit& one : misfits_of(ways))
        do_not_fit.push_back(one.sentence + (one.command.empty() ? "" : " " + one.command));
    for (const RunPick& pick : pick_ways(question, ways)) {
        const RunWay& one = ways[pick.candidate];
        picks.push_back({{"way", one.name()},
                         {"time_and_money", time_and_money(one)},
                         {"why", pick.why},
                         {"warnings", run_warnings(question, one)},
                         {"explanation", run_explanation(one)},
                         {"commands", commands_of(one)}});
    }
    Json out = {{"model", model_of(question.model)},
                {"task", task_name(question.task)},
                {"tokens", question.most_tokens ? Json("most") : Json(question.tokens)},
                {"seq", question.context},
                {"deadline_days", question.limits.days ? Json(*question.limits.days) : Json()},
                {"budget_usd", question.limits.usd ? Json(*question.limits.usd) : Json()},
                {"picks", std::move(picks)},
                {"summary", ways_summary(question, ways)},
                {"do_not_fit", do_not_fit},
                {"ways", to_json(ways_table(question, ways), true)}};
    if (ways.empty())
        if (const std::vector<LeastRun> least = out_of_reach(question); !least.empty())
            out["least"] = to_json(least_runs_table(least), true);
    return readable_json(out);
}

}  // namespace sluice
