#include "engine/train/training_checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "engine/data/files.h"
#include "engine/train/output_lock.h"
#include "engine/train/weights_file.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/json_parser.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

constexpr std::int64_t kFormatVersion = 1;
constexpr double kLargestLoss = 1e300;
constexpr std::array kWorseSteps = {std::pair("norm_rise", &DivergenceMemory::norm),
                                    std::pair("loss_rise", &DivergenceMemory::loss_rise),
                                    std::pair("no_gradient", &DivergenceMemory::no_gradient)};
constexpr std::int64_t kLargest = std::int64_t{1} << 53;  // JSON numbers are exact up to this value

void check_version(const JsonObject& record) {
    const std::int64_t version = record.integer("format_version", 1, kLargest);
    if (version == kFormatVersion) return;
    throw InputError(
        fmt::format("{} is {}, expected {}; resume with the newer sluice-train that wrote it",
                    record.where("format_version"), version, kFormatVersion));
}

/// Compares the shapes as fields of config.json, in any order.
void check_model(const std::string& path, const nlohmann::json& found, const ModelSpec& model) {
    const auto expected = nlohmann::ordered_json::parse(hf_config_text(model));
    for (const auto& [key, value] : expected.items()) {
        const auto entry = found.find(key);
        if (entry != found.end() && *entry == nlohmann::json(value)) continue;
        throw InputError(fmt::format(
            "{}: model.{} is {}, expected {} as in {}; give the --model of this checkpoint, or "
            "another --out",
            path, key, entry == found.end() ? "missing" : entry->dump(), value.dump(), model.name));
    }
}

int read_state_bytes(const JsonObject& record) {
    const std::int64_t found = record.integer("state_bytes", 1, 1000);
    if (find_state_precision(found) != nullptr) return static_cast<int>(found);
    throw InputError(fmt::format("{} is {}, expected {}; resume from another checkpoint",
                                 record.where("state_bytes"), found, state_bytes_choices()));
}

/// In quotes, since most readers keep JSON numbers exact only up to 2^53.
std::uint64_t read_seed(const JsonObject& record) {
    const std::string text = record.text("seed");
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error == std::errc() && end == text.data() + text.size()) return seed;
    throw InputError(fmt::format(
        "{} is {}, expected a whole number below 2^64 in quotes; resume from another checkpoint",
        record.where("seed"), record.shown_value("seed")));
}

nlohmann::ordered_json divergence_json(const DivergenceMemory& memory) {
    nlohmann::ordered_json out{{"steps", memory.steps},
                               {"norm_log", memory.norm_log},
                               {"loss", memory.loss},
                               {"loss_variance", memory.loss_variance},
                               {"last_loss", memory.last_loss},
                               {"lowest_loss", memory.lowest_loss},
                               {"worse_loss", memory.worse_loss}};
    for (const auto& [key, row] : kWorseSteps)
        if ((memory.*row).since)
            out[key] = {{"since", *(memory.*row).since}, {"is_sure", (memory.*row).is_sure}};
    return out;
}

/// Nothing is known where an older version wrote the record: DivergenceWatch::continue_from().
DivergenceMemory read_divergence(const JsonObject& record) {
    DivergenceMemory memory;
    const auto found = record.object_or_none("divergence");
    if (!found) return memory;
    memory.steps = found->integer("steps", 0, kLargest);
    memory.norm_log = found->number("norm_log", -kLargestLoss, kLargestLoss);
    memory.loss = found->number("loss", -kLargestLoss, kLargestLoss);
    memory.loss_variance = found->number("loss_variance", 0, kLargestLoss);
    memory.lowest_loss = found->number("lowest_loss", -kLargestLoss, kLargestLoss);
    memory.last_loss =
        found->number_or_none("last_loss", -kLargestLoss, kLargestLoss).value_or(memory.loss);
    memory.worse_loss =
        found->number_or_none("worse_loss", -kLargestLoss, kLargestLoss).value_or(memory.loss);
    for (const auto& [key, row] : kWorseSteps)
        if (const auto one = found->object_or_none(key))
            memory.*row = {one->integer("since", 0, kLargest), one->boolean_or("is_sure", false)};
    return memory;
}

