#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>

#include "engine/cli/downloads.h"
#include "engine/cli/export.h"
#include "engine/cli/loaded_adapters.h"
#include "engine/cli/recipe.h"
#include "engine/cli/run_plan.h"
#include "engine/cli/train_flags.h"
#include "engine/data/files.h"
#include "engine/machine/bus_errors.h"
#include "engine/machine/stop_signals.h"
#include "engine/train/expected_step.h"
#include "engine/train/progress.h"
#include "engine/train/run_defaults.h"
#include "engine/train/run_setup.h"
#include "engine/train/training_checkpoint.h"
#include "engine/train/training_run.h"
#include "engine/watch/run_watch.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/command_line/program.h"
#include "sim/command_line/scenario.h"
#include "sim/report/report.h"
#include "sim/report/timeline_picture.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

std::optional<Bytes> read_save_memory(const TrainFlags& flags) {
    if (!flags.save_memory) return std::nullopt;
    if (*flags.save_memory == "0") return 0;
    return static_cast<Bytes>(parse_memory_size(*flags.save_memory, "--save-memory"));
}

void check_flags(const TrainFlags& flags, const TrainSettings& s) {
    if (s.weight_decay * s.learning_rate >= 1)
        throw InputError(
            fmt::format("--weight-decay is {:g}, expected less than 1 / --learning-rate, {:g}",
                        s.weight_decay, 1 / s.learning_rate));
    if (s.resume && s.out && is_there(path_in(*s.out, kTrainingRecordFile)))
        throw InputError(fmt::format(
            "--resume: {} is a checkpoint itself; give the folder of the run, which holds it",
            *s.out));
    if (s.data.empty() && s.resume && s.out)
        throw InputError(fmt::format(
            "--resume: {} holds no checkpoint with {}, which has the options of a run; give them "
            "again, beside --out {} --resume",
            *s.out, kRecipeFile, *s.out));
    if (s.data.empty())
        throw InputError("--data is missing; name token shards (.bin), text files, or folders");
    if (s.random_weights && s.load)
        throw InputError(fmt::format(
            "--random-weights is given with --load {}; leave one of them out", *s.load));
    if (s.out && s.discard)
        throw InputError(
            fmt::format("--discard is given with --out {}; leave one of them out", *s.out));
    if (s.out) return;
    if (s.resume)
        throw InputError("--resume needs --out, the folder of the checkpoints to continue from");
    for (const auto& [given, flag] : {std::pair{s.save_every > 0, "--save-every"},
                                      {s.save_best, "--save-best"},
                                      {s.grace.has_value(), "--grace"},
                                      {flags.save_memory.has_value(), "--save-memory"}})
        if (given)
            throw InputError(
                fmt::format("{} needs --out, the folder that checkpoints are written to", flag));
}

void check_training(const TrainingSpec& training, const TrainSettings& settings) {
    if (!training.schedule->ours)
        throw InputError(fmt::format(
            "--schedule: sluice-train runs only {}; the other schedules are for predictions",
            Schedule()->name));
    if (settings.fewer_tokens && training.adapter_rank > 0)
        throw InputError(
            "--resize-vocabulary is given with --adapter-rank, which would not train the new "
            "tokens' embeddings; leave one of them out");
    if (settings.on_spike == OnSpike::skip && !training.updates_after_norm())
        throw InputError(fmt::format(
            "--on-spike skip is given with --clipping {}, which updates before the norm is known; "
            "give --clipping auto",
            option_text(training, training_option("clipping"))));
}

/// Where --resize-vocabulary makes more of them.
std::optional<std::int64_t> tokens_before(PlannedModel model) {
    if (!model.vocabulary) return std::nullopt;
    model.vocabulary.reset();
    return read_model(model).vocabulary;
}

