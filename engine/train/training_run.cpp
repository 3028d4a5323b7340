#include "engine/train/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "engine/data/batch_sampler.h"
#include "engine/machine/machine_here.h"
#include "engine/machine/placement.h"
#include "engine/machine/process_memory.h"
#include "engine/machine/setup_warnings.h"
#include "engine/run/streamed_step.h"
#include "engine/train/choose_device.h"
#include "engine/train/measured_report.h"
#include "engine/train/planned_memory.h"
#include "engine/train/progress.h"
#include "engine/train/run_settings.h"
#include "engine/train/training_checkpoint.h"
#include "engine/train/weights_file.h"
#include "sim/input_error.h"
#include "sim/machine/memory_size.h"
#include "sim/report/plan_report.h"

namespace sluice {
namespace {

std::atomic<bool> stop_requested{false};
extern "C" void request_stop(int) { stop_requested = true; }

void append_batch(const std::string& file, const Batch& batch) {
    std::ofstream out(file, std::ios::binary | std::ios::app);
    for (const auto* tokens : {&batch.inputs, &batch.targets})
        out.write(reinterpret_cast<const char*>(tokens->data()),
                  static_cast<std::streamsize>(tokens->size() * sizeof(std::int32_t)));
    if (!out) throw InputError(fmt::format("--dump-batches {}: cannot be written", file));
}

class Run {
  public:
    Run(const ModelSpec& model, TrainingSpec training, const TrainSettings& settings)
        : model_(model), training_(std::move(training)), settings_(settings) {}

    RunResult go(bool measure);

  private:
    void prepare();
    Placement place(const StepReport& report) const;
    void start_parameters();
    void resume(const std::string& folder);
    void train(bool measure, RunResult& result);
    StepRecord do_step(std::int64_t step, const Batch& now, const Batch& next);
    void save(std::int64_t step, std::int64_t position);
    StepReport measured_report() const;
    AdamWStep adam(std::int64_t step) const;

