#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/answers/validate/operation_errors.h"
#include "sim/answers/validate/published.h"
#include "sim/answers/validate/validation.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/cli/progress.h"
#include "sim/command_line/help.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/report.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

constexpr int kBeyondLimit = 1;

struct ValidateFlags {
    std::vector<std::string> files;
    PlannedMachine machine;
    std::optional<std::string> model, overlay_file, html_file, svg_file;
    std::optional<std::string> limit, limit_mean, limit_memory;  ///< "5%"
    bool json = false, csv = false, operations = false;
    std::size_t worst = 12;
};

/// "5%" -> 0.05.
std::optional<double> parse_percent(const std::optional<std::string>& text, const char* flag) {
    if (!text) return std::nullopt;
    double value = 0;
    const char* const end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data(), end, value);
    const bool whole = error == std::errc() && end - rest == 1 && *rest == '%';
    if (!whole || !(value > 0 && value <= 1000))
        throw InputError(
            fmt::format("{} is \"{}\", expected a percentage above 0, as in 5%", flag, *text));
    return value / 100;
}

Limits parse_limits(const ValidateFlags& flags) {
    return {parse_percent(flags.limit, "--limit"), parse_percent(flags.limit_mean, "--limit-mean"),
            parse_percent(flags.limit_memory, "--limit-memory")};
}

/// Prints on standard error which runs exceed a limit.
int check_limits(const Validation& validation, const Limits& limits) {
    const std::vector<std::string> beyond = beyond_limits(validation, limits);
    for (const std::string& sentence : beyond) fmt::print(stderr, "sluice: {}\n", sentence);
    return beyond.empty() ? 0 : kBeyondLimit;
}

std::string text_of(const Validation& validation, const ValidateFlags& flags) {
    if (flags.csv) return validation_csv(validation);
    if (!flags.operations)
        return flags.json ? validation_json(validation) : validation_text(validation);
    const OperationErrors errors = operation_errors(validation.runs, flags.worst);
    return flags.json ? validation_json(validation, &errors)
                      : validation_text(validation) + operation_errors_text(errors);
}

void check_flags(const ValidateFlags& flags) {
    std::vector<std::string> inputs = flags.files;
    inputs.push_back(flags.machine.machine);
    inputs.push_back(flags.model.value_or(""));
    check_outputs(
        flags.json, flags.csv,
        {{"--overlay", flags.overlay_file}, {"--html", flags.html_file}, {"--svg", flags.svg_file}},
        inputs);
    if (flags.csv && flags.operations)
        throw InputError("--csv has one line per run; for --operations give --json or neither");
}

std::string overlay_of(const Validation& validation) {
    if (validation.runs.size() != 1)
        throw InputError(fmt::format("--overlay shows one run, but {} are given; name one report",
                                     validation.runs.size()));
    const RunComparison& run = validation.runs.front();
    if (!run.measured)
        throw InputError(fmt::format(
            "{}: operations is missing, so --overlay has nothing to show; measure again with this "
            "version",
            run.run.file));
    return overlay_chrome_trace(run.predicted, *run.measured);
}

/// A CSV line has no room for them.
void print_notes(const Validation& validation) {
    for (const auto* sentences : {&validation.other_machines, &validation.left_out})
        for (const std::string& sentence : *sentences) fmt::print(stderr, "sluice: {}\n", sentence);
}

/// Whether the files are tables of published rows, each of which names its machine.
bool are_published(const std::vector<std::string>& files) {
    const auto published =
        static_cast<std::size_t>(std::count_if(files.begin(), files.end(), holds_published_rows));
    if (published != 0 && published != files.size())
        throw InputError(
            fmt::format("{}: some are tables of published rows and some are measured runs; compare "
                        "them separately",
                        fmt::join(files, ", ")));
    return published != 0;
}

