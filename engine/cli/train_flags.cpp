#include "engine/cli/train_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/output_files.h"
#include "sim/command_line/help.h"

namespace sluice {
namespace {

/// The place of a name, or the number of names.
template <typename Names>
std::ptrdiff_t place_in(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
}

/// A check for CLI11; `names` must outlive it.
template <typename Names>
auto one_of(const Names& names, std::string expected) {
    return [&names, expected = std::move(expected)](const std::string& name) {
        return place_in(names, name) < std::ssize(names)
                   ? std::string()
                   : fmt::format("\"{}\", expected {}", name, expected);
    };
}

/// Numbers that the option takes; --help-all says them.
template <typename Number>
CLI::Option* in_range(CLI::Option* option, Number low, Number high) {
    const std::string text = option->get_description();
    return option->check(CLI::Range(low, high).description(""))
        ->description(described(text, fmt::format("{}; {} to {}", text, low, high)));
}

}  // namespace

void add_optimizer_flags(CLI::App& app, TrainFlags& flags) {
    TrainSettings& s = flags.settings;
    GivenSettings& given = flags.given;
    // CLI11's own checks let "nan" pass.
    const auto finite = [](const std::string& text) {
        const std::optional<double> number = parse_number(text);
        return number && std::isfinite(*number) ? "" : text + " is no finite number";
    };
    using Limits = std::numeric_limits<float>;  // the optimizer computes in fp32
    const auto above_zero = [](const std::string& text) {
        const double number = parse_number(text).value_or(0);
        return number >= Limits::denorm_min() && number <= Limits::max()
                   ? ""
                   : text + " is no number above 0 that fp32 can hold";
    };
    const auto zero_or_more = [](const std::string& text) {
        const double number = parse_number(text).value_or(-1);
        return number >= 0 && number <= Limits::max()
                   ? ""
                   : text + " is no number from 0 on that fp32 can hold";
    };
    const auto add = [&](const char* name, auto& value, const char* help) {
        return add_option(app, {name, "N", "Optimizer"}, value, help)
            ->check(finite)
            ->capture_default_str();
    };
    // Their defaults are said in words, since they depend on other options.
    const auto add_given = [&](const char* name, auto& value, const std::string& help) {
        return add_option(app, {name, "N", "Optimizer"}, value, help)->check(finite);
    };
    const auto by_start = [](double fine_tuning, double pretraining) {
        return fmt::format("[{:g} with --load, else {:g}]", fine_tuning, pretraining);
    };
    CLI::Option* const steps = in_range(
        add_given("--steps", given.steps,
                  fmt::format("steps in total, including those before --resume [{}]", s.steps)),
        std::int64_t{1}, std::int64_t{1'000'000'000});
    in_range(add_given("--epochs", given.epochs, "in place of --steps: rounds of the data"), 1e-6,
             1e6)
        ->excludes(steps);
    add_given("--learning-rate", given.learning_rate,
              fmt::format("peak learning rate [{:g} with --load, {:g} if it trains adapters, "
                          "else {:g}]",
                          kFineTuning.learning_rate, kAdapterTuning.learning_rate,
                          kPretraining.learning_rate))
        ->check(above_zero);
    in_range(
        add_given("--warmup-steps", given.warmup_steps,
                  fmt::format("steps until the peak learning rate [{:g}% with --load, else {:g}]",
                              100 * kFineTuning.warmup_share, kPretraining.warmup_share)),
        std::int64_t{0}, std::int64_t{1'000'000'000});
    app.add_option_function<std::string>(
           "--lr-schedule",
           [&s](const std::string& name) {
               s.schedule = static_cast<LearningRateKind>(place_in(kLearningRateNames, name));
           },
           described("learning rate after the warm-up",
                     "learning rate after the warm-up: cosine, constant, linear, wsd (constant, "
                     "linear at the end) or inverse-sqrt"))
        ->type_name("{cosine,constant,linear,wsd,inverse-sqrt}")
        ->group("Optimizer")
        ->check(one_of(kLearningRateNames, "cosine, constant, linear, wsd or inverse-sqrt"))
        ->default_str("cosine");
    in_range(add_given("--decay-share", given.decay_share,
                       fmt::format("share of the steps in which wsd falls [{:g}]", s.decay_share)),
             0.0, 1.0);
    in_range(add("--final-fraction", s.final_fraction,
                 "share of the peak learning rate at the last step"),
             0.0, 1.0);
    in_range(add("--beta1", s.beta1, "AdamW's decay of the first moment"), 0.0, 0.999999);
    in_range(add_given("--beta2", given.beta2,
                       fmt::format("AdamW's decay of the second moment {}",
                                   by_start(kFineTuning.beta2, kPretraining.beta2))),
             0.0, 0.999999);
    add("--epsilon", s.epsilon, "AdamW's epsilon")->check(above_zero);
    add_given("--weight-decay", given.weight_decay,
              fmt::format("decoupled weight decay; norms and biases have none {}",
                          by_start(kFineTuning.weight_decay, kPretraining.weight_decay)))
        ->check(zero_or_more);
    add("--max-norm", s.max_norm, "gradients are clipped to this norm")->check(above_zero);
    app.add_option_function<std::string>(
           "--on-spike",
           [&s](const std::string& name) {
               s.on_spike = static_cast<OnSpike>(place_in(kOnSpikeNames, name));
           },
           described("at a spike of loss or norm; skip: the step changes nothing",
                     "at a spike of loss or norm: go-on, skip (the step changes nothing; needs "
                     "--clipping auto or exact) or stop"))
        ->type_name("{go-on,skip,stop}")
        ->group("Optimizer")
        ->check(one_of(kOnSpikeNames, "go-on, skip or stop"))
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
    add_option(app, {"--adapter-alpha", "N", "Optimizer"}, s.adapter_alpha,
               "adapters are scaled by alpha / rank [so that the scale is 2]")
        ->check(above_zero);
    app.add_flag("--adapter-rslora", s.rank_stabilized, "by alpha / the root of the rank (rsLoRA)")
        ->group("Optimizer");
}

void add_run_flags(CLI::App& app, TrainFlags& flags) {
    TrainSettings& s = flags.settings;
    const auto has_name = [](const std::string& text) {
        return std::string(text.empty() ? "is empty, expected a file or folder" : "");
    };
    add_option(app, {"--data", "FILE", "Data"}, s.data,
               "token shards (.bin), text files, or folders of them; required but with "
               "--evaluate-only")
        ->check(has_name);
    add_option(app, {"--validation", "[NAME=]FILE", "Data"}, flags.validation,
               described("held-out data: its loss is found without training on it",
                         "held-out data: its loss is found without training on it; with names, as "
                         "in chats=a.bin code=b.bin, also that of each"))
        ->check(has_name);
    in_range(add_option(app, {"--validate-every", "N", "Data"}, s.validate_every,
                        "steps between two validation losses; there is one at the end, too")
                 ->capture_default_str()
                 ->needs("--validation"),
             1, 1'000'000'000);
    app.add_flag("--validate-first", s.validate_first,
                 "also find the validation loss before the first step")
        ->group("Data")
        ->needs("--validation");
    app.add_flag("--evaluate-only", s.evaluate_only,
                 "find the validation loss of --load or --resume, and train nothing")
        ->group("Data")
        ->needs("--validation");
    in_range(add_option(app, {"--patience", "N", "Data"}, s.patience,
                        "the run ends after N validation losses in a row that are no lower")
                 ->needs("--validation"),
             1, 1'000'000'000);
    add_option(app, {"--plan", "{FILE,given,auto}"}, flags.plan,
               described("a prediction of `sluice predict --json`, the options given, or the "
                         "fastest plan",
                         "a prediction of `sluice predict --json`: trains with its settings, "
                         "and compares it with the measured step; given: trains with the "
                         "options given; auto: the planner chooses, also where --resume would "
                         "keep the plan of the checkpoint"));
    add_option(app, {"--machine", "NAME", "Model and machine"},
               flags.scenario.given.machine.machine,
               described("a name of `sluice machines`, or a profile, for which a plan is chosen "
                         "[on a GPU, the one most like this]",
                         "a name of `sluice machines`, or this machine's profile: trains as "
                         "--plan does with the fastest plan for it, as sluice predict chooses "
                         "it beside the options given; default: on a GPU, the machine of that "
                         "list that is most like this one; after --resume it only predicts the "
                         "plan of the checkpoint, unless --plan auto is given"));
    add_option(app, {"--load", "FILE", "Checkpoints"}, s.load,
               "start from these safetensors (a file, an index, a folder)")
        ->check(has_name);
    app.add_flag("--random-weights", s.random_weights,
                 "start from random weights, although --model holds some")
        ->group("Checkpoints");
    add_option(app, {"--out", "FOLDER", "Checkpoints"}, s.out, "folder of checkpoints")
        ->check(has_name);
    app.add_flag("--discard", s.discard, "keep nothing of a run with --load and without --out")
        ->group("Checkpoints");
    in_range(add_option(app, {"--save-every", "N", "Checkpoints"}, s.save_every,
                        "steps between checkpoints; 0: at the end"),
             0, 1'000'000'000);
    in_range(add_option(app, {"--keep", "N", "Checkpoints"}, s.keep,
                        "number of newest checkpoints that stay; older ones are removed")
                 ->capture_default_str(),
             1, 1'000'000);
    add_option(
        app, {"--save-memory", "SIZE", "Checkpoints"}, flags.save_memory,
        described("host memory of checkpoints that are written beside training",
                  "host memory, as in 16GiB, with which training goes on while a checkpoint is "
                  "written; 0: steps wait; default: half of what the plan leaves, as far as "
                  "needed"));
    add_option(app, {"--grace", "N", "Checkpoints"}, s.grace,
               described("seconds from a signal to the end of a spot machine",
                         "seconds from a signal to the end of the machine, as 30 of a spot "
                         "machine: a checkpoint that takes longer is begun then only if there "
                         "is no other"))
        ->check([](const std::string& text) {
            const double seconds = parse_number(text).value_or(0);
            return seconds >= 1e-3 && seconds <= 1e6
                       ? std::string()
                       : text + " is no number of seconds from 0.001 to 1,000,000";
        });
    app.add_flag("--save-best", s.save_best,
                 described("save the step with the lowest validation loss as best in --out",
                           "save each step with a lower validation loss than all before, and keep "
                           "the lowest as best in --out"))
        ->group("Checkpoints")
        ->needs("--validation");
    app.add_option_function<std::string>(
           "--resume",
           [&s](const std::string& folder) {
               s.resume = true;
               if (!folder.empty()) s.out = folder;
           },
           described("continue from the newest checkpoint in FOLDER, or in --out",
                     "continue from the newest checkpoint in FOLDER, or in --out, with the options "
                     "that it was trained with where no others are given"))
        ->type_name("FOLDER")
        ->expected(0, 1)
        ->configurable(false)
        ->group("Checkpoints");
    add_option(app, {"--device", "NAME", "Model and machine"}, s.device,
               "auto, cpu, cuda or cuda:N")
        ->capture_default_str();
    add_option(app, {"--precision", "{auto,bf16,fp32}", "Model and machine"}, s.precision,
               "precision of activations: auto, bf16, or fp32 (CPU only)")
        ->capture_default_str();
    add_option(app, {"--host-memory", "SIZE", "Model and machine"}, s.host_memory,
               "host memory, as in 128GiB, if the system reports a wrong size");
    add_option(app, {"--cpu-threads", "N", "Model and machine"}, s.cpu_threads,
               "threads of the CPU's kernels; 0: half the cores");
    add_option(app, {"--log", "FILE", "Output"}, s.log,
               "append one JSON object per step to this file");
    add_option(app, {"--watch", "FOLDER", "Output"}, s.watch,
               "folder of a page that shows the run in a browser, and of files for TensorBoard, "
               "W&B and MLflow")
        ->check(has_name);
    add_option(app, {"--dump-batches", "FILE", "Output"}, s.dump_batches,
               "append each step's inputs and targets to this file, as raw int32");
    add_option(app, {"--report", "FILE", "Output"}, flags.report,
               "write the measured step as JSON");
    add_option(app, {"--trace", "FILE", "Output"}, flags.trace,
               "write its operations as a Chrome trace");
    add_option(app, {"--timeline", "FILE", "Output"}, flags.timeline,
               "write its lanes over time as SVG");
}

void check_files(const TrainFlags& flags) {
    const TrainSettings& s = flags.settings;
    std::vector<std::string> inputs = input_files(flags.scenario);
    inputs.insert(inputs.end(), s.data.begin(), s.data.end());
    for (const ValidationSet& set : validation_sets(flags.validation))
        inputs.insert(inputs.end(), set.files.begin(), set.files.end());
    if (s.load) inputs.push_back(*s.load);
    if (flags.plan && !names_no_file(*flags.plan)) inputs.push_back(*flags.plan);
    check_output_files({{"--report", flags.report},
                        {"--trace", flags.trace},
                        {"--timeline", flags.timeline},
                        {"--log", s.log, true},
                        {"--dump-batches", s.dump_batches, true}},
                       inputs);
}

}  // namespace sluice