    const ModelSpec& model_;
    TrainingSpec training_;
    const TrainSettings& settings_;
    HostFacts host_facts_;
    std::unique_ptr<Device> device_;
    DeviceFacts device_facts_;
    DType type_ = DType::bf16;
    MachineSpec machine_;
    StreamedPlan plan_;
    std::unique_ptr<ThreadPool> pool_;
    std::unique_ptr<HostModel> host_;
    std::unique_ptr<BatchSampler> sampler_;
    std::unique_ptr<StreamedStep> step_;
    TrainingState state_;
    MeasuredSteps measured_;
    Bytes most_device_ = 0, most_host_ = 0;
    Seconds last_known_ = 0;
    double last_clip_factor_ = 1;
};

void Run::prepare() {
    host_facts_ = read_host_facts();
    device_ = choose_device(settings_, host_facts_);
    device_facts_ = device_->facts();
    type_ = choose_precision(settings_, device_facts_);
    std::optional<GpuFacts> gpu;
    if (device_facts_.is_gpu)
        gpu = {device_facts_.name, device_facts_.memory_capacity, device_facts_.context};
    std::optional<Bytes> host_memory;
    if (settings_.host_memory)
        host_memory =
            static_cast<Bytes>(parse_memory_size(*settings_.host_memory, "--host-memory"));
    machine_ = machine_here(host_facts_, gpu, host_memory);
    if (training_.optimizer_threads == 0)
        training_.optimizer_threads = machine_.host.best_adam_threads;
    if (training_.state_bytes == 6 && model_.hidden % kMomentBlock != 0) {
        throw InputError(fmt::format(
            "--state-bytes 6: the hidden size of {} is {}, expected a multiple of {}; give 8 or 12",
            model_.name, model_.hidden, kMomentBlock));
    }
    check_plan_inputs(model_, machine_, training_);
    plan_ = plan_streamed(model_, machine_, training_);
    const StepReport report = report_of_plan(model_, machine_, training_, plan_.step);
    print_planned_memory(report, device_facts_, type_);
    refuse_misfit(report, memory_growth_hint(host_facts_, report.fit.host.peak.bytes).value_or(""));
    const Placement placement = place(report);
    // On the CPU the device's own threads need them all.
    if (device_facts_.is_gpu) stay_on(placement.other_cpus);
    // Data that is wrong should be said before minutes of loading.
    sampler_ = std::make_unique<BatchSampler>(open_tokens(settings_.data, model_.vocabulary),
                                              training_.batch, training_.sequence, settings_.seed);
    pool_ = std::make_unique<ThreadPool>(static_cast<int>(training_.optimizer_threads),
                                         placement.optimizer_cpus);
    host_ = std::make_unique<HostModel>(model_, static_cast<int>(training_.state_bytes), *pool_,
                                        *device_);
    start_parameters();
    step_ =
        std::make_unique<StreamedStep>(model_, training_, plan_, *host_, *device_, *pool_, type_);
}

/// Where the optimizer's threads go; says what of the machine stands in the way.
Placement Run::place(const StepReport& report) const {
    const Bytes host_bytes = report.fit.host.peak.bytes;
    const int threads = static_cast<int>(training_.optimizer_threads);
    constexpr int kOtherThreads = 4;  // lanes and the main one; they mostly sleep
    Placement placement = choose_placement(
        host_facts_, {device_facts_.numa_node, threads, kOtherThreads, host_bytes});
    fmt::print("{}\n", placement.text);
    const BytesByKind& host = report.fit.host.peak.by_kind;
    SetupNeeds needs{host_bytes, 0, device_facts_.numa_node, threads};
    for (const MemoryKind kind : {MemoryKind::weights, MemoryKind::pinned_buffers})
        if (device_facts_.is_gpu) needs.pinned_bytes += host[static_cast<std::size_t>(kind)];
    for (const std::string& note : placement.notes) fmt::print("note: {}\n", note);
    for (const std::string& warning : setup_warnings(host_facts_, needs))
        fmt::print("warning: {}\n", warning);
    std::fflush(stdout);
    return placement;
}

void Run::start_parameters() {
    state_.seed = settings_.seed;
    state_.settings = settings_record(training_, settings_, *sampler_);
    const auto folder = settings_.resume ? newest_checkpoint(*settings_.out) : std::nullopt;
    if (folder) return resume(*folder);
    if (settings_.load) {
        load_weights(*settings_.load, model_, *host_, *pool_);
    } else {
        host_->initialise(settings_.seed, static_cast<float>(settings_.init_deviation), *pool_);
    }
}

void Run::resume(const std::string& folder) {
    const std::string settings = state_.settings;
    state_ = load_checkpoint(folder, model_, *host_, *pool_);
    const std::string changes = changed_settings(folder, state_.settings, settings);
    state_.settings = settings;
    sampler_->seek(state_.data_position);
    fmt::print("going on from {}\n", folder);
    if (!changes.empty()) fmt::print("note: {}\n", changes);
}

AdamWStep Run::adam(std::int64_t step) const {
    AdamWStep adam;
    adam.learning_rate = static_cast<float>(
        learning_rate_at({settings_.learning_rate, settings_.final_fraction, settings_.warmup_steps,
                          settings_.steps, settings_.schedule},
                         step));
    adam.beta1 = settings_.beta1;
    adam.beta2 = settings_.beta2;
    adam.epsilon = static_cast<float>(settings_.epsilon);
    adam.weight_decay = static_cast<float>(settings_.weight_decay);
    adam.step = step;
    adam.seed = settings_.seed;
    return adam;
}

StepRecord Run::do_step(std::int64_t step, const Batch& now, const Batch& next) {
    StepRecord record;
    record.step = step;
    const AdamWStep settings = adam(step);
    record.outcome = step_->run({now.inputs, now.targets}, {next.inputs, next.targets}, settings,
                                settings_.max_norm);
    last_clip_factor_ = record.outcome.clip_factor;
    const Seconds known = host_seconds();
    record.learning_rate = static_cast<double>(settings.learning_rate);
    record.seconds = known - last_known_;
    last_known_ = known;
    record.tokens = training_.tokens();
    record.device = device_->memory_in_use() - device_facts_.context;
    record.host = read_process_memory().resident().value_or(0);
    most_device_ = std::max(most_device_, record.device);
    most_host_ = std::max(most_host_, record.host);
    return record;
}

void Run::train(bool measure, RunResult& result) {
    Progress progress(settings_.steps, settings_.log);
    std::array<Batch, 2> batches;
    std::size_t current = 0;
    batches[0] = sampler_->next();
    last_known_ = host_seconds();
    for (std::int64_t step = state_.step + 1; step <= settings_.steps; ++step) {
        const Batch& now = batches[current];
        Batch& next = batches[1 - current];
        next = sampler_->next();
        if (settings_.dump_batches) append_batch(*settings_.dump_batches, now);
        const StepRecord record = do_step(step, now, next);
        progress.report(record);
        if (!record.outcome.finite) {
            throw std::runtime_error(fmt::format(
                "the loss of step {} is {}; training stopped and nothing was saved over the last "
                "checkpoint{}. Go on from it with --resume and a lower --learning-rate",
                step, record.outcome.loss,
                settings_.out ? " in " + *settings_.out : std::string()));
        }
        // The first steps build plans and fill caches.
        constexpr std::int64_t kWarmUp = 3;
        if (measure && !record.outcome.redone && step > state_.step + kWarmUp)
            measured_.add(plan_.step.program, step_->intervals_of_step_before());
        result.last_loss = record.outcome.loss;
        result.steps_done = step;
        result.interrupted = stop_requested;
        const bool last = step == settings_.steps || result.interrupted;
        const bool due = settings_.save_every > 0 && step % settings_.save_every == 0;
        if (settings_.out && (last || due)) save(step, next.position);
        if (result.interrupted) break;
        current = 1 - current;
    }
    step_->finish();
}

void Run::save(std::int64_t step, std::int64_t position) {
    step_->finish();
    TrainingState now = state_;
    now.step = step;
    now.data_position = position;
    now.clip_factor = last_clip_factor_;
    constexpr int kKeep = 1;
    save_checkpoint(*settings_.out, model_, *host_, now, kKeep, *pool_);
    last_known_ = host_seconds();
}

StepReport Run::measured_report() const {
    StepReport report = report_of_plan(model_, machine_, training_, plan_.step);
    report.measured = true;
    report.measured_device = most_device_;
    report.measured_host = most_host_;
    add_times(report, measured_.typical(), measured_.step_seconds());
    return report;
}

RunResult Run::go(bool measure) {
    prepare();
    RunResult result;
    result.steps_done = state_.step;
    train(measure, result);
    if (!measured_.empty()) result.report = measured_report();
    return result;
}

}  // namespace

RunResult run_training(const ModelSpec& model, TrainingSpec training, const TrainSettings& settings,
                       bool measure) {
    return Run(model, std::move(training), settings).go(measure);
}

void stop_on_signals() {
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
}

}  // namespace sluice
