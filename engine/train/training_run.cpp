#include "engine/train/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "engine/data/batch_sampler.h"
#include "engine/machine/host_facts.h"
#include "engine/machine/placement.h"
#include "engine/machine/stop_signals.h"
#include "engine/run/streamed_step.h"
#include "engine/train/batch_dump.h"
#include "engine/train/checkpoint_saver.h"
#include "engine/train/held_out.h"
#include "engine/train/measured_report.h"
#include "engine/train/norm_watch.h"
#include "engine/train/progress.h"
#include "engine/train/run_checkpoints.h"
#include "engine/train/run_setup.h"
#include "engine/train/step_watch.h"
#include "engine/train/weights_file.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

class Run {
  public:
    Run(const ModelSpec& model, TrainingSpec training, const TrainSettings& settings)
        : model_(model), training_(std::move(training)), settings_(settings) {}

    RunResult go(bool measure);

  private:
    void prepare();
    /// With the memory that saving takes.
    PlannedStep planned() const {
        const PlannedStep step = planned_step(plan_.step, machine_, training_);
        return with_save_memory(step, training_, save_memory_);
    }
    void allocate();
    /// The batch after `now`, which `step` trains on. If the data is wrong, the finished steps are
    /// saved first.
    void draw_next(std::int64_t step, const Batch& now, Batch& next);
    [[noreturn]] void stop_at(std::int64_t step, double loss);
    void start_parameters();
    void train(bool measure, RunResult& result);
    StepRecord do_step(std::int64_t step, const Batch& now, const Batch& next);
    void save(std::int64_t step, std::int64_t position, bool last);

    const ModelSpec& model_;
    TrainingSpec training_;
    const TrainSettings& settings_;
    HostFacts host_facts_;
    std::unique_ptr<Device> device_;
    DeviceFacts device_facts_;
    std::optional<RunCheckpoints> checkpoints_;  ///< with --out
    DType type_ = DType::bf16;
    MachineSpec machine_;
    StreamedPlan plan_;
    std::unique_ptr<ThreadPool> pool_;
    std::unique_ptr<DeviceBuffers> device_buffers_;
    std::unique_ptr<ParameterStore> store_;
    Bytes save_memory_ = 0;
    std::optional<CheckpointSaver> saver_;  ///< with --out; reads the store, and step_ calls it
    std::unique_ptr<BatchSampler> sampler_;
    std::future<std::string> fingerprint_;  ///< of the data
    std::optional<HeldOut> held_out_;       ///< with --validation
    std::array<Batch, 2> batches_;  ///< of this step and the next; read by the lanes of step_
    std::unique_ptr<StreamedStep> step_;
    TrainingState state_;
    std::unique_ptr<Progress> progress_;
    NormWatch norms_;
    StepWatch watch_;
    MeasuredSteps measured_;
    std::int64_t redone_ = 0;
    Bytes most_device_ = 0, most_host_ = 0;
    double last_clip_factor_ = 1;
};

