#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>

#include "engine/device/device.h"
#include "engine/machine/stop_signals.h"
#include "engine/train/chosen_plan.h"
#include "engine/train/expected_step.h"
#include "engine/train/progress.h"
#include "engine/train/run_setup.h"
#include "engine/train/training_run.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/output_files.h"
#include "sim/command_line/program.h"
#include "sim/command_line/scenario.h"
#include "sim/report/report.h"
#include "sim/report/timeline_picture.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

struct Flags {
    ScenarioFlags scenario;
    TrainSettings settings;
    std::optional<std::string> save_memory, plan, report, trace, timeline;
};

/// The place of a name, or the number of names.
template <typename Names>
std::ptrdiff_t place_in(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
}

/// A check for CLI11; `names` must outlive it.
template <typename Names>
auto one_of(const Names& names, std::string flag, std::string expected) {
    return
        [&names, flag = std::move(flag), expected = std::move(expected)](const std::string& name) {
            return place_in(names, name) < std::ssize(names)
                       ? std::string()
                       : fmt::format("{} is \"{}\", expected {}", flag, name, expected);
        };
}

void add_optimizer_flags(CLI::App& app, TrainSettings& s) {
    // CLI11's own checks let "nan" pass.
    const auto finite = [](const std::string& text) {
        const std::optional<double> number = parse_number(text);
        return number && std::isfinite(*number) ? "" : text + " is no finite number";
    };
    const auto above_zero = [](const std::string& text) {
        return parse_number(text).value_or(0) > 0 ? "" : text + " is no number above 0";
    };
    const auto zero_or_more = [](const std::string& text) {
        return parse_number(text).value_or(-1) >= 0 ? "" : text + " is no number from 0 on";
    };
    const auto add = [&](const char* name, auto& value, const char* help) {
        return app.add_option(name, value, help)
            ->group("Optimizer")
            ->check(finite)
            ->capture_default_str();
    };
    add("--steps", s.steps, "steps in total, including those before --resume")
        ->check(CLI::Range(1, 1'000'000'000));
    add("--learning-rate", s.learning_rate, "peak learning rate")->check(above_zero);
    add("--warmup-steps", s.warmup_steps, "steps until the peak learning rate")
        ->check(CLI::Range(0, 1'000'000'000));
    app.add_option_function<std::string>(
           "--lr-schedule",
           [&s](const std::string& name) {
               s.schedule = static_cast<LearningRateKind>(place_in(kLearningRateNames, name));
           },
           "learning rate after the warm-up: cosine, constant or linear")
        ->group("Optimizer")
        ->check(one_of(kLearningRateNames, "--lr-schedule", "cosine, constant or linear"))
        ->default_str("cosine");
    add("--final-fraction", s.final_fraction, "share of the peak learning rate at the last step")
        ->check(CLI::Range(0.0, 1.0));
    add("--beta1", s.beta1, "AdamW's decay of the first moment")->check(CLI::Range(0.0, 0.999999));
    add("--beta2", s.beta2, "AdamW's decay of the second moment")->check(CLI::Range(0.0, 0.999999));
    add("--epsilon", s.epsilon, "AdamW's epsilon")->check(above_zero);
    add("--weight-decay", s.weight_decay, "decoupled weight decay; norms and biases have none")
        ->check(zero_or_more);
    add("--max-norm", s.max_norm, "gradients are clipped to this norm")->check(above_zero);
    app.add_option_function<std::string>(
           "--on-spike",
           [&s](const std::string& name) {
               s.on_spike = static_cast<OnSpike>(place_in(kOnSpikeNames, name));
           },
           "at a spike of loss or norm: go-on, skip (the step changes nothing; needs --clipping "
           "exact) or stop")
        ->group("Optimizer")
        ->check(one_of(kOnSpikeNames, "--on-spike", "go-on, skip or stop"))
        ->default_str("go-on");
    add("--spike-deviations", s.spike_deviations,
        "standard deviations above the last 128 steps from which on a step is a spike")
        ->check(above_zero);
    // CLI11 would take -1 and numbers beyond 2^64 as some other number.
    add("--seed", s.seed, "seed of initial weights, shuffling and stochastic rounding")
        ->check([](const std::string& text) {
            std::uint64_t seed = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, seed);
            return error == std::errc() && stop == end
                       ? std::string()
                       : text + " is no whole number from 0 to 2^64 - 1";
        });
    add("--init-deviation", s.init_deviation, "standard deviation of initial weights")
        ->check(above_zero);
}

void add_run_flags(CLI::App& app, Flags& flags) {
    TrainSettings& s = flags.settings;
    const auto has_name = [](const std::string& text) {
        return std::string(text.empty() ? "is empty, expected a file or folder" : "");
    };
    app.add_option("--data", s.data, "token shards (.bin), text files, or folders of them")
        ->required()
        ->check(has_name);
    app.add_option("--validation", s.validation,
                   "held-out data: its loss is found without training on it")
        ->check(has_name);
    app.add_option("--validate-every", s.validate_every,
                   "steps between two validation losses; there is one at the end, too")
        ->check(CLI::Range(1, 1'000'000'000))
        ->capture_default_str()
        ->needs("--validation");
    CLI::Option* const plan =
        app.add_option("--plan", flags.plan,
                       "a prediction of `sluice predict --json`: trains with its settings, and "
                       "compares it with the measured step; given: trains with the options given");
    app.add_option("--machine", flags.scenario.given.machine.machine,
                   "a name of `sluice machines`, or this machine's profile: trains as --plan does "
                   "with the fastest plan for it, as sluice predict chooses it beside the options "
                   "given; default: on a GPU, the machine of that list that is most like this one")
        ->excludes(plan);
    app.add_option("--load", s.load, "start from these safetensors (a file, an index, a folder)")
        ->check(has_name);
    app.add_option("--out", s.out, "folder of checkpoints")->check(has_name);
    app.add_option("--save-every", s.save_every, "steps between checkpoints; 0: at the end")
        ->check(CLI::Range(0, 1'000'000'000));
    app.add_option("--keep", s.keep,
                   "number of newest checkpoints that stay; older ones are removed")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option(
        "--save-memory", flags.save_memory,
        "host memory, as in 16GiB, with which training goes on while a checkpoint is "
        "written; 0: steps wait; default: half of what the plan leaves, as far as needed");
    app.add_flag("--save-best", s.save_best,
                 "save each step with a lower validation loss than all before, and keep the lowest "
                 "as best in --out")
        ->needs("--validation");
    app.add_flag("--resume", s.resume, "continue from the newest checkpoint in --out");
    app.add_option("--device", s.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
    app.add_option("--precision", s.precision,
                   "precision of activations: auto, bf16, or fp32 (CPU only)")
        ->capture_default_str();
    app.add_option("--host-memory", s.host_memory,
                   "host memory, as in 128GiB, if the system reports a wrong size");
    app.add_option("--cpu-threads", s.cpu_threads,
                   "threads of the CPU's kernels; 0: half the cores");
    app.add_option("--log", s.log, "append one JSON object per step to this file")->group("Output");
    app.add_option("--watch", s.watch,
                   "folder of a page that shows the run in a browser, and of TensorBoard's files")
        ->group("Output")
        ->check(has_name);
    app.add_option("--dump-batches", s.dump_batches,
                   "append each step's inputs and targets to this file, as raw int32")
        ->group("Output");
    app.add_option("--report", flags.report, "write the measured step as JSON")->group("Output");
    app.add_option("--trace", flags.trace, "write its operations as a Chrome trace")
        ->group("Output");
    app.add_option("--timeline", flags.timeline, "write its lanes over time as SVG")
        ->group("Output");
}

/// Checked before minutes of training, not after.
void check_files(const Flags& flags) {
    const TrainSettings& s = flags.settings;
    std::vector<std::string> inputs = input_files(flags.scenario);
    inputs.insert(inputs.end(), s.data.begin(), s.data.end());
    inputs.insert(inputs.end(), s.validation.begin(), s.validation.end());
    for (const auto& input : {s.load, flags.plan})
        if (input) inputs.push_back(*input);
    check_output_files({{"--report", flags.report},
                        {"--trace", flags.trace},
                        {"--timeline", flags.timeline},
                        {"--log", s.log, true},
                        {"--dump-batches", s.dump_batches, true}},
                       inputs);
}

std::optional<ExpectedStep> expected_step(const Flags& flags) {
    if (flags.plan == "given") return std::nullopt;
    if (flags.plan) return read_expected_step(*flags.plan);
    const PlannedScenario asked = asked_scenario(flags.scenario);
    const TrainSettings& s = flags.settings;
    if (!asked.machine.machine.empty()) return choose_step(asked, s.host_memory);
    const auto device = make_device(s.device, s.cpu_threads, read_host_facts());
    return choose_step_here(asked, device->facts(), s.host_memory);
}

/// The settings of the command line, with those of --plan.
PlannedScenario asked_run(const Flags& flags, const std::optional<ExpectedStep>& expected) {
    if (!expected) return asked_scenario(flags.scenario);
    const auto& given = flags.scenario.given.training;
    std::string other = flags.plan && flags.scenario.training_file ? "--training" : "";
    for (const Option& option : training_options())
        if (flags.plan && given.contains(option.field)) other = option_flag(option);
    if (!other.empty())
        throw InputError(
            fmt::format("--plan {}: gives all settings, so {} may not be given; predict with it",
                        expected->file, other));
    PlannedScenario asked = flags.scenario.given;
    asked.training = expected->training;
    return asked;
}

std::optional<Bytes> read_save_memory(const Flags& flags) {
    if (!flags.save_memory) return std::nullopt;
    if (*flags.save_memory == "0") return 0;
    return static_cast<Bytes>(parse_memory_size(*flags.save_memory, "--save-memory"));
}

int train(const Flags& flags) {
    const std::optional<ExpectedStep> expected = expected_step(flags);
    const PlannedScenario asked = asked_run(flags, expected);
    const ModelSpec model = read_model(asked.model);
    if (expected) check_expected_model(*expected, model);
    const TrainingSpec training = read_training(asked);
    if (!training.schedule->ours)
        throw InputError(fmt::format(
            "--schedule: sluice-train runs only {}; the other schedules are for predictions",
            Schedule()->name));
    if (flags.settings.resume && !flags.settings.out)
        throw InputError("--resume needs --out, the folder of the checkpoints to continue from");
    for (const auto& [given, flag] : {std::pair{flags.settings.save_every > 0, "--save-every"},
                                      {flags.settings.save_best, "--save-best"},
                                      {flags.save_memory.has_value(), "--save-memory"}})
        if (given && !flags.settings.out)
            throw InputError(
                fmt::format("{} needs --out, the folder that checkpoints are written to", flag));
    if (flags.settings.on_spike == OnSpike::skip && training.clipping != Clipping::exact)
        throw InputError(
            "--on-spike skip needs --clipping exact, with which a step updates nothing before its "
            "norm is known");
    TrainSettings settings = flags.settings;
    settings.save_memory = read_save_memory(flags);
    check_files(flags);
    allow_many_files();
    stop_on_signals("stopping after this step; a second signal stops at once, without saving\n");
    std::signal(SIGPIPE, SIG_IGN);  // nobody reads the progress any more: no reason to stop
    const bool writes = flags.report || flags.trace || flags.timeline, measure = writes || expected;
    settings.expected = expected;
    settings.model_files = settings.load.value_or(asked.model.model);
    const RunResult result = run_training(model, training, settings, measure);
    // As a shell reports what a signal ended: `train && publish` must not go on.
    const int unfinished = result.interrupted ? 128 + stop_signal() : 0;
    if (result.interrupted)
        say(fmt::format("interrupted after step {} of {}{}\n", result.steps_done,
                        flags.settings.steps, flags.settings.out ? "; --resume continues" : ""));
    if (!measure) return unfinished;
    if (!result.report) {
        say_on_stderr(fmt::format(
            "sluice-train: no step was measured: a measurement needs two consecutive steps "
            "after the third, without a checkpoint or a validation after them, and not redone by "
            "speculative clipping; give more --steps, or --clipping exact\n"));
        return unfinished != 0 ? unfinished : writes ? 1 : 0;
    }
    if (flags.report) write_file(*flags.report, report_json(*result.report));
    if (flags.trace) write_file(*flags.trace, report_chrome_trace(*result.report));
    if (flags.timeline) write_file(*flags.timeline, to_svg(step_picture(*result.report)));
    say(report_text(*result.report));
    if (expected)
        say(fmt::format("\n{}{}\n", to_text(expected_table(*expected, *result.report)),
                        largest_difference(*expected, *result.report)));
    return unfinished;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    CLI::App app("Trains a language model from host memory, by the plan that sluice predicts.",
                 "sluice-train");
    sluice::Flags flags;
    sluice::add_model_flags(app, flags.scenario.given.model);
    sluice::add_run_flags(app, flags);
    sluice::add_training_flags(app, flags.scenario);
    sluice::add_optimizer_flags(app, flags.settings);
    return sluice::run_program(
        app, [&flags] { return sluice::train(flags); }, argc, argv);
}
