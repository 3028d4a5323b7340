#include "engine/train/training_checkpoint.h"

#include <fmt/format.h>

#include <filesystem>

#include "engine/data/files.h"
#include "engine/train/weights_file.h"

namespace sluice {
namespace {

constexpr const char* kWeights = "model";
constexpr const char* kOptimizer = "optimizer";

std::string path_in(const std::string& folder, const char* name) {
    return (std::filesystem::path(folder) / name).string();
}

/// Bytes on the disk, with room for headers, indices and texts.
std::int64_t bytes_on_disk(const std::vector<HostTensor>& weights,
                           const std::vector<HostTensor>& optimizer) {
    constexpr std::int64_t kTexts = 64 << 10, kPerTensor = 512;
    std::int64_t bytes = kTexts;
    for (const auto* tensors : {&weights, &optimizer}) {
        for (const HostTensor& tensor : *tensors) bytes += tensor_bytes(tensor.spec) + kPerTensor;
    }
    return bytes;
}

}  // namespace

void save_checkpoint(const std::string& out, const ModelSpec& model, const HostModel& host,
                     const TrainingState& state, int keep, ThreadPool& pool) {
    const std::string record = training_record_text(model, state, host.state_bytes());
    const std::vector<HostTensor> weights = weight_tensors(host), rest = optimizer_tensors(host);
    prepare_output_folder(out);
    refuse_full_disk(out, fmt::format("the checkpoint of step {}", state.step),
                     bytes_on_disk(weights, rest));
    const std::string name = checkpoint_name(state.step);
    {
        PartialFolder folder(out, name);
        write_output_file(path_in(folder.path(), "config.json"), hf_config_text(model));
        write_tensors(folder.path(), kWeights, weights, kMaxShardBytes, pool);
        write_tensors(folder.path(), kOptimizer, rest, kMaxShardBytes, pool);
        write_output_file(path_in(folder.path(), kTrainingRecordFile),
                          record);  // last: it is whole now
        folder.commit();
    }
    point_latest_at(out, name);
    remove_older_checkpoints(out, state.step, keep);
}

TrainingState load_checkpoint(const std::string& folder, const ModelSpec& model, HostModel& host,
                              ThreadPool& pool) {
    TrainingState state =
        read_training_record(path_in(folder, kTrainingRecordFile), model, host.state_bytes());
    const std::vector<HostTensor> weights = weight_tensors(host), rest = optimizer_tensors(host);
    const Checkpoint weights_file = open_tensors(folder, kWeights, weights);
    const Checkpoint rest_file = open_tensors(folder, kOptimizer, rest);
    copy_tensors(weights_file, weights, pool);
    copy_tensors(rest_file, rest, pool);
    return state;
}

}  // namespace sluice