void Run::prepare() {
    for (const LayerSpec& kind : model_.kinds)
        layer_layout(model_, kind);  // refuses unsupported models
    host_facts_ = read_host_facts();
    device_ = make_device(settings_.device, settings_.cpu_threads, host_facts_);
    device_facts_ = device_->facts();
    type_ = choose_precision(settings_, device_facts_);
    machine_ = machine_of_run(settings_, host_facts_, device_facts_);
    if (training_.optimizer_threads == 0)
        training_.optimizer_threads = machine_.host.best_adam_threads;
    if (training_.state_bytes == 6 && model_.hidden % kMomentBlock != 0) {
        throw InputError(fmt::format(
            "--state-bytes 6: the hidden size of {} is {}, expected a multiple of {}; give 8 or 12",
            model_.name, model_.hidden, kMomentBlock));
    }
    check_plan_inputs(model_, machine_, training_);
    plan_ = plan_streamed(model_, machine_, training_);
    save_memory_ = choose_save_memory(settings_, planned().fit, host_facts_, model_, training_);
    PlannedStep plan = planned();
    if (device_facts_.is_gpu) watch_.read_energy(gpu_energy_counter(attached_gpu_bus_id()));
    if (type_ == DType::fp32) plan = with_double_device_memory(std::move(plan));
    const Peak& host_peak = plan.fit.host.peak;
    print_planned_memory(asked_step(model_, machine_, training_), plan.fit, device_facts_, type_);
    refuse_misfit(plan, memory_growth_hint(host_facts_, host_peak.bytes).value_or(""));
    const Placement placement = place_threads(host_facts_, device_facts_, host_peak,
                                              static_cast<int>(training_.optimizer_threads));
    // Reports errors in files before minutes of loading.
    if (settings_.out) checkpoints_.emplace(model_, settings_, training_.state_bytes);
    progress_ = std::make_unique<Progress>(settings_.steps, settings_.log, settings_.expected_step);
    sampler_ = std::make_unique<BatchSampler>(open_tokens(settings_.data, model_.vocabulary),
                                              training_.batch, training_.sequence, settings_.seed);
    if (!settings_.validation.empty()) held_out_.emplace(model_, training_, settings_);
    // Reads all data, which takes a second for some gigabytes, while memory is allocated.
    fingerprint_ = std::async(std::launch::async, [this] {
        return open_tokens(settings_.data, model_.vocabulary).fingerprint();
    });
    pool_ = std::make_unique<ThreadPool>(static_cast<int>(training_.optimizer_threads),
                                         placement.optimizer_cpus);
    try {
        allocate();
    } catch (const InputError&) {
        throw;
    } catch (const std::runtime_error& error) {
        const auto hint = locked_memory_hint(host_facts_, host_peak.bytes);
        if (!hint) throw;
        throw std::runtime_error(fmt::format("{}. {}", error.what(), *hint));
    }
}

void Run::allocate() {
    device_buffers_ = std::make_unique<DeviceBuffers>(model_, training_, plan_, *device_, type_);
    store_ = std::make_unique<ParameterStore>(model_, static_cast<int>(training_.state_bytes),
                                              device_buffers_->resident(), *pool_, *device_);
    start_parameters();
    step_ = std::make_unique<StreamedStep>(model_, training_, plan_, *store_, *device_buffers_,
                                           *device_, *pool_, type_);
    step_->set_last_clip_factor(state_.clip_factor);
    if (checkpoints_) {
        saver_.emplace(*checkpoints_, *store_, save_memory_, *pool_, *device_);
        step_->before_update([this](int section) { saver_->before_update(section); });
    }
    last_clip_factor_ = state_.clip_factor;
}

void Run::start_parameters() {
    state_.seed = settings_.seed;
    state_.settings = settings_record(training_, settings_, *sampler_, fingerprint_.get(),
                                      held_out_ ? held_out_->fingerprint() : "");
    state_.plan = setting_flags(changed_settings(TrainingSpec{}, training_));
    if (auto saved = checkpoints_ ? checkpoints_->load(*store_, state_.settings) : std::nullopt) {
        saved->settings = state_.settings;
        saved->plan = state_.plan;
        state_ = *std::move(saved);
        sampler_->seek(state_.data_position);
        if (state_.step >= settings_.steps)
            say(fmt::format("all {} steps are done; give more --steps to continue\n",
                            settings_.steps));
        return;
    }
    if (settings_.resume)
        say(fmt::format("no checkpoint in {}: starting from step 1\n", *settings_.out));
    if (settings_.load) {
        load_weights(*settings_.load, model_, *store_);
    } else {
        store_->initialise(settings_.seed, static_cast<float>(settings_.init_deviation));
    }
}

StepRecord Run::do_step(std::int64_t step, const Batch& now, const Batch& next) {
    StepRecord record;
    record.step = step;
    if (saver_) record.saving = saver_->writing();
    const AdamWStep settings = adamw_step(settings_, step);
    record.outcome = step_->run(tokens_of(now), tokens_of(next), settings, settings_.max_norm);
    last_clip_factor_ = record.outcome.clip_factor;
    redone_ += record.outcome.redone ? 1 : 0;
    const StepWatch::Passed passed = watch_.after_step();
    record.seconds = passed.seconds;
    record.gpu_joules = passed.gpu_joules;
    record.learning_rate = static_cast<double>(settings.learning_rate);
    record.tokens = training_.tokens();
    record.targets = counted_targets(now);
    record.device = device_->memory_in_use() - device_facts_.context;
    record.host = read_process_memory().resident().value_or(0);
    if (saver_) record.held = saver_->take_held();
    most_device_ = std::max(most_device_, record.device);
    most_host_ = std::max(most_host_, record.host);
    return record;
}