int train(const TrainFlags& typed) {
    std::signal(SIGPIPE, SIG_IGN);  // nobody reads the progress any more: no reason to stop
    explain_bus_errors();
    const TrainFlags flags = with_loaded_adapters(with_downloads(typed));
    TrainSettings settings = with_rates(flags.settings, flags.given);
    settings.save_memory = read_save_memory(flags);
    settings.validation = validation_sets(flags.validation);
    if (settings.evaluate_only && settings.data.empty())
        settings.data = files_of(settings.validation);
    // Mistakes are found before a plan is searched.
    check_flags(flags, settings);
    check_files(flags);
    allow_many_files();
    const PlannedModel named = asked_scenario(flags.scenario).model;
    refuse_latest("--model", named.model);
    if (settings.load) refuse_latest("--load", *settings.load);
    const ModelSpec model = read_model(named);
    settings.fewer_tokens = tokens_before(named);
    settings.model = named.model;
    settings.model_files = settings.load.value_or(named.model);
    std::optional<RunCheckpoints> checkpoints;
    if (settings.resume) checkpoints.emplace(model, settings);
    RunPlan plan = asked_plan(flags, checkpoints ? checkpoints->saved_plan() : std::nullopt);
    if (plan.expected) check_expected_model(*plan.expected, model);
    settings = with_rates(std::move(settings), flags.given, read_training(plan));
    check_training(read_training(plan), settings);
    if (flags.given.decay_share && settings.schedule != LearningRateKind::wsd)
        say("note: --decay-share changes nothing without --lr-schedule wsd\n");
    if (settings.watch) create_watch_folder(*settings.watch);
    const bool resumed = checkpoints && checkpoints->newest();
    check_what_is_kept(settings, resumed);
    const std::int64_t epoch = check_inputs(model, read_training(plan), settings, resumed);
    settings = with_steps(std::move(settings), flags.given, epoch, read_training(plan).batch);
    const DeviceFacts device = check_device(settings);
    check_fp8(read_training(plan), device);
    check_documents(model, read_training(plan), device);
    check_experts(model, device);
    if (settings.out && !checkpoints) checkpoints.emplace(model, settings);
    if (checkpoints) checkpoints->refuse_small_disk(read_training(plan));
    plan = planned_run(std::move(plan), flags, device);
    const TrainingSpec training = read_training(plan);
    check_training(training, settings);
    settings.expected = plan.expected;
    stop_on_signals("stopping after this step; a second signal stops at once, without saving\n");
    save_on_signal();
    const bool measure = flags.report || flags.trace || flags.timeline || plan.expected;
    const RunResult result =
        run_training(model, training, settings, checkpoints ? &*checkpoints : nullptr, measure);
    // As a shell reports what a signal ended: `train && publish` must not go on.
    const int unfinished = result.interrupted ? 128 + stop_signal() : result.diverged ? 1 : 0;
    const bool saved = settings.out && !result.unsaved && result.steps_done > 0;
    if (result.interrupted)
        say(fmt::format(
            "interrupted after step {} of {}{}\n", result.steps_done, settings.steps,
            saved ? fmt::format("; --resume goes on from step {}", result.steps_done) : ""));
    if (!measure || settings.evaluate_only) return unfinished;
    if (flags.report) write_file(*flags.report, report_json(result.ran));
    if (!result.why_not_measured.empty()) {
        say_on_stderr(fmt::format(
            "sluice-train: {}{}\n", result.why_not_measured,
            flags.trace || flags.timeline ? "; --trace and --timeline are not written" : ""));
        return unfinished;
    }
    if (flags.trace) write_file(*flags.trace, report_chrome_trace(result.ran));
    if (flags.timeline) write_file(*flags.timeline, to_svg(step_picture(result.ran)));
    say(report_text(result.ran));
    if (!plan.expected) return unfinished;
    const ExpectedStep expected = plan.expected->of(result.ran.step.measured->ahead);
    say(fmt::format("\n{}{}\n", to_text(expected_table(expected, result.ran)),
                    largest_difference(expected, result.ran)));
    return unfinished;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    if (argc > 1 && argv[1] == sluice::kExport) return sluice::run_export(argc, argv);
    const sluice::RunWords words = sluice::run_words(argc, argv);
    CLI::App app("Trains a language model from host memory, by the plan that sluice predicts.",
                 "sluice-train");
    app.footer("sluice-train export --help: a model's folder for other programs");
    sluice::TrainFlags flags;
    sluice::add_model_flags(app, flags.scenario.given.model);
    sluice::add_run_flags(app, flags);
    sluice::add_training_flags(app, flags.scenario);
    sluice::add_optimizer_flags(app, flags);
    sluice::add_recipe(app, words);
    std::vector<char*> pointers;
    for (const std::string& word : words.words) pointers.push_back(const_cast<char*>(word.c_str()));
    return sluice::run_program(
        app,
        [&] {
            flags.settings.recipe = sluice::recipe_text(app, {argv, argv + argc});
            return sluice::train(flags);
        },
        static_cast<int>(pointers.size()), pointers.data());
}