int run_published(const ValidateFlags& flags) {
    if (!flags.machine.machine.empty() || flags.machine.host_memory ||
        !flags.machine.settings.empty())
        throw InputError(
            "--machine, --host-memory and --set apply to measured runs; a published row names its "
            "own machine and settings");
    if (flags.csv || flags.operations || flags.html_file || flags.svg_file || flags.overlay_file)
        throw InputError(
            "--csv, --operations, --html, --svg and --overlay apply to measured runs; for "
            "published rows give --json or none");
    const PublishedTable table = with_progress(
        "validate", [&] { return compare_published(read_published_rows(flags.files)); });
    print(flags.json ? published_json(table) : published_text(table));
    const std::vector<std::string> beyond = unexplained(table);
    for (const std::string& sentence : beyond) fmt::print(stderr, "sluice: {}\n", sentence);
    return beyond.empty() ? 0 : kBeyondLimit;
}

int run_validate(const ValidateFlags& flags) {
    if (are_published(flags.files)) return run_published(flags);
    check_flags(flags);
    if (flags.machine.machine.empty())
        throw InputError("--machine is missing; name the machine that the runs were measured on");
    const Limits limits = parse_limits(flags);
    const MachineSpec machine = read_machine(flags.machine).spec;
    const Validation validation = with_progress("validate", [&] {
        return validate(read_measured_runs(flags.files, flags.model), machine);
    });
    // Mistakes are refused before any file is written.
    const std::string overlay = flags.overlay_file ? overlay_of(validation) : "";
    if (flags.html_file) write_file(*flags.html_file, validation_html(validation));
    if (flags.svg_file) write_file(*flags.svg_file, to_svg(scatter_picture(validation)));
    if (flags.overlay_file) write_file(*flags.overlay_file, overlay);
    if (flags.csv) print_notes(validation);
    print(text_of(validation, flags));
    return check_limits(validation, limits);
}

}  // namespace

void add_validate(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(
        app, chosen, "validate",
        "How near are predictions to measured runs, and what makes the difference?", run_validate);
    command
        ->add_option("files", flags->files,
                     "reports of sluice-train --report, tables of other systems' steps, or folders "
                     "of them. A report's folder names its group. Reports of one name, group and "
                     "configuration become one row with their mean step. Tables of published rows, "
                     "such as validation/published, name their machines")
        ->required();
    add_machine_flags(*command, flags->machine);
    take_models(add_option(*command, {"--model", "FILE"}, flags->model,
                           "the config.json for reports whose model name is not known here"));
    add_option(*command, {"--limit", "N%"}, flags->limit,
               "exit with status 1 if tokens/s of a run are off by more, as in 5%");
    add_option(*command, {"--limit-mean", "N%"}, flags->limit_mean,
               "the same for the mean error of tokens/s over all runs");
    add_option(*command, {"--limit-memory", "N%"}, flags->limit_memory,
               "the same for device and host memory of a run");
    add_json_flag(*command, flags->json);
    command->add_flag("--csv", flags->csv, "one line per run")->group("Output");
    command
        ->add_flag("--operations", flags->operations,
                   "show which kinds of operation make the error. A kind explains, to first order, "
                   "the sum of its errors in duration, each times the share of the operation on "
                   "the critical path (mean of measured and predicted)")
        ->group("Output");
    add_option(*command, {"--worst", "N", "Output"}, flags->worst,
               "how many single operations --operations lists; default 12")
        ->check(CLI::Range(0, 100000).description(""));
    add_option(*command, {"--html", "FILE", "Output"}, flags->html_file,
               "write one page that needs no other file: tables, a scatter plot, one bar per run");
    add_option(*command, {"--svg", "FILE", "Output"}, flags->svg_file,
               "write the scatter plot of tokens/s");
    add_option(*command, {"--overlay", "FILE", "Output"}, flags->overlay_file,
               "for one run: write both timelines as a Chrome trace, lane by lane");
}

}  // namespace sluice