void Run::train(bool measure, RunResult& result) {
    if (state_.step >= settings_.steps) return;
    std::size_t current = 0;
    std::int64_t distinct_before = 0;  // of the previous step
    bool disturbed = false;            // by a validation after it, or by saving
    batches_[0] = sampler_->next();
    watch_.restart();
    for (std::int64_t step = state_.step + 1; step <= settings_.steps && !stop_requested();
         ++step) {
        const Batch& now = batches_[current];
        Batch& next = batches_[1 - current];
        draw_next(step, now, next);
        if (settings_.dump_batches) append_batch(*settings_.dump_batches, now);
        const bool validates = held_out_ && held_out_->is_due(step);
        StepRecord record = do_step(step, now, validates ? held_out_->first() : next);
        if (validates && record.outcome.finite) {
            record.validation_loss = held_out_->loss(*step_, next);
            watch_.restart();
        }
        progress_->report(record);
        norms_.add(step, record.outcome.finite ? record.outcome.gradient_norm : INFINITY);
        if (!record.outcome.finite) stop_at(step, record.outcome.loss);
        // The first steps build plans and fill caches; the previous step is the one that is
        // measured.
        constexpr std::int64_t kWarmUp = 3;
        // Here and after it, a validation was the previous step.
        const bool disturbs = validates || record.saving;
        if (measure && step > state_.step + kWarmUp && !record.outcome.redone && !disturbs &&
            !disturbed)
            measured_.add(plan_.step.program, {step_->intervals_of_step_before(), distinct_before});
        else
            measured_.pause();
        disturbed = disturbs;
        distinct_before = distinct_tokens(now.inputs, model_.vocabulary);
        result.steps_done = step;
        result.interrupted = stop_requested() && step < settings_.steps;
        const bool last = step == settings_.steps || result.interrupted;
        state_.validation_loss = record.validation_loss;
        if (settings_.save_best && validates) saver_->wait();  // it may be the best
        if (checkpoints_ && (last || checkpoints_->is_due(step, record.validation_loss)))
            save(step, next.position, last);
        if (result.interrupted) break;
        current = 1 - current;
    }
    step_->finish();
    if (saver_) saver_->wait();
}

void Run::draw_next(std::int64_t step, const Batch& now, Batch& next) {
    if (step == settings_.steps) {
        next = now;  // rows for a step that does not follow
        next.position = sampler_->position();
        return;
    }
    try {
        next = sampler_->next();
    } catch (const InputError&) {
        if (checkpoints_ && step > state_.step + 1) save(step - 1, now.position, true);
        throw;
    }
}

void Run::stop_at(std::int64_t step, double loss) {
    if (saver_) saver_->wait();
    throw std::runtime_error(fmt::format(
        "step {}: {} is not finite, so training stopped{}; a lower --learning-rate or a longer "
        "--warmup-steps may help",
        step, std::isfinite(loss) ? "the gradient" : "the loss",
        checkpoints_ ? "; " + checkpoints_->advice_after_divergence(norms_.rising_since()) : ""));
}

void Run::save(std::int64_t step, std::int64_t position, bool last) {
    measured_.pause();
    const Seconds start = host_seconds();
    step_->finish();
    TrainingState now = state_;
    now.step = step;
    now.data_position = position;
    now.clip_factor = last_clip_factor_;
    saver_->save(now, last, norms_.rising_since(), start);
    watch_.restart();
}

RunResult Run::go(bool measure) {
    prepare();
    RunResult result;
    result.steps_done = state_.step;
    train(measure, result);
    result.interrupted = stop_requested() && result.steps_done < settings_.steps;
    if (result.steps_done > state_.step)
        say(fmt::format("{}\n", checkpoints_
                                    ? "saved " + checkpoints_->newest().value_or("nothing")
                                    : "the weights were not saved: give --out to keep them"));
    if (!measured_.empty())
        result.report =
            measured_report(asked_step(model_, machine_, training_), planned(), measured_,
                            {type_, most_device_, most_host_, redone_, watch_.gpu_watts()});
    return result;
}

}  // namespace

RunResult run_training(const ModelSpec& model, TrainingSpec training, const TrainSettings& settings,
                       bool measure) {
    return Run(model, std::move(training), settings).go(measure);
}

}  // namespace sluice
