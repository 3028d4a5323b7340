#include "engine/train/training_run.h"

#include <fmt/format.h>

#include "engine/machine/setup_warnings.h"
#include "engine/train/run_endings.h"
#include "engine/train/run_summary.h"
#include "engine/train/weights_file.h"
#include "engine/train/whole_run.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {

void WholeRun::prepare() {
    host_facts_ = read_host_facts();
    device_ = make_device(settings_.device, settings_.cpu_threads, host_facts_);
    device_facts_ = device_->facts();
    type_ = choose_precision(settings_, device_facts_);
    machine_ = machine_of_run(settings_, host_facts_, device_facts_);
    state_.plan = option_texts(training_);
    if (training_.optimizer_threads == 0)
        training_.optimizer_threads = machine_.host.adam_threads(training_.updates_after_norm());
    if (settings_.expected && !device_facts_.is_gpu)
        say("note: the prediction is for a GPU and this run is on the CPU, so how they differ says "
            "nothing about the plan\n");
    check_plan_inputs(model_, machine_, training_);
    plan_ = plan_streamed(model_, machine_, training_, ClippedStep::ahead,
                          type_ == DType::fp32 ? Form::fp32 : Form::bf16);
    save_memory_ = choose_save_memory(settings_, planned().fit, host_facts_, model_, training_);
    PlannedStep plan = planned();
    if (device_facts_.is_gpu) gpu_ = Nvml::open(attached_gpu_bus_id());
    watch_.read_energy(energy_counter(gpu_));
    const Bytes host_bytes = plan.fit.host().peak.bytes, pinned_bytes = plan.memory.pinned_bytes();
    print_planned_memory(asked_step(model_, machine_, training_), plan.fit, device_facts_, type_);
    const char* const another = settings_.resume ? "--plan auto chooses another plan" : "";
    refuse_misfit(plan, host_memory_hint(host_facts_, host_bytes).value_or(another));
    const ThreadPlacement placement =
        place_threads(host_facts_, device_facts_, host_bytes, pinned_bytes,
                      static_cast<int>(training_.optimizer_threads));
    if (settings_.grace) {
        checkpoints_->measure_disk(training_);
        const Seconds step = settings_.expected ? settings_.expected->step : 0;
        const std::vector<std::int64_t> steps = checkpoint_steps(*settings_.out);
        say(fmt::format("note: {}\n",
                        grace_words(settings_, checkpoints_->save_time(), step,
                                    steps.empty() ? std::nullopt : std::optional(steps.front()))));
    }
    const bool documents = training_.within_documents();
    sampler_ =
        std::make_unique<BatchSampler>(open_tokens(settings_.data, model_.vocabulary, documents),
                                       training_.batch, training_.sequence, settings_.seed);
    modifications_ = sampler_->tokens().modifications();
    if (!settings_.validation.empty()) held_out_.emplace(model_, training_, settings_);
    introduce();
    // Reads all data, which takes a second for some gigabytes, while memory is allocated.
    fingerprints_ = std::async(std::launch::async, [this, documents] {
        const TokenSource tokens = open_tokens(settings_.data, model_.vocabulary, documents);
        return DataFingerprints{tokens.fingerprint(), tokens.documents_fingerprint()};
    });
    pool_ = std::make_unique<ThreadPool>(static_cast<int>(training_.optimizer_threads),
                                         placement.optimizer_cpus);
    try {
        allocate();
    } catch (const InputError&) {
        throw;
    } catch (const MachineError&) {
        throw;
    } catch (const std::runtime_error& error) {
        const auto hint = locked_memory_hint(host_facts_, pinned_bytes);
        if (!hint) throw;
        throw std::runtime_error(fmt::format("{}. {}", error.what(), *hint));
    }
}

void WholeRun::introduce() {
    ComingRun facts;
    facts.settings = settings_;
    facts.training = training_;
    facts.longest_sequence = model_.longest_sequence;
    facts.vocabulary = model_.vocabulary;
    facts.data = data_facts(sampler_->tokens(), training_.sequence);
    if (held_out_) facts.validation = held_out_->facts();
    facts.fp32_activations = type_ == DType::fp32;
    if (settings_.resume && checkpoints_) facts.continues_from = checkpoints_->newest();
    if (facts.continues_from) facts.done = checkpoint_steps(*settings_.out).front();
    facts.now = std::time(nullptr);
    say(run_summary(facts));
    facts_ = run_facts(facts);
    for (const std::string& warning : run_warnings(facts))
        say(fmt::format("warning: {}\n", warning));
}

