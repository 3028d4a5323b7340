#include "engine/train/checkpoint_saver.h"

#include <chrono>

#include "engine/train/weights_file.h"

namespace sluice {

CheckpointSaver::CheckpointSaver(const RunCheckpoints& checkpoints, const ParameterStore& store,
                                 Bytes copies, ThreadPool& pool, Device& device)
    : checkpoints_(checkpoints),
      store_(store),
      waits_(copies == 0),
      snapshot_(store, copies, pool, device) {}

CheckpointSaver::~CheckpointSaver() {
    if (writer_.valid()) writer_.wait();
}

void CheckpointSaver::wait() {
    if (writer_.valid()) writer_.get();
}

std::optional<std::int64_t> CheckpointSaver::writing() const {
    if (!writer_.valid() || writer_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        return std::nullopt;
    return step_;
}

void CheckpointSaver::save(const TrainingState& state, bool last,
                           std::optional<std::int64_t> rising_since) {
    wait();
    if (last || waits_) return checkpoints_.save(store_, state, last, rising_since);
    std::vector<StoredTensor> tensors = weight_tensors(store_);
    for (StoredTensor& tensor : optimizer_tensors(store_)) tensors.push_back(std::move(tensor));
    snapshot_.open(tensors);
    step_ = state.step;
    writer_ = std::async(std::launch::async, [this, state, rising_since] {
        struct Close {
            StateSnapshot& snapshot;
            ~Close() { snapshot.close(); }
        } close{snapshot_};
        checkpoints_.save(store_, state, false, rising_since,
                          [this](int section, const std::byte* from, std::span<std::byte> to) {
                              snapshot_.read(section, from, to);
                          });
    });
    snapshot_.copy_resident();
}

}  // namespace sluice
