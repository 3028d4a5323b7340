#include <fmt/format.h>

#include "sim/answers/search/run_question.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/command_line/help.h"
#include "sim/command_line/progress_line.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/table.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/money_options.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {
namespace {

struct ChooseFlags {
    std::string model, task = task_name(Task::full_fine_tune), tokens = "1B", seq = "4096", owned;
    std::optional<std::string> days, budget, owned_gpus, owned_memory, compute;
    ScenarioFlags money;  ///< --quotes alone
    bool json = false;
};

double amount_of(const std::string& text, const char* flag, double low, double high,
                 const char* expected) {
    const std::optional<double> value = parse_amount(text);
    if (value && *value >= low && *value <= high) return *value;
    throw InputError(fmt::format("{} is \"{}\", expected {}, from {:g} to {:g}", flag, text,
                                 expected, low, high));
}

double amount_of(const std::string& text, const char* flag, const MoneyOption& option,
                 const char* expected) {
    return amount_of(text, flag, option.low, option.high, expected);
}

RunQuestion read_question(const ChooseFlags& flags) {
    RunQuestion out;
    out.model = model_of(flags.model, "--model");
    out.task = read_task(flags.task, "--task");
    out.most_tokens = flags.tokens == "most";
    if (!out.most_tokens)
        out.tokens = amount_of(flags.tokens, "--tokens", money_option("tokens"),
                               "a number of tokens such as 2B, or most");
    constexpr const char* kWhole = "a whole number of tokens such as 4096";
    const double context = amount_of(flags.seq, "--seq", 1, 1e8, kWhole);
    out.context = static_cast<std::int64_t>(context);
    if (static_cast<double>(out.context) != context)
        throw InputError(fmt::format("--seq is \"{}\", expected {}", flags.seq, kWhole));
    if (flags.days)
        out.limits.days =
            amount_of(*flags.days, "--days", money_option("days"), "a number of days such as 30");
    if (flags.budget)
        out.limits.usd = amount_of(*flags.budget, "--budget", money_option("budget_usd"),
                                   "a number of dollars such as 20000");
    out.owned = flags.owned;
    if (flags.owned_gpus) {
        constexpr const char* kCount = "a whole number of GPUs";
        const double gpus = amount_of(*flags.owned_gpus, "--owned-gpus", 1, 4096, kCount);
        out.owned_gpus = static_cast<std::int64_t>(gpus);
        if (static_cast<double>(*out.owned_gpus) != gpus)
            throw InputError(
                fmt::format("--owned-gpus is \"{}\", expected {}", *flags.owned_gpus, kCount));
    }
    out.owned_memory = flags.owned_memory;
    if (out.owned.empty() && (out.owned_gpus || out.owned_memory))
        throw InputError(fmt::format("{} is given without --owned; name the machine",
                                     out.owned_gpus ? "--owned-gpus" : "--owned-memory"));
    out.compute = flags.compute;
    const std::map<std::string, std::string>& money = flags.money.given.money;
    if (const auto quotes = money.find("quotes"); quotes != money.end())
        out.quotes = quotes->second;
    return out;
}

int run_choose(const ChooseFlags& flags) {
    const RunQuestion question = read_question(flags);
    ProgressLine line("choose");
    const std::vector<RunWay> ways = all_ways(question, [&](std::size_t done, std::size_t all) {
        line.show(done, all, "machines tried");
    });
    line.clear();
    return print(flags.json ? run_json(question, ways) : folded(run_text(question, ways)));
}

}  // namespace

void add_choose(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(app, chosen, "choose",
                                              "Which machine should train that model, by when and "
                                              "for how much? Two alternatives, and why",
                                              run_choose);
    take_models(add_option(*command, {"--model", "NAME"}, flags->model,
                           "a name of `sluice models` or its part, a size such as 70B, "
                           "or a path to a config.json"))
        ->required();
    add_option(*command,
               {"--task", fmt::format("{{{},{}}}", task_name(Task::full_fine_tune),
                                      task_name(Task::pretrain))},
               flags->task,
               fmt::format("{} (default): {} tokens a step; {}: {}. Both train all "
                           "parameters",
                           task_name(Task::full_fine_tune), step_tokens_text(Task::full_fine_tune),
                           task_name(Task::pretrain), step_tokens_text(Task::pretrain)));
    add_option(*command, {"--tokens"}, flags->tokens,
               "tokens of the run, as 500M or 2B; most: as many as --days and --budget "
               "allow; default 1B");
    add_option(*command, {"--seq"}, flags->seq, "tokens of a sequence; default 4096");
    add_option(*command, {"--days"}, flags->days,
               "days until the run must have ended; default: any");
    add_option(*command, {"--budget,--budget-usd"}, flags->budget,
               "dollars for the whole run; default: any");
    add_option(*command, {"--owned", "NAME"}, flags->owned,
               "a machine that you have, a node with all its GPUs: it costs its "
               "electricity alone");
    add_option(*command, {"--owned-gpus"}, flags->owned_gpus,
               "GPUs of the owned machine; default: all of a node");
    add_option(*command, {"--owned-memory", "SIZE"}, flags->owned_memory,
               "its host memory, as 512GB; default: the machine's own");
    const Option& compute = training_option("compute");
    add_option(*command, {option_flag(compute), option_value(compute)}, flags->compute,
               described(option_brief(compute), option_help(compute)));
    add_quotes_flag(*command, flags->money);
    add_json_flag(*command, flags->json);
}

}  // namespace sluice
