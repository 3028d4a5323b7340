// How does a run prepare its first step: device, precision, memory, processors?
#pragma once

#include "engine/device/device.h"
#include "engine/machine/host_facts.h"
#include "engine/machine/thread_placement.h"
#include "engine/train/host_probe.h"
#include "engine/train/run_settings.h"
#include "sim/plan/step.h"
#include "sim/plan/step_plan.h"

namespace sluice {

/// A file stays open for each shard of tokens; the usual limit is 1024.
void allow_many_files();

/// Opens what the run reads, before a plan is searched and minutes of loading, and returns the
/// sequences of an epoch. Throws InputError if the model is not supported, a file is missing, is of
/// another model or of other sequences, or is trained on and held out. `resumed`: the weights of
/// --load will not be read.
std::int64_t check_inputs(const ModelSpec& model, const TrainingSpec& training,
                          const TrainSettings& settings, bool resumed);

/// Throws InputError if weights would be ignored that stand beside --model, or loaded ones trained
/// and lost, unless --random-weights or --discard says that this is meant. `resumed`: as above.
void check_what_is_kept(const TrainSettings& settings, bool resumed);

/// Throws InputError for text where --load or --model has a tokenizer: its bytes are not the
/// tokens that the model knows, but would train it.
void refuse_bytes(const TokenSource& tokens, const TrainSettings& settings);

/// The device of the run, before a plan is searched. Throws InputError if it, its precision or the
/// host's memory is named wrong.
DeviceFacts check_device(const TrainSettings& settings);

/// Type of activations. Throws InputError if the device does not support it.
DType choose_precision(const TrainSettings& settings, const DeviceFacts& device);

/// Throws InputError if products shall be in FP8 on a GPU without it; says that a CPU emulates it.
void check_fp8(const TrainingSpec& training, const DeviceFacts& device);

/// Throws InputError if attention shall stay within documents on a GPU that cannot, or not with the
/// model's heads.
void check_experts(const ModelSpec& model, const DeviceFacts& device);
void check_documents(const ModelSpec& model, const TrainingSpec& training,
                     const DeviceFacts& device);

/// The machine to plan for: this one, with --host-memory. Throws InputError if that is no size.
MachineSpec machine_of_run(const TrainSettings& settings, const HostFacts& host,
                           const DeviceFacts& device);

/// Host memory for state that is still to be written when it changes (StateSnapshot): what
/// --save-memory says, else all that is needed or half of what the plan and other programs leave;
/// none if no step comes after a checkpoint.
Bytes choose_save_memory(const TrainSettings& settings, const Fit& fit, const HostFacts& host,
                         const ModelSpec& model, const TrainingSpec& training);

/// Counts that memory, which is page-locked where sections are resident.
PlannedStep with_save_memory(PlannedStep plan, const TrainingSpec& training, Bytes bytes);

/// Prints the plan's memory by kind, before anything is allocated.
void print_planned_memory(const AskedStep& asked, const Fit& fit, const DeviceFacts& device,
                          DType activations);

/// Throws InputError with the shortage if the plan does not fit. `hint` is appended.
void refuse_misfit(const PlannedStep& plan, const std::string& hint);

/// Measures the host (probe_host) and says what that means for the expected step.
HostRates rates_today(const ExpectedRates& expected, const ParameterStore& store,
                      const StepBuffers& buffers, char* gradients, ThreadPool& pool,
                      Device& device);

/// Chooses the threads' CPUs, and prints them and warnings about the host.
ThreadPlacement place_threads(const HostFacts& host_facts, const DeviceFacts& device,
                              Bytes host_bytes, Bytes pinned_bytes, int optimizer_threads);

}  // namespace sluice
