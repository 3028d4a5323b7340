#include "engine/train/checkpoint_saver.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <utility>

#include "engine/train/progress.h"
#include "engine/train/weights_file.h"

namespace sluice {

namespace {

/// Writing takes a processor, which the steps may need.
void yield_to_steps() {
    constexpr int kNice = 10;
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
}

}  // namespace

CheckpointSaver::CheckpointSaver(RunCheckpoints& checkpoints, const ParameterStore& store,
                                 Bytes copies, ThreadPool& pool, Device& device)
    : checkpoints_(checkpoints),
      store_(store),
      waits_(copies == 0),
      snapshot_(store, copies, pool, device) {}

CheckpointSaver::~CheckpointSaver() {
    if (writer_.valid()) writer_.wait();
}

void CheckpointSaver::join() {
    if (writer_.valid()) writer_.get();
}

void CheckpointSaver::wait() {
    const Seconds start = host_seconds();
    join();
    held_ += host_seconds() - start;
}

std::optional<std::int64_t> CheckpointSaver::writing() const {
    if (!writer_.valid() || writer_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        return std::nullopt;
    return step_;
}

void CheckpointSaver::judge_interval(Seconds since) {
    constexpr double kTooMuch = 0.02;
    constexpr Seconds kNotWorthTelling = 1;
    held_ += snapshot_.take_held();
    const Seconds interval = since - interval_start_.value_or(since), until_now = taken_ + held_;
    const Seconds held = until_now - std::exchange(held_before_, until_now);
    interval_start_ = since;
    if (has_judged_ || held < kNotWorthTelling || held < kTooMuch * interval) return;
    has_judged_ = true;
    say(
        fmt::format("note: saving held steps for {:.1f} s of {:.1f} s; more --save-memory or a "
                    "larger --save-every holds them less\n",
                    held, interval));
}

Seconds CheckpointSaver::take_held() {
    const Seconds held = std::exchange(held_, 0) + snapshot_.take_held();
    taken_ += held;
    return held;
}

void CheckpointSaver::save(const TrainingState& state, bool last, Seconds since) {
    judge_interval(since);
    join();
    if (last || waits_)
        checkpoints_.save(store_, state, last);
    else
        start(state);
    held_ += host_seconds() - since;
}

void CheckpointSaver::start(const TrainingState& state) {
    std::vector<StoredTensor> tensors = weight_tensors(store_);
    for (StoredTensor& tensor : optimizer_tensors(store_)) tensors.push_back(std::move(tensor));
    const bool has_time = snapshot_.open(tensors);
    step_ = state.step;
    writer_ = std::async(std::launch::async, [this, state, has_time] {
        if (has_time) yield_to_steps();
        struct Close {
            StateSnapshot& snapshot;
            ~Close() { snapshot.close(); }
        } close{snapshot_};
        // A failure here must not cost the next checkpoint, or the run.
        try {
            checkpoints_.save(store_, state, false,
                              [this](int section, const std::byte* from, std::span<std::byte> to) {
                                  snapshot_.read(section, from, to);
                              });
        } catch (const std::exception& error) {
            say_on_stderr(fmt::format("sluice-train: no checkpoint of step {}: {}\n", state.step,
                                      error.what()));
        }
    });
    snapshot_.copy_resident();
}

}  // namespace sluice
