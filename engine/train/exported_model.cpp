#include "engine/train/exported_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/data/files.h"
#include "engine/train/model_files.h"
#include "engine/train/training_checkpoint.h"
#include "sim/base/input_error.h"
#include "sim/base/json_parser.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// The checkpoint itself, or the newest of a run.
std::string checkpoint_of(const std::string& from) {
    std::error_code error;
    if (!fs::is_directory(from, error))
        throw InputError(fmt::format(
            "{}: is no folder; give the folder of a run (--out), or one of its checkpoints", from));
    if (is_there(path_in(from, kTrainingRecordFile))) return from;
    if (const auto newest = newest_checkpoint(from)) return *newest;
    throw InputError(fmt::format(
        "{}: holds no checkpoint of sluice-train; give the folder of a run (--out), or one of its "
        "checkpoints",
        from));
}

/// The folder that gets the new one.
std::string parent_of(const fs::path& to) {
    const fs::path parent = to.parent_path();
    return parent.empty() ? "." : parent.string();
}

/// Without a slash at its end, so that it has a name.
fs::path named_folder(const std::string& to) {
    fs::path path = fs::path(to).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    if (is_there(path))
        throw InputError(fmt::format("--out {}: exists already; give another folder", to));
    std::error_code error;
    if (!fs::is_directory(parent_of(path), error))
        throw InputError(
            fmt::format("--out {}: {} is no folder; make it first", to, parent_of(path)));
    return path;
}

/// fp32 masters, from the upper planes, which are the weights, and the lower planes of a section.
class Masters {
  public:
    explicit Masters(const std::string& checkpoint) : lower_(open_optimizer(checkpoint)) {}

    /// Precondition: `out` is a part of the tensor.
    void read(const NamedTensor& tensor, const TensorView& upper, std::int64_t begin,
              std::span<std::byte> out) const {
        const std::string name = lower_plane_name(tensor.section);
        // A master of 16 bits has none.
        const TensorView* const lower = lower_.has(name) ? &lower_.tensor(name) : nullptr;
        const std::int64_t first = begin / dtype_bytes(Dtype::f32),
                           count = std::ssize(out) / dtype_bytes(Dtype::f32);
        for (std::int64_t i = 0; i < count; ++i) {
            MasterPlanes planes{};
            std::memcpy(&planes.high, upper.bytes.data() + 2 * (first + i), sizeof planes.high);
            if (lower != nullptr) planes.low = low_at(*lower, tensor.offset + first + i);
            const float master = join_master(planes);
            std::memcpy(out.data() + dtype_bytes(Dtype::f32) * i, &master, sizeof master);
        }
    }

  private:
    /// All 16 bits of it, or the upper 8.
    static std::uint16_t low_at(const TensorView& plane, std::int64_t i) {
        if (plane.dtype == Dtype::u8)
            return static_cast<std::uint16_t>(static_cast<unsigned>(plane.bytes[i]) << 8);
        std::uint16_t low = 0;
        std::memcpy(&low, plane.bytes.data() + 2 * i, sizeof low);
        return low;
    }

    Checkpoint lower_;
};

std::string exported_config(const std::string& text, const std::string& path, Dtype dtype) {
    nlohmann::ordered_json config = parse_ordered_json(text, path);
    config["torch_dtype"] = dtype == Dtype::f32 ? "float32" : "bfloat16";
    return config.dump(2) + "\n";
}

void refuse_adapters(const std::string& checkpoint) {
    if (is_there(path_in(checkpoint, kAdapterConfigFile)))
        throw InputError(fmt::format("{}: {}", checkpoint, kAdapterWords));
}

}  // namespace

ExportedModel export_model(const ExportRequest& request) {
    const fs::path to = named_folder(request.to);
    const std::string checkpoint = checkpoint_of(request.from);
    refuse_adapters(checkpoint);
    verify_checkpoint(checkpoint);
    const std::string config_path = path_in(checkpoint, kConfigFile);
    const ModelFiles files = read_model_files(checkpoint);
    const std::vector<NamedTensor> tensors =
        named_tensors(parse_hf_config(files.config, config_path));
    const Checkpoint weights = open_checkpoint(checkpoint);
    std::optional<Masters> masters;
    if (request.dtype == Dtype::f32) masters.emplace(checkpoint);
    ExportedModel out{checkpoint};
    std::vector<TensorSpec> specs;
    for (const NamedTensor& tensor : tensors) {
        specs.push_back({tensor.name, request.dtype, tensor.shape});
        out.bytes += tensor_bytes(specs.back());
    }
    refuse_full_disk(parent_of(to), "the model", out.bytes);
    PartialFolder folder(parent_of(to), to.filename().string());
    const auto write = [&](const std::string& name, const std::string& text) {
        write_output_file(path_in(folder.path(), name), text);
    };
    write(kConfigFile, exported_config(files.config, config_path, request.dtype));
    for (const auto& [name, text] : files.others) write(name, text);
    const auto produce = [&](std::size_t i, std::int64_t begin, std::span<std::byte> chunk) {
        const TensorView& upper = weights.tensor(tensors[i].name);
        if (masters)
            masters->read(tensors[i], upper, begin, chunk);
        else
            std::memcpy(chunk.data(), upper.bytes.data() + begin, chunk.size());
    };
    const auto written =
        write_checkpoint(folder.path(), "model", specs, request.shard_bytes, produce);
    out.files = written.size() - (written.size() > 1 ? 1 : 0);  // without the index
    folder.commit();
    return out;
}

}  // namespace sluice
