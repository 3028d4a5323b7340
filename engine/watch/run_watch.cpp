#include "engine/watch/run_watch.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "engine/device/device.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/write_file.h"

namespace sluice {
namespace {

constexpr std::size_t kMostNotes = 100;

Seconds now_since_1970() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string time_text() {
    const auto now = std::chrono::system_clock::now();
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

std::string page_path(const std::string& folder) {
    return (std::filesystem::path(folder) / "index.html").string();
}

/// Where there is none, or one of a run; a link to such a page, too.
bool may_be_replaced(const std::string& page) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (fs::symlink_status(page, error).type() == fs::file_type::not_found) return true;
    if (!fs::is_regular_file(page, error)) return false;
    std::ostringstream text;
    text << std::ifstream(page).rdbuf();
    return text.str().find(kPageMark) != std::string::npos;
}

/// Tags of TensorBoard with their numbers.
std::vector<std::pair<std::string, double>> scalars_of(const StepRecord& record) {
    std::vector<std::pair<std::string, double>> out;
    for (const RecordedNumber& number : recorded_numbers()) {
        const std::string tag = number.tag;
        const auto value = number.value(record);
        if (tag.empty()) continue;
        if (value.is_number()) out.emplace_back(tag, value.get<double>());
        if (!value.is_object()) continue;
        for (const auto& [name, one] : value.items())
            out.emplace_back(tag + "/" + name, one.get<double>());
    }
    return out;
}

std::string run_name(const RunFacts& facts) {
    return fmt::format("{} on {}", facts.model, facts.device);
}

nlohmann::ordered_json run_config(const RunFacts& facts) {
    nlohmann::ordered_json config = facts.hyperparameters;
    config["model"] = facts.model;
    config["device"] = facts.device;
    return config;
}

}  // namespace

std::string create_watch_folder(std::string folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!error && ::access(folder.c_str(), W_OK) != 0) error = {errno, std::generic_category()};
    if (error)
        throw InputError(fmt::format("--watch {}: cannot be written ({}); give another folder",
                                     folder, error.message()));
    if (const std::string page = page_path(folder); !may_be_replaced(page))
        throw InputError(fmt::format(
            "--watch {}: {} is no page of this version of sluice-train, which would replace it; "
            "remove it if an older version wrote it, or give another folder",
            folder, page));
    return folder;
}

RunWatch::RunWatch(std::string folder, RunFacts facts, std::int64_t done,
                   const std::optional<std::string>& log,
                   std::function<void(const std::string&)> warn)
    : folder_(create_watch_folder(std::move(folder))),
      warn_(std::move(warn)),
      events_(folder_, done + 1, now_since_1970()),
      wandb_(folder_, {new_wandb_id(), run_name(facts), run_config(facts)}, now_since_1970()),
      mlflow_(folder_, new_mlflow_id(), run_name(facts), run_config(facts), now_since_1970()) {
    page_.facts = std::move(facts);
    if (log && done > 0) page_.history.read_log(*log, done);
    page_.state = "The first step has not ended yet.";
    page_.written = time_text();
    write_file(page_path(folder_), html(page_));
}

RunWatch::~RunWatch() {
    if (writer_.valid()) writer_.wait();
}

void RunWatch::fail_to_write(const std::string& path) {
    fail(fmt::format("--watch {}: {} cannot be written; continuing without it", folder_, path));
}

void RunWatch::fail(const std::string& sentence) {
    if (!std::exchange(failed_, true)) warn_(sentence);
}

void RunWatch::add(const StepRecord& record) {
    page_.last = record;
    page_.history.add(step_json(record));
    const auto scalars = scalars_of(record);
    if (!events_.add(record.step, now_since_1970(), scalars)) fail_to_write(events_.path());
    if (!wandb_.add(record.step, now_since_1970(), scalars)) fail_to_write(wandb_.path());
    if (!mlflow_.add(record.step, now_since_1970(), scalars)) fail_to_write(mlflow_.path());
}

void RunWatch::note(const std::string& sentence) {
    page_.notes.insert(
        page_.notes.begin(),
        page_.last ? fmt::format("{}, step {}: {}", time_text(),
                                 format_thousands(static_cast<double>(page_.last->step)), sentence)
                   : fmt::format("{}: {}", time_text(), sentence));
    if (page_.notes.size() > kMostNotes) page_.notes.pop_back();
}

bool RunWatch::is_due() const {
    const bool busy =
        writer_.valid() && writer_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
    return !busy && host_seconds() - written_at_ >= kRefreshSeconds;
}

void RunWatch::start_writing(bool ended, std::string state, std::string checkpoint,
                             std::optional<MeasuredParts> measured) {
    if (writer_.valid())
        if (const std::string failure = writer_.get(); !failure.empty()) fail(failure);
    page_.ended = ended;
    page_.state = std::move(state);
    page_.checkpoint = std::move(checkpoint);
    page_.measured = std::move(measured);
    page_.written = time_text();
    written_at_ = host_seconds();
    writer_ = std::async(std::launch::async, [page = page_, path = page_path(folder_)]() {
        try {
            write_file(path, html(page));
        } catch (const InputError& error) {
            return fmt::format("--watch {}", error.what());
        }
        return std::string();
    });
}

void RunWatch::write(std::string state, std::string checkpoint,
                     std::optional<MeasuredParts> measured) {
    start_writing(false, std::move(state), std::move(checkpoint), std::move(measured));
}

void RunWatch::end(std::string state, std::string checkpoint, std::optional<MeasuredParts> measured,
                   bool well) {
    if (well && !wandb_.end(now_since_1970())) fail_to_write(wandb_.path());
    if (well && !mlflow_.end(now_since_1970())) fail_to_write(mlflow_.path());
    start_writing(true, std::move(state), std::move(checkpoint), std::move(measured));
    if (const std::string failure = writer_.get(); !failure.empty()) fail(failure);
}

}  // namespace sluice