void WholeRun::allocate() {
    planes_ = std::make_unique<PlaneStore>(model_, plan_, *device_, *pool_);
    buffers_ = std::make_unique<StepBuffers>(model_, plan_, *planes_);
    store_ = std::make_unique<ParameterStore>(
        model_, planes_->sections(), plan_.homes.resident_sections(),
        planes_->at(plan_.buffers.host.staging), *pool_, *device_, training_.adapters(),
        frozen_coder(model_, plan_, *planes_, *pool_, *device_));
    if (settings_.expected && settings_.expected->rates)
        host_rates_ = rates_today(*settings_.expected->rates, *store_, *buffers_,
                                  planes_->at(plan_.buffers.host.gradients), *pool_, *device_);
    start_parameters();
    step_ = std::make_unique<StreamedStep>(
        model_, plan_, *planes_, *store_, *buffers_, *device_, *pool_, LaneChoice(),
        state_.adapters ? static_cast<float>(state_.adapters->scale()) : 1);
    step_->set_last_clip_factor(state_.clip_factor);
    if (checkpoints_) {
        saver_.emplace(*checkpoints_, *store_, save_memory_, *pool_, *device_);
        step_->before_update([this](int section) { saver_->before_update(section); });
    }
    last_clip_factor_ = state_.clip_factor;
    decide_ahead();
}

/// A run that continues decides as before, so that it goes on to the same bits on any machine.
void WholeRun::decide_ahead() {
    if (training_.clipping != Clipping::automatic) return state_.ahead.reset();
    if (!state_.ahead) state_.ahead = {settings_.expected && settings_.expected->step_ahead};
    ahead_ = AheadRule(*state_.ahead);
    if (settings_.on_spike != OnSpike::skip && state_.ahead->allowed && settings_.expected &&
        settings_.expected->step_ahead)
        say(
            fmt::format("where nothing is clipped, updates begin before the norm is known: {} a "
                        "step\n",
                        format_seconds(*settings_.expected->step_ahead)));
}

void WholeRun::start_parameters() {
    state_.seed = settings_.seed;
    data_ = fingerprints_.get();
    if (held_out_) data_.validation = held_out_->fingerprint();
    if (held_out_ && !settings_.evaluate_only) refuse_trained(held_out_->fingerprints());
    state_.settings = settings_record(training_, settings_, *sampler_, data_);
    if (auto saved = checkpoints_ ? checkpoints_->load(*store_, state_.settings) : std::nullopt) {
        saved->settings = state_.settings;
        if (saved->adapters) continue_adapters(*saved->adapters);
        saved->plan = state_.plan;
        state_ = *std::move(saved);
        spikes_.continue_from(state_.recent);
        divergence_.continue_from(state_.divergence, state_.recent);
        early_.continue_from(state_.early_stop);
        sampler_->seek(state_.data_position);
        // One high norm may be that of a single batch.
        const DivergenceMemory& was = state_.divergence;
        if (was.loss_rise.is_sure || was.no_gradient.is_sure)
            say(fmt::format("note: {}\n",
                            checkpoints_->advice_after_divergence(was.far_worse_since())));
        if (early_.is_over())
            say(fmt::format("nothing is left to do: {}; give more --patience to continue\n",
                            early_.words()));
        else if (state_.step >= settings_.steps)
            say(fmt::format("all {} steps are done; give more --steps to continue\n",
                            settings_.steps));
        return;
    }
    if (settings_.resume)
        say(fmt::format("no checkpoint in {}: starting from step 1\n", *settings_.out));
    load_base(settings_.load);
    if (!store_->has_adapters()) return;
    if (settings_.adapters)
        load_adapters(*settings_.adapters, model_, training_.adapters(), *store_);
    else
        store_->initialise_adapters(settings_.seed);
    state_.adapters = {training_.adapters(), adapter_alpha(settings_, training_),
                       settings_.rank_stabilized, settings_.load.value_or("")};
}

void WholeRun::refuse_trained(const std::vector<std::string>& held_out) const {
    for (std::size_t set = 0; set < held_out.size(); ++set)
        if (held_out[set] == data_.tokens + data_.documents)
            throw InputError(fmt::format(
                "--validation {}: holds the tokens of --data, so its loss would say nothing; hold "
                "data out with ./dev data --held-out 0.05",
                settings_.validation[set].files.front()));
}

void WholeRun::load_base(const std::optional<std::string>& from) {
    if (from)
        load_weights(*from, model_, *store_, settings_.fewer_tokens);
    else
        store_->initialise(settings_.seed, static_cast<float>(settings_.init_deviation));
}

/// The checkpoint has neither the frozen weights nor more than the adapters' own scale.
void WholeRun::continue_adapters(AdapterRecord& saved) {
    if (settings_.rank_stabilized && !saved.rank_stabilized)
        throw InputError(fmt::format(
            "--adapter-rslora is given, but {} was trained without it, which scales what it "
            "learned; leave it out",
            *settings_.out));
    saved.shape = training_.adapters();  // dropout may be another one
    if (settings_.adapter_alpha.value_or(saved.alpha) != saved.alpha)
        throw InputError(fmt::format(
            "--adapter-alpha is {:g}, but {} was trained with {:g}, which scales what it learned; "
            "leave it out",
            *settings_.adapter_alpha, *settings_.out, saved.alpha));
    if (settings_.load) saved.base = *settings_.load;
    load_base(saved.base.empty() ? std::nullopt : std::optional(saved.base));
}

RunResult run_training(const ModelSpec& model, TrainingSpec training, const TrainSettings& settings,
                       RunCheckpoints* checkpoints, bool measure) {
    return WholeRun(model, std::move(training), settings, checkpoints).go(measure);
}

}  // namespace sluice
