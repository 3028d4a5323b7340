#include "engine/train/exported_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/data/files.h"
#include "engine/train/merged_weights.h"
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
    explicit Masters(const std::string& checkpoint)
        : upper_(open_checkpoint(checkpoint)), lower_(open_optimizer(checkpoint)) {}

    void read(const NamedTensor& tensor, std::int64_t first, std::span<float> out) const {
        const TensorView& upper = upper_.tensor(tensor.name);
        const std::string name = lower_plane_name(tensor.section);
        // A master of 16 bits has none.
        const TensorView* const lower = lower_.has(name) ? &lower_.tensor(name) : nullptr;
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::int64_t at = first + static_cast<std::int64_t>(i);
            MasterPlanes planes{};
            std::memcpy(&planes.high, upper.bytes.data() + 2 * at, sizeof planes.high);
            if (lower != nullptr) planes.low = low_at(*lower, tensor.offset + at);
            out[i] = join_master(planes);
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

    Checkpoint upper_, lower_;
};

std::string exported_config(const std::string& text, const std::string& path, Dtype dtype) {
    nlohmann::ordered_json config = parse_ordered_json(text, path);
    config["torch_dtype"] = dtype == Dtype::f32 ? "float32" : "bfloat16";
    return config.dump(2) + "\n";
}

/// Elements of a tensor from the given one on.
using ReadNumbers =
    std::function<void(const NamedTensor& tensor, std::int64_t first, std::span<float> out)>;

/// A model with its numbers.
struct Source {
    ModelSpec model;
    std::string config;
    std::vector<std::pair<std::string, std::string>> others;  ///< files, by name
    ReadNumbers read;
};

/// The model of a checkpoint that has no config.json, by its record.
ModelSpec recorded_model(const std::string& checkpoint) {
    const std::string path = path_in(checkpoint, kTrainingRecordFile);
    const auto record = parse_ordered_json(read_text_file(path), path);
    return parse_hf_config(record.at("model").dump(), path);
}

Source merged(const std::string& checkpoint, const ExportRequest& request) {
    Source out;
    out.model = recorded_model(checkpoint);
    const auto weights = std::make_shared<MergedWeights>(checkpoint, out.model, request.base);
    const ModelFiles files = read_model_files(weights->base());
    out.config = config_with_rest(out.model, files);
    out.others = files.others;
    out.read = [weights](const NamedTensor& tensor, std::int64_t first, std::span<float> to) {
        weights->read(tensor, first, to);
    };
    return out;
}

Source trained(const std::string& checkpoint, const ExportRequest& request) {
    if (request.base)
        throw InputError(fmt::format("--base {}: {} holds all weights, not adapters; leave it out",
                                     *request.base, checkpoint));
    const std::string path = path_in(checkpoint, kConfigFile);
    const ModelFiles files = read_model_files(checkpoint);
    Source out{parse_hf_config(files.config, path), files.config, files.others, {}};
    if (request.dtype == Dtype::f32) {
        const auto masters = std::make_shared<Masters>(checkpoint);
        out.read = [masters](const NamedTensor& tensor, std::int64_t first, std::span<float> to) {
            masters->read(tensor, first, to);
        };
        return out;
    }
    const auto weights = std::make_shared<Checkpoint>(open_checkpoint(checkpoint));
    out.read = [weights](const NamedTensor& tensor, std::int64_t first, std::span<float> to) {
        read_as_fp32(weights->tensor(tensor.name), first, std::ssize(to), to.data());
    };
    return out;
}

/// Rounded to nearest for bf16.
void write_numbers(const std::vector<float>& numbers, Dtype dtype, std::span<std::byte> out) {
    if (dtype == Dtype::f32) {
        std::memcpy(out.data(), numbers.data(), out.size());
        return;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::uint16_t high = split_master(numbers[i]).high;
        std::memcpy(out.data() + 2 * i, &high, sizeof high);
    }
}

}  // namespace

ExportedModel export_model(const ExportRequest& request) {
    const fs::path to = named_folder(request.to);
    const std::string checkpoint = checkpoint_of(request.from);
    verify_checkpoint(checkpoint);
    const Source source = is_there(path_in(checkpoint, kAdapterConfigFile))
                              ? merged(checkpoint, request)
                              : trained(checkpoint, request);
    const std::vector<NamedTensor> tensors = named_tensors(source.model);
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
    write(kConfigFile, exported_config(source.config, kConfigFile, request.dtype));
    for (const auto& [name, text] : source.others) write(name, text);
    std::vector<float> numbers;
    const auto produce = [&](std::size_t i, std::int64_t begin, std::span<std::byte> chunk) {
        const std::int64_t width = dtype_bytes(request.dtype);
        numbers.resize(chunk.size() / static_cast<std::size_t>(width));
        source.read(tensors[i], begin / width, numbers);
        write_numbers(numbers, request.dtype, chunk);
    };
    const auto written =
        write_checkpoint(folder.path(), "model", specs, request.shard_bytes, produce);
    out.files = written.size() - (written.size() > 1 ? 1 : 0);  // without the index
    folder.commit();
    return out;
}

}  // namespace sluice
