// How does a run save while it trains?
#pragma once

#include <cstdint>
#include <future>
#include <optional>

#include "engine/train/run_checkpoints.h"
#include "engine/train/state_snapshot.h"

namespace sluice {

class CheckpointSaver {
  public:
    /// `copies`: host memory for state that is still to be written when it changes; 0: save() waits
    /// until all is written. All arguments must outlive it. Throws InputError if memory is short.
    CheckpointSaver(RunCheckpoints& checkpoints, const ParameterStore& store, Bytes copies,
                    ThreadPool& pool, Device& device);
    /// Waits for the writer.
    ~CheckpointSaver();
    CheckpointSaver(const CheckpointSaver&) = delete;
    CheckpointSaver& operator=(const CheckpointSaver&) = delete;

    /// Saves the store as it is now. Returns when the next step may begin, which has to call
    /// before_update(). First waits for the checkpoint before. `last`: returns when it is written,
    /// and throws InputError where RunCheckpoints::save() does. `since`: when steps began to wait.
    /// Precondition: no step is at work.
    void save(const TrainingState& state, bool last, Seconds since);
    /// StreamedStep's: a section on the host is about to change.
    void before_update(int section) { snapshot_.keep(section); }
    /// Until the checkpoint that is being written is whole, or its error was said.
    void wait();

    /// The step of the checkpoint that is being written.
    std::optional<std::int64_t> writing() const;
    /// For how long save() and before_update() have held steps since the last call of this.
    Seconds take_held();

  private:
    void join();
    void start(const TrainingState& state);
    /// Says once if steps were held for too much of the time between two checkpoints.
    void judge_interval(Seconds since);

    RunCheckpoints& checkpoints_;
    const ParameterStore& store_;
    bool waits_;
    StateSnapshot snapshot_;
    Seconds held_ = 0, taken_ = 0;  ///< not yet taken by take_held(), and taken so far
    Seconds held_before_ = 0;       ///< of both, at interval_start_
    std::optional<Seconds> interval_start_;
    bool has_judged_ = false;
    std::int64_t step_ = 0;     ///< that writer_ saves
    std::future<void> writer_;  ///< last: it uses all of the above
};

}  // namespace sluice
