// How does a run go from step to step, and how does it end?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <utility>

#include "engine/machine/stop_signals.h"
#include "engine/train/batch_dump.h"
#include "engine/train/run_endings.h"
#include "engine/train/whole_run.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {

StepRecord WholeRun::do_step(std::int64_t step, const Batch& now, const Batch& next) {
    StepRecord record;
    record.step = step;
    if (saver_) record.saving = saver_->writing();
    const AdamWStep settings = adamw_step(settings_, step);
    const StepLimits limits = spikes_.limits();
    record.targets = counted_targets(now);
    // A step that may be skipped waits for its norm. One that learns nothing always is, where it
    // can be: AdamW would move the parameters by their moments.
    constexpr StepLimits kSkipped{-1, -1};
    const bool skips = settings_.on_spike == OnSpike::skip, learns = record.targets > 0;
    record.outcome = step_->run(tokens_of(now), tokens_of(next), settings, settings_.max_norm,
                                !learns ? kSkipped
                                : skips ? limits
                                        : StepLimits(),
                                ahead_.next_is_ahead() && !skips && learns);
    steps_without_targets_ += learns ? 0 : 1;
    ahead_.add(record.outcome.ahead, record.outcome.clip_factor != 1);
    const auto& [loss, norm] = std::pair(record.outcome.loss, record.outcome.gradient_norm);
    record.spike = learns && (loss > limits.loss || norm > limits.gradient_norm);
    if (record.outcome.finite && learns) spikes_.add({loss, norm});
    // With a sign, which some operations give it, it would be printed as "-nan".
    for (double* const number : {&record.outcome.loss, &record.outcome.gradient_norm})
        if (std::isnan(*number)) *number = std::numeric_limits<double>::quiet_NaN();
    last_clip_factor_ = record.outcome.clip_factor;
    const StepWatch::Passed passed = watch_.after_step();
    record.seconds = passed.seconds;
    record.gpu_joules = passed.gpu_joules;
    record.learning_rate = static_cast<double>(settings.learning_rate);
    record.tokens = training_.tokens();
    record.time = std::time(nullptr);
    const std::int64_t drawn = now.position + now.sequences;
    record.tokens_seen = drawn * now.seq;
    record.epochs = static_cast<double>(drawn) / static_cast<double>(sampler_->windows_per_epoch());
    record.device = device_->memory_in_use() - device_facts_.context;
    record.host = read_process_memory().resident().value_or(0);
    if (saver_) record.held = saver_->take_held();
    if (settings_.expected)
        record.plan_share = settings_.expected->of(record.outcome.ahead).step / record.seconds;
    return record;
}

void WholeRun::train(RunResult& result) {
    const bool trains = !settings_.evaluate_only && state_.step < settings_.steps &&
                        !early_.is_over() && !stop_requested();
    if (trains) batches_[0] = draw();
    if (settings_.evaluate_only || (settings_.validate_first && trains)) validate_first();
    if (!trains) return;
    std::size_t current = 0;
    watch_.restart();
    for (std::int64_t step = state_.step + 1; step <= settings_.steps; ++step) {
        const Batch& now = batches_[current];
        Batch& next = batches_[1 - current];
        draw_next(step, now, next);
        if (settings_.dump_batches) append_batch(*settings_.dump_batches, now);
        const bool validates = held_out_ && held_out_->is_due(step);
        StepRecord record = do_step(step, now, validates ? held_out_->first() : next);
        if (validates && record.outcome.finite) {
            record.validation = held_out_->loss(*step_, next);
            watch_.restart();
            early_.add(record.validation->all);
        }
        reports_->add(record, distinct_tokens(now.inputs, model_.vocabulary), *step_, watch_);
        judge(record);
        result.steps_done = step;
        if (settings_.save_best && validates) saver_->wait();  // it may be the best
        result.interrupted = stop_requested() && step < settings_.steps;
        result.stopped_early = early_.is_over() && step < settings_.steps;
        const bool last = step == settings_.steps || result.interrupted || result.stopped_early;
        state_.validation_loss.reset();
        if (record.validation) state_.validation_loss = record.validation->all;
        result.unsaved = result.interrupted && !is_saved_in_time(record);
        const bool asked = is_asked_to_save();
        const bool saves = checkpoints_ && !result.unsaved &&
                           (last || asked || checkpoints_->is_due(step, state_.validation_loss));
        if (saves) save(step, next.position, last);
        // A signal since then ends the next step, so that none is lost.
        if (last || (saves && stop_requested())) break;
        current = 1 - current;
    }
    step_->finish();
    if (saver_) saver_->wait();
}

void WholeRun::validate_first() {
    // Without training there is no next batch: the first one of the held-out data is as good.
    const Batch& next = settings_.evaluate_only ? held_out_->first() : batches_[0];
    reports_->add_validation(state_.step, held_out_->loss(*step_, next));
}

bool WholeRun::is_asked_to_save() {
    if (!take_save_request()) return false;
    if (!checkpoints_) reports_->note("SIGUSR1 came, but nothing is saved without --out");
    return true;
}

bool WholeRun::is_saved_in_time(const StepRecord& record) {
    if (!settings_.grace) return true;
    saver_->wait();  // a checkpoint that is being written is sooner whole than a new one
    const Seconds save = checkpoints_->save_time(), left = *settings_.grace - since_stop_signal();
    std::vector<std::int64_t> steps = checkpoint_steps(*settings_.out);
    std::erase_if(steps, [&](std::int64_t step) { return step > record.step; });  // damaged ones
    if (steps.empty() || save <= left) return true;
    say(unsaved_words(settings_, record, steps.front(), save, left) + "\n");
    return false;
}