/// InternalError if state.settings is no JSON object.
std::string training_record_text(const ModelSpec& model, const TrainingState& state,
                                 int state_bytes) {
    const auto settings = nlohmann::ordered_json::parse(state.settings, nullptr, false);
    if (!settings.is_object())
        throw InternalError(fmt::format("settings of a checkpoint are {}", state.settings));
    nlohmann::ordered_json record;
    record["format_version"] = kFormatVersion;
    record["program"] = "sluice-train " SLUICE_VERSION;
    record["plan"] = state.plan;
    record["step"] = state.step;
    record["data_position"] = state.data_position;
    if (state.validation_loss) record["validation_loss"] = *state.validation_loss;
    record["clip_factor"] = state.clip_factor;
    record["seed"] = fmt::format("{}", state.seed);
    record["state_bytes"] = state_bytes;
    for (const RecentStep& one : state.recent)
        record["recent_steps"].push_back({one.loss, one.gradient_norm});
    record["divergence"] = divergence_json(state.divergence);
    if (state.early_stop.lowest)
        record["early_stop"] = {{"lowest", *state.early_stop.lowest},
                                {"without_lower", state.early_stop.without_lower}};
    if (state.ahead)
        record["updates_ahead"] = {{"allowed", state.ahead->allowed},
                                   {"calm_steps", state.ahead->calm_steps},
                                   {"corrected_steps_ago", state.ahead->corrected_ago}};
    if (const auto& a = state.adapters)
        record["adapters"] = {{"rank", a->shape.rank},
                              {"targets", a->shape.targets},
                              {"dropout_percent", a->shape.dropout_percent},
                              {"alpha", a->alpha},
                              {"rank_stabilized", a->rank_stabilized},
                              {"base", a->base}};
    record["settings"] = settings;
    record["model"] = nlohmann::ordered_json::parse(hf_config_text(model));
    return record.dump(2) + "\n";
}

void refuse_missing_record(const std::string& path) {
    const std::filesystem::path file(path);
    if (std::error_code error; std::filesystem::exists(file, error)) return;
    throw InputError(fmt::format(
        "{}: holds no {}, so it is no whole checkpoint of sluice-train; resume from another one, "
        "or start from its weights with --load",
        file.parent_path().string(), kTrainingRecordFile));
}

AheadState read_ahead(const JsonObject& record) {
    return {record.boolean_or("allowed", false), record.integer("calm_steps", 0, kLargest),
            record.integers("corrected_steps_ago", 1, AheadRule::kWindow)};
}

/// Earlier versions had adapters of all linear layers, without dropout.
AdapterRecord read_adapters(const JsonObject& record) {
    AdapterRecord out;
    out.shape.rank = record.integer("rank", 1, kLargest);
    if (record.has("targets"))
        out.shape.targets = static_cast<AdapterTargets>(record.integer("targets", 1, kAllTargets));
    if (record.has("dropout_percent"))
        out.shape.dropout_percent = record.integer("dropout_percent", 0, 99);
    out.alpha = record.number("alpha", 0, kLargestLoss);
    out.rank_stabilized = record.boolean_or("rank_stabilized", false);
    out.base = record.text("base");
    return out;
}

/// Throws InputError if the file has a newer format or belongs to another model.
TrainingState read_training_record(const std::string& path, const ModelSpec& model) {
    const std::string text = read_text_file(path);
    const JsonObject record = JsonObject::parse(text, path);
    check_version(record);
    record.object("model");  // refuses anything but an object
    record.object("settings");
    const auto json = parse_ordered_json(text, path);
    check_model(path, nlohmann::json(json["model"]), model);
    TrainingState state;
    state.state_bytes = read_state_bytes(record);
    state.step = record.integer("step", 0, kLargest);
    state.data_position = record.integer("data_position", 0, kLargest);
    state.clip_factor = record.number("clip_factor", 0, 1);
    state.seed = read_seed(record);
    state.validation_loss = record.number_or_none("validation_loss", 0, kLargestLoss);
    if (record.has("recent_steps"))
        for (const std::vector<double>& row : record.rows("recent_steps", 2))
            state.recent.push_back({row[0], row[1]});
    state.divergence = read_divergence(record);
    if (const auto early = record.object_or_none("early_stop"))
        state.early_stop = {early->number("lowest", 0, kLargestLoss),
                            early->integer("without_lower", 0, kLargest)};
    if (const auto ahead = record.object_or_none("updates_ahead")) state.ahead = read_ahead(*ahead);
    if (const auto adapters = record.object_or_none("adapters"))
        state.adapters = read_adapters(*adapters);
    state.settings = json["settings"].dump();
    return state;
}

/// Also the folder of these files: vLLM and SGLang read all *.safetensors beside the config as
/// weights.
constexpr const char* kOptimizer = "optimizer";

const char* weights_stem(const ParameterStore& store) {
    return store.has_adapters() ? kAdapterStem : "model";
}

void refuse_other_adapters(const std::string& path, const TrainingState& state,
                           const ParameterStore& store) {
    if (state.adapters.has_value() == store.has_adapters()) return;
    throw InputError(store.has_adapters()
                         ? fmt::format("{}: all weights were trained, not adapters; leave "
                                       "--adapter-rank out, or give another --out",
                                       path)
                         : fmt::format("{}: adapters of rank {} were trained; give --adapter-rank "
                                       "{}, or another --out",
                                       path, state.adapters->shape.rank,
                                       state.adapters->shape.rank));
}

/// Checkpoints of earlier versions have the files beside the weights.
std::string optimizer_folder(const std::string& checkpoint) {
    const std::string apart = path_in(checkpoint, kOptimizer);
    std::error_code error;
    return std::filesystem::is_directory(apart, error) ? apart : checkpoint;
}

