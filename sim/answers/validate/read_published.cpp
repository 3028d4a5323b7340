#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/answers/validate/phases.h"
#include "sim/answers/validate/published_row.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRows = "published_rows";
constexpr double kMost = 1e12;

struct SpeedKey {
    const char* key;
    PublishedSpeed kind;
};
constexpr SpeedKey kSpeeds[] = {{"step_s", PublishedSpeed::step},
                                {"tokens_per_s", PublishedSpeed::tokens},
                                {"tflops_6pt", PublishedSpeed::tflops},
                                {"forward_backward_s", PublishedSpeed::forward_backward}};

/// A text, or the text of the file's `map` that it is a key of: several rows have one reason.
std::string shared_text(const JsonObject& root, const JsonObject& row, const char* key,
                        const char* map) {
    if (!row.has(key)) return "";
    const std::string text = row.text(key);
    const auto texts = root.object_or_none(map);
    return texts && texts->has(text) ? texts->text(text) : text;
}

void check_forward_backward(const JsonObject& row, const PublishedRow& out) {
    std::vector<std::string> timed;
    for (const ScheduleRecord& schedule : schedule_table())
        if (phase_names(Schedule(schedule)).front() == "forward_backward")
            timed.emplace_back(schedule.name);
    if (std::find(timed.begin(), timed.end(), out.training.schedule->name) != timed.end()) return;
    throw InputError(
        fmt::format("{}.forward_backward_s is known of the schedule {} alone; give step_s, "
                    "tokens_per_s or tflops_6pt",
                    row.where("published"), fmt::join(timed, ", ")));
}

TrainingSpec training_of(const JsonObject& row) {
    const JsonObject given = row.object("training");
    TrainingSpec training;
    std::vector<std::string> known;
    for (const Option& option : training_options()) known.emplace_back(option.field);
    given.allow_only(known);
    for (const Option& option : training_options())
        if (given.has(option.field))
            set_option(training, option, given.scalar_text(option.field),
                       given.where(option.field));
    return training;
}

ModelSpec model_of(const JsonObject& row) {
    ModelSpec model = read_model(row.text("model"));
    truncate_layers(model, row.integer_or("layers", model.layer_count(), 1, model.layer_count()));
    if (row.boolean_or("untied_embeddings", false)) model.tied_embeddings = false;
    return model;
}

Bytes gigabytes(const JsonObject& values, const char* key) {
    return values.has(key) ? static_cast<Bytes>(values.number(key, 0, kMost) * kGiga) : 0;
}

void read_published(const JsonObject& values, PublishedRow& out) {
    values.allow_only({"step_s", "tokens_per_s", "tflops_6pt", "forward_backward_s", "device_gb",
                       "host_gb", "fits"});
    for (const SpeedKey& speed : kSpeeds) {
        if (!values.has(speed.key)) continue;
        if (out.speed_kind != PublishedSpeed::none)
            throw InputError(
                fmt::format("{} is a second speed of the row, expected one; leave the others out",
                            values.where(speed.key)));
        out.speed_kind = speed.kind;
        out.speed = values.number(speed.key, 1e-9, kMost);
    }
    out.device = gigabytes(values, "device_gb");
    out.host = gigabytes(values, "host_gb");
    if (values.has("fits")) out.fits = values.boolean_or("fits", true);
}

void read_compared(const JsonObject& root, const JsonObject& row, PublishedRow& out) {
    row.allow_only({"id", "system", "machine", "settings", "model", "layers", "untied_embeddings",
                    "training", "published", "assumed", "explanation", "source"});
    out.machine = row.text("machine");
    if (const auto settings = row.object_or_none("settings"))
        for (const std::string& path : settings->keys())
            out.machine_numbers.emplace_back(path, settings->number(path, 0, kMost));
    out.model_name = row.text("model");
    out.model = model_of(row);
    out.training = training_of(row);
    read_published(row.object("published"), out);
    if (out.speed_kind == PublishedSpeed::none && out.device == 0 && out.host == 0 && !out.fits)
        throw InputError(fmt::format(
            "{} is empty, expected a speed, device_gb, host_gb or fits; or say in not_compared why "
            "there is none",
            row.where("published")));
    if (out.speed_kind == PublishedSpeed::forward_backward) check_forward_backward(row, out);
    out.assumed = shared_text(root, row, "assumed", "assumptions");
    out.explanation = shared_text(root, row, "explanation", "explanations");
}

PublishedRow read_row(const JsonObject& root, const JsonObject& row) {
    PublishedRow out;
    out.file = row.file();
    out.id = row.text("id");
    out.system = row.text("system");
    out.source = shared_text(root, row, "source", "sources");
    out.not_compared = shared_text(root, row, "not_compared", "reasons");
    if (out.not_compared.empty()) {
        read_compared(root, row, out);
    } else {
        row.allow_only({"id", "system", "not_compared", "published", "source"});
        out.published = row.text("published");
    }
    if (out.source.empty())
        throw InputError(fmt::format("{} is missing; say what was read", row.where("source")));
    return out;
}

JsonObject parse_file(const std::string& path) {
    return JsonObject::parse(read_text_file(path), path);
}

std::vector<std::string> tables_in(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".json" && parse_file(entry.path().string()).has(kRows))
            files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

void read_table(const std::string& path, std::vector<PublishedRow>& out) {
    const JsonObject root = parse_file(path);
    for (const JsonObject& row : root.objects(kRows)) {
        PublishedRow read = read_row(root, row);
        const auto same = [&](const PublishedRow& other) { return other.id == read.id; };
        if (std::any_of(out.begin(), out.end(), same))
            throw InputError(
                fmt::format("{} is \"{}\", which an earlier row is called; give each "
                            "row a name of its own",
                            row.where("id"), read.id));
        out.push_back(std::move(read));
    }
}

}  // namespace

bool holds_published_rows(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return !tables_in(path).empty();
    return parse_file(path).has(kRows);
}

std::vector<PublishedRow> read_published_rows(const std::vector<std::string>& paths) {
    std::vector<PublishedRow> rows;
    for (const std::string& path : paths) {
        std::error_code error;
        if (!fs::is_directory(path, error)) {
            read_table(path, rows);
            continue;
        }
        for (const std::string& file : tables_in(path)) read_table(file, rows);
    }
    return rows;
}

}  // namespace sluice
