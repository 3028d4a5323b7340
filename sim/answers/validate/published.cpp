#include "sim/answers/validate/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sim/answers/predict/predict.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRows = "published_rows";
constexpr double kMost = 1e12;

constexpr const char* kForwardBackward = "forward_backward_s";

std::string seconds_text(double seconds) { return fmt::format("{:.2f} s", seconds); }

const PublishedSpeed kSpeeds[] = {
    {"step_s", "step", true, [](const Prediction& r) { return r.step.seconds; }, seconds_text},
    {"tokens_per_s", "tokens/s", false, [](const Prediction& r) { return r.tokens_per_s(); },
     [](double speed) { return format_thousands(speed) + " t/s"; }},
    {"tflops_6pt", "6PT", false, [](const Prediction& r) { return r.model_flops_per_s() / kTera; },
     [](double speed) { return fmt::format("{:.1f} TF", speed); }},
    {kForwardBackward, "fwd+bwd", true, [](const Prediction& r) { return step_phases(r).front(); },
     seconds_text}};

/// A text, or the entry of the file's `map` with that key, since several rows have one reason.
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
        fmt::format("{}.forward_backward_s is defined for the schedule {} only; give step_s, "
                    "tokens_per_s or tflops_6pt",
                    row.where("published"), fmt::join(timed, ", ")));
}

ModelSpec model_of(const JsonObject& row) {
    ModelSpec model = read_model(row.text("model"));
    truncate_layers(model, row.integer_or("layers", model.layer_count(), 1, model.layer_count()));
    if (row.boolean_or("untied_embeddings", false)) model.tied_embeddings = false;
    return model;
}

void read_published(const JsonObject& values, PublishedRow& out) {
    values.allow_only({"step_s", "tokens_per_s", "tflops_6pt", "forward_backward_s", "device_gb",
                       "host_gb", "fits"});
    for (const PublishedSpeed& speed : kSpeeds) {
        if (!values.has(speed.key)) continue;
        if (out.speed_kind != nullptr)
            throw InputError(
                fmt::format("{} is a second speed of the row, expected one; leave the others out",
                            values.where(speed.key)));
        out.speed_kind = &speed;
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
    set_options(out.training, row.object("training"));
    read_published(row.object("published"), out);
    if (out.speed_kind == nullptr && out.device == 0 && out.host == 0 && !out.fits)
        throw InputError(fmt::format(
            "{} is empty, expected a speed, device_gb, host_gb or fits; or say in not_compared why "
            "there is none",
            row.where("published")));
    if (row.object("published").has(kForwardBackward)) check_forward_backward(row, out);
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
        row.allow_only(
            {"id", "system", "not_compared", "contradicts_itself", "published", "source"});
        out.contradicts_itself = row.boolean_or("contradicts_itself", false);
        out.published = row.text("published");
    }
    if (out.source.empty())
        throw InputError(fmt::format("{} is missing; name the source", row.where("source")));
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
            throw InputError(fmt::format(
                "{} is \"{}\", which is also the id of an earlier row; give each row its own",
                row.where("id"), read.id));
        out.push_back(std::move(read));
    }
}

MachineSpec machine_of(const PublishedRow& row) {
    MachineProfile profile = read_machine_profile(row.machine);
    for (const auto& [path, value] : row.machine_numbers) profile.set(path, value);
    return resolve_machine(profile);
}

Prediction predict_row(const PublishedRow& row) {
    try {
        return predict(row.model, machine_of(row), row.training, {.band = Wanted::Band::always});
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}: {}", row.file, row.id, error.what()));
    }
}

PublishedComparison compare_row(PublishedRow row) {
    PublishedComparison out;
    out.row = std::move(row);
    out.predicted = predict_row(out.row);
    if (out.row.speed_kind != nullptr) out.predicted_speed = out.row.speed_kind->of(out.predicted);
    out.predicted_device = out.predicted.plan.fit.device().peak.bytes;
    out.predicted_host = out.predicted.plan.memory.host_between_steps;
    out.predicted_fits = out.predicted.plan.fit.fits();
    return out;
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

std::optional<double> PublishedComparison::speed_error() const {
    if (row.speed_kind == nullptr) return std::nullopt;
    return row.speed_kind->is_time ? row.speed / predicted_speed - 1
                                   : predicted_speed / row.speed - 1;
}

/// A part of a step is as far from its prediction as the step that would go with it.
std::optional<bool> PublishedComparison::speed_in_band() const {
    const auto error = speed_error();
    if (!error || !predicted.band) return std::nullopt;
    const Seconds step = predicted.step.seconds * (1 + *error);
    return step >= predicted.band->low && step <= predicted.band->high;
}

double PublishedComparison::largest_error() const {
    double largest = 0;
    for (const auto& error : {speed_error(), device_error(), host_error()})
        if (error) largest = std::max(largest, std::abs(*error));
    return largest;
}

PublishedTable compare_published(std::vector<PublishedRow> rows) {
    PublishedTable table;
    std::vector<double> widths;
    for (PublishedRow& row : rows) {
        if (!row.not_compared.empty()) {
            table.not_compared.push_back(std::move(row));
            continue;
        }
        const PublishedComparison& c = table.compared.emplace_back(compare_row(std::move(row)));
        add_error(table.speed, c.speed_error(), c.row.id);
        add_error(table.device, c.device_error(), c.row.id);
        add_error(table.host, c.host_error(), c.row.id);
        table.speeds_near += std::abs(c.speed_error().value_or(1)) <= kNear ? 1 : 0;
        if (const auto in_band = c.speed_in_band()) {
            table.speeds_in_band += *in_band ? 1 : 0;
            const Band& band = *c.predicted.band;
            widths.push_back((band.high - band.low) / c.predicted.step.seconds);
        }
        table.fits_published += c.row.fits ? 1 : 0;
        table.fits_right += c.row.fits && !c.fit_is_wrong() ? 1 : 0;
    }
    if (!widths.empty()) {
        const auto middle = widths.begin() + std::ssize(widths) / 2;
        std::ranges::nth_element(widths, middle);
        table.band_width = *middle;
    }
    return table;
}

std::vector<std::string> unexplained(const PublishedTable& table) {
    std::vector<std::string> sentences;
    for (const PublishedComparison& c : table.compared) {
        if (!c.needs_explanation() || !c.row.explanation.empty()) continue;
        sentences.push_back(
            c.fit_is_wrong()
                ? fmt::format("{}: {} is predicted {}to fit and published {}to; add an explanation",
                              c.row.file, c.row.id, c.predicted_fits ? "" : "not ",
                              *c.row.fits ? "" : "not ")
                : fmt::format("{}: {} is off by {} and has no explanation; add one", c.row.file,
                              c.row.id, format_percent(c.largest_error())));
    }
    return sentences;
}

}  // namespace sluice