Batch WholeRun::draw() {
    Batch batch = sampler_->next();
    const TokenSource& tokens = sampler_->tokens();
    std::vector<std::int64_t> now = tokens.modifications();
    if (now == modifications_) return batch;
    const auto changed = std::ranges::mismatch(now, modifications_).in1 - now.begin();
    if (tokens.fingerprint() != data_.tokens || tokens.documents_fingerprint() != data_.documents)
        throw InputError(fmt::format(
            "{}: holds other tokens than at the start, so something wrote to it during the run; "
            "restore it and give --resume",
            tokens.shard(static_cast<std::size_t>(changed)).path()));
    modifications_ = std::move(now);
    return batch;
}

void WholeRun::draw_next(std::int64_t step, const Batch& now, Batch& next) {
    if (step == settings_.steps) {
        next = now;  // rows for a step that does not follow
        next.position = sampler_->position();
        return;
    }
    try {
        next = draw();
    } catch (const InputError&) {
        if (checkpoints_ && step > state_.step + 1) save(step - 1, now.position, true);
        throw;
    }
}

void WholeRun::save(std::int64_t step, std::int64_t position, bool last) {
    reports_->pause();
    const Seconds start = host_seconds();
    step_->finish();
    TrainingState now = state_;
    now.step = step;
    now.data_position = position;
    now.clip_factor = last_clip_factor_;
    if (state_.ahead) now.ahead = ahead_.state();
    now.recent = spikes_.recent();
    now.divergence = divergence_.memory();
    now.early_stop = early_.state();
    saver_->save(now, last, start);
    watch_.restart();
}

void WholeRun::judge(const StepRecord& record) {
    divergence_.add(record.step, record.outcome.loss,
                    record.outcome.finite ? record.outcome.gradient_norm : INFINITY,
                    record.targets);
    const bool stops = record.spike && settings_.on_spike == OnSpike::stop;
    if (record.outcome.finite && !stops) {
        if (record.spike) reports_->note(spike_words(record, settings_.spike_deviations));
        const bool is_known = !diverged_.empty();
        if (divergence_.has_diverged())
            diverged_ = diverged_words(record, divergence_.memory());
        else if (!divergence_.memory().far_worse_since())
            diverged_.clear();  // not at once: a loss near the limit would be told many times
        if (!diverged_.empty() && !is_known) {
            if (saver_) saver_->wait();  // the checkpoint that is in doubt, too
            reports_->note(diverged_ + advice());
        }
        return;
    }
    if (saver_) saver_->wait();
    throw std::runtime_error((record.outcome.finite
                                  ? fmt::format("{}, so training stopped, as --on-spike says",
                                                spike_words(record, settings_.spike_deviations))
                                  : divergence_words(record)) +
                             advice());
}

std::string WholeRun::advice() const {
    if (!checkpoints_) return "";
    return "; " + checkpoints_->advice_after_divergence(divergence_.memory().far_worse_since());
}

std::string WholeRun::after_failure(const std::string& sentence) {
    const std::string driver = driver_words(gpu_.get());
    if (saver_) saver_->wait();  // it needs no GPU
    const auto newest = checkpoints_ ? checkpoints_->newest() : std::nullopt;
    return fmt::format(
        "{}{}; {}", sentence, driver,
        newest ? *newest + " is whole, and --resume continues from it" : "nothing was saved");
}

RunResult WholeRun::go(bool measure) {
    prepare();
    RunResult result;
    result.steps_done = state_.step;
    ReportedRun run{
        asked_step(model_, machine_, training_),
        planned(),
        device_facts_.name,
        type_,
        host_rates_,
        facts_,
        state_.settings,
        [this] { return checkpoints_ ? checkpoints_->newest().value_or("") : std::string(); }};
    reports_.emplace(settings_, std::move(run), measure, state_.step, HealthWatch(health_of(gpu_)));
    try {
        train(result);
    } catch (const MachineError& error) {
        const std::string sentence = after_failure(error.what());
        reports_->end(sentence, watch_);
        throw MachineError(sentence);
    } catch (const InputError& error) {
        reports_->end(error.what(), watch_);
        throw;
    } catch (const std::exception& error) {
        const std::string driver = driver_words(gpu_.get());
        reports_->end(error.what() + driver, watch_);
        if (driver.empty()) throw;
        throw std::runtime_error(error.what() + driver);
    }
    result.interrupted =
        stop_requested() && result.steps_done < settings_.steps && !result.stopped_early;
    if (result.steps_done > state_.step && !result.unsaved)
        say(fmt::format("{}\n", checkpoints_
                                    ? "saved " + checkpoints_->newest().value_or("nothing")
                                    : "the weights were not saved: give --out to keep them"));
    if (steps_without_targets_ > 0)
        say(fmt::format("{} had no token to learn{}\n",
                        format_number_of(steps_without_targets_, "step"),
                        training_.updates_after_norm() ? " and changed nothing" : ""));
    if (result.stopped_early)
        say(fmt::format("stopped after step {} of {}: {}\n", result.steps_done, settings_.steps,
                        early_.words()));
    result.diverged = !diverged_.empty();
    if (result.diverged) say_on_stderr(fmt::format("sluice-train: {}{}\n", diverged_, advice()));
    const char* const how = result.interrupted     ? "Interrupted"
                            : result.stopped_early ? "Stopped early"
                                                   : "Finished";
    reports_->end(fmt::format("{} after step {} of {}{}", how, result.steps_done, settings_.steps,
                              result.diverged ? "; " + diverged_ + "." : "."),
                  watch_, !result.diverged);
    if (auto measured = reports_->measured(watch_)) {
        result.ran = *std::move(measured);
    } else {
        result.ran = reports_->not_measured();
        result.why_not_measured = reports_->why_not_measured();
    }
    return result;
}

}  // namespace sluice