/// Bytes on the disk, with room for headers, indices and texts.
std::int64_t bytes_on_disk(const std::vector<StoredTensor>& weights,
                           const std::vector<StoredTensor>& optimizer) {
    constexpr std::int64_t kTexts = 64 << 10, kPerTensor = 512;
    std::int64_t bytes = kTexts;
    for (const auto* tensors : {&weights, &optimizer}) {
        for (const StoredTensor& tensor : *tensors) bytes += tensor_bytes(tensor.spec) + kPerTensor;
    }
    return bytes;
}

}  // namespace

std::int64_t first_in_doubt(const TrainingState& state) {
    const auto worse = state.divergence.worse_since();
    return worse ? *worse - 1 : state.step;
}

void save_checkpoint(const std::string& out, const ModelSpec& model, const ParameterStore& store,
                     const TrainingState& state, int keep, const ModelFiles& beside,
                     const ReadState& read, bool best) {
    const std::string record = training_record_text(model, state, store.state_bytes());
    const std::vector<StoredTensor> weights = weight_tensors(store),
                                    rest = optimizer_tensors(store);
    prepare_output_folder(out);
    const std::int64_t needed = bytes_on_disk(weights, rest), in_doubt = first_in_doubt(state);
    // One that had to stay until a step after it showed that a later one is good.
    remove_older_checkpoints(out, state.step, keep, in_doubt);
    if (const std::int64_t free = free_disk_bytes(out); free >= 0 && free < needed)
        remove_older_checkpoints(out, state.step, 1, in_doubt);
    refuse_full_disk(out, fmt::format("the checkpoint of step {}", state.step), needed);
    const std::string name = checkpoint_name(state.step);
    {
        PartialFolder folder(out, name);
        std::vector<FileChecksum> files;
        const auto write = [&](const char* file, const std::string& text) {
            files.push_back({file, write_output_file(path_in(folder.path(), file), text)});
        };
        if (state.adapters)
            write(kAdapterConfigFile, adapter_config_text(*state.adapters));
        else
            write(kConfigFile, config_with_rest(model, beside));
        for (const auto& [file, text] : beside.others) write(file.c_str(), text);
        const std::string apart = path_in(folder.path(), kOptimizer);
        create_folders(apart);
        for (const auto& [in, stem, tensors] :
             {std::tuple(folder.path(), weights_stem(store), &weights), {apart, kOptimizer, &rest}})
            for (FileChecksum& file : write_tensors(in, stem, read ? read : reader_of(store),
                                                    *tensors, kMaxShardBytes)) {
                if (in == apart) file.name = path_in(kOptimizer, file.name);
                files.push_back(std::move(file));
            }
        Checksum of_record;
        of_record.add(std::as_bytes(std::span(record)));
        files.push_back({kTrainingRecordFile, of_record.value()});
        write(kChecksumsFile, checksum_text(files));
        write(kTrainingRecordFile, record);  // last, since the checkpoint is now whole
        folder.commit();
    }
    point_latest_at(out, name);
    if (best) point_best_at(out, name);
    remove_older_checkpoints(out, state.step, keep - 1, in_doubt);
}

void verify_checkpoint(const std::string& folder) {
    const std::string path = path_in(folder, kChecksumsFile);
    try {
        verify_files(folder, parse_checksums(read_text_file(path), path));
    } catch (const InputError& error) {
        throw DamagedCheckpoint(fmt::format("{}, so {} is damaged", error.what(), folder));
    }
}

Checkpoint open_optimizer(const std::string& folder) {
    return open_tensors(optimizer_folder(folder), kOptimizer);
}

std::optional<TrainingState> checkpoint_state(const std::string& out, std::int64_t step,
                                              const ModelSpec& model) {
    try {
        return read_training_record(
            path_in(path_in(out, checkpoint_name(step)), kTrainingRecordFile), model);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

std::map<std::string, std::string> checkpoint_plan(const std::string& folder) {
    std::map<std::string, std::string> plan;
    try {
        const auto record =
            nlohmann::json::parse(read_text_file(path_in(folder, kTrainingRecordFile)));
        if (record["plan"].is_object()) plan = record["plan"];
    } catch (const InputError&) {
    } catch (const nlohmann::json::exception&) {
    }
    return plan;
}

TrainingState load_checkpoint(const std::string& folder, const ModelSpec& model,
                              ParameterStore& store) {
    const std::string record = path_in(folder, kTrainingRecordFile);
    refuse_missing_record(record);
    verify_checkpoint(folder);
    TrainingState state = read_training_record(record, model);
    refuse_other_adapters(record, state, store);
    const std::vector<StoredTensor> weights = weight_tensors(store),
                                    rest = optimizer_tensors(store, state.state_bytes);
    const Checkpoint weights_file = open_tensors(folder, weights_stem(store), weights);
    const Checkpoint rest_file = open_tensors(optimizer_folder(folder), kOptimizer, rest);
    copy_tensors(weights_file, weights, store);
    if (state.state_bytes == store.state_bytes())
        copy_tensors(rest_file, rest, store);
    else
        convert_optimizer(rest_file, state.state_bytes, store);
    return state;
}

}  // namespace sluice
