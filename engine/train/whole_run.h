// Which parts does a run have, and how do they meet?
#pragma once

#include <array>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "engine/data/batch_sampler.h"
#include "engine/machine/host_facts.h"
#include "engine/run/streamed_step.h"
#include "engine/train/checkpoint_saver.h"
#include "engine/train/divergence_watch.h"
#include "engine/train/held_out.h"
#include "engine/train/run_checkpoints.h"
#include "engine/train/run_reports.h"
#include "engine/train/run_setup.h"
#include "engine/train/spike_watch.h"
#include "engine/train/training_run.h"

namespace sluice {

class WholeRun {
  public:
    WholeRun(const ModelSpec& model, TrainingSpec training, const TrainSettings& settings,
             RunCheckpoints* checkpoints)
        : model_(model),
          training_(std::move(training)),
          settings_(settings),
          checkpoints_(checkpoints),
          divergence_(model.vocabulary),
          early_(settings.patience),
          spikes_(settings.spike_deviations) {}

    RunResult go(bool measure);

  private:
    void prepare();
    /// Says what the run will do.
    void introduce();
    /// With the memory that saving takes.
    PlannedStep planned() const {
        const PlannedStep step = planned_step(plan_.step, machine_, training_);
        return with_save_memory(step, training_, save_memory_);
    }
    void allocate();
    /// The batch after `now`, which `step` trains on. If the data is wrong, the finished steps are
    /// saved first.
    void draw_next(std::int64_t step, const Batch& now, Batch& next);
    void start_parameters();
    /// By fingerprints of each set of held-out data.
    void refuse_trained(const std::vector<std::string>& held_out) const;
    /// From a file or folder, or random ones.
    void load_base(const std::optional<std::string>& from);
    void continue_adapters(AdapterRecord& saved);
    /// The next batch. Throws InputError if the data are wrong, or others than at the start.
    Batch draw();
    /// Where the checkpoint does not say whether updates may begin before the norm is known.
    void decide_ahead();
    void train(RunResult& result);
    /// The held-out loss before the first step.
    void validate_first();
    /// By a signal.
    bool is_asked_to_save();
    /// Ends the run after a step that is not finite, and at a spike if that is asked for.
    void judge(const StepRecord& record);
    /// "; " and where to go on from after this divergence; "" without --out.
    std::string advice() const;
    /// After the GPU has failed: what the driver says, and where to go on from.
    std::string after_failure(const std::string& sentence);
    /// After a signal. Without a checkpoint nothing is lost by trying.
    bool is_saved_in_time(const StepRecord& record);
    StepRecord do_step(std::int64_t step, const Batch& now, const Batch& next);
    void save(std::int64_t step, std::int64_t position, bool last);

    const ModelSpec& model_;
    TrainingSpec training_;
    const TrainSettings& settings_;
    RunCheckpoints* checkpoints_;  ///< with --out
    HostFacts host_facts_;
    std::unique_ptr<Device> device_;
    DeviceFacts device_facts_;
    DType type_ = DType::bf16;
    MachineSpec machine_;
    StreamedPlan plan_;
    std::unique_ptr<ThreadPool> pool_;
    std::unique_ptr<PlaneStore> planes_;
    std::unique_ptr<StepBuffers> buffers_;
    std::unique_ptr<ParameterStore> store_;
    Bytes save_memory_ = 0;
    std::optional<CheckpointSaver> saver_;  ///< with --out; reads the store, and step_ calls it
    std::unique_ptr<BatchSampler> sampler_;
    std::vector<std::int64_t> modifications_;     ///< of the data, when they were last known
    std::future<DataFingerprints> fingerprints_;  ///< without the held-out data's
    DataFingerprints data_;
    std::optional<HeldOut> held_out_;  ///< with --validation
    std::array<Batch, 2> batches_;     ///< of this step and the next; read by the lanes of step_
    std::unique_ptr<StreamedStep> step_;
    TrainingState state_;
    std::shared_ptr<const Nvml> gpu_;  ///< null without a GPU or its library
    std::optional<RunReports> reports_;
    DivergenceWatch divergence_;
    EarlyStop early_;
    SpikeWatch spikes_;
    AheadRule ahead_;
    StepWatch watch_;
    HostRates host_rates_;
    std::vector<std::pair<std::string, std::string>> facts_;  ///< run_facts()
    double last_clip_factor_ = 1;
    std::int64_t steps_without_targets_ = 0;
    std::string diverged_;  ///< a sentence, once the run has diverged with finite numbers
};

}  // namespace sluice
