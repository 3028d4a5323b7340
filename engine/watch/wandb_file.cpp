#include "engine/watch/wandb_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

#include "engine/watch/crc32.h"
#include "engine/watch/protobuf.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

using protobuf::bytes_field;
using protobuf::bytes_of;
using protobuf::integer_field;
using Json = nlohmann::ordered_json;

constexpr std::string_view kFileStart{":W&B\xe1\xbe\0", 7};
constexpr std::size_t kBlock = 32'768, kHeader = 7;
constexpr const char* kProject = "sluice";
/// The oldest reader, as wandb 0.31 names it.
constexpr const char* kMinConsumer = "0.70.0";

namespace record_field {
constexpr std::uint32_t kNumber = 1, kHistory = 2, kSummary = 3, kRun = 17, kExit = 18,
                        kHeader = 21;
}
namespace header_field {
constexpr std::uint32_t kVersionInfo = 1, kProducer = 1, kMinConsumer = 2;
}
namespace run_field {
constexpr std::uint32_t kId = 1, kProject = 3, kConfig = 4, kDisplayName = 8, kStartTime = 17;
}
/// ConfigRecord, HistoryRecord and SummaryRecord have the same items and parts of them.
namespace item_field {
constexpr std::uint32_t kItem = 1, kKey = 1, kNestedKey = 2, kValueJson = 16;
}
namespace history_field {
constexpr std::uint32_t kStep = 2, kStepNumber = 1;
}
namespace exit_field {
constexpr std::uint32_t kRuntime = 2;
}
namespace time_field {
constexpr std::uint32_t kSeconds = 1;
}

/// JSON has no such numbers; wandb writes their names.
std::string json_text(double value) {
    if (std::isnan(value)) return "\"NaN\"";
    if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    return Json(value).dump();
}

std::string item(std::uint32_t key_field, std::string_view key, std::string_view json) {
    return bytes_field(item_field::kItem,
                       bytes_field(key_field, key) + bytes_field(item_field::kValueJson, json));
}

std::string items_of(const std::vector<std::pair<std::string, double>>& scalars) {
    std::string out;
    for (const auto& [name, value] : scalars)
        out += item(item_field::kNestedKey, name, json_text(value));
    return out;
}

std::string run_message(const WandbRun& run, Seconds now) {
    std::string config;
    for (const auto& [key, value] : run.config.items())
        config += item(item_field::kKey, key, value.dump());
    return bytes_field(run_field::kId, run.id) + bytes_field(run_field::kProject, kProject) +
           bytes_field(run_field::kConfig, config) +
           bytes_field(run_field::kDisplayName, run.name) +
           bytes_field(run_field::kStartTime,
                       integer_field(time_field::kSeconds, static_cast<std::int64_t>(now)));
}

std::string header_message() {
    return bytes_field(header_field::kVersionInfo,
                       bytes_field(header_field::kProducer, "sluice-train") +
                           bytes_field(header_field::kMinConsumer, kMinConsumer));
}

std::filesystem::path folder_of(const std::string& folder, const WandbRun& run, Seconds now) {
    return std::filesystem::path(folder) / "wandb" /
           fmt::format("offline-run-{:%Y%m%d_%H%M%S}-{}",
                       fmt::gmtime(static_cast<std::time_t>(now)), run.id);
}

}  // namespace

std::string new_wandb_id() {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::random_device chance;
    std::uniform_int_distribution<std::size_t> letter(0, kLetters.size() - 1);
    std::string id(8, ' ');
    for (char& one : id) one = kLetters[letter(chance)];
    return id;
}

WandbFile::WandbFile(const std::string& folder, const WandbRun& run, Seconds now) : start_(now) {
    const std::filesystem::path own = folder_of(folder, run, now);
    path_ = (own / fmt::format("run-{}.wandb", run.id)).string();
    std::error_code error;
    std::filesystem::create_directories(own, error);
    file_ = error ? nullptr : std::fopen(path_.c_str(), "wb");
    if (file_ == nullptr ||
        std::fwrite(kFileStart.data(), 1, kFileStart.size(), file_) != kFileStart.size())
        throw InputError(fmt::format("--watch {}: {} cannot be written ({}); give another folder",
                                     folder, path_,
                                     error ? error.message() : std::strerror(errno)));
    in_block_ = kFileStart.size();
    if (!write_record(record_field::kHeader, header_message()) ||
        !write_record(record_field::kRun, run_message(run, now)))
        throw InputError(fmt::format("--watch {}: {} cannot be written ({}); give another folder",
                                     folder, path_, std::strerror(errno)));
}

WandbFile::~WandbFile() {
    if (file_ != nullptr) std::fclose(file_);
}

bool WandbFile::add(std::int64_t step, Seconds now,
                    const std::vector<std::pair<std::string, double>>& scalars) {
    std::vector<std::pair<std::string, double>> all = scalars;
    all.emplace_back("_timestamp", now);
    all.emplace_back("_runtime", now - start_);
    const std::string items =
        items_of(all) + item(item_field::kNestedKey, "_step", std::to_string(step));
    const std::string number =
        bytes_field(history_field::kStep, integer_field(history_field::kStepNumber, step));
    return write_record(record_field::kHistory, items + number) &&
           write_record(record_field::kSummary, items);
}

bool WandbFile::end(Seconds now) {
    return write_record(
        record_field::kExit,
        integer_field(exit_field::kRuntime, static_cast<std::int64_t>(now - start_)));
}

bool WandbFile::write_record(std::uint32_t field, const std::string& message) {
    const std::string record =
        integer_field(record_field::kNumber, ++records_) + bytes_field(field, message);
    enum class Part : char { whole = 1, first = 2, middle = 3, last = 4 };
    std::string out;
    for (std::size_t begin = 0; begin < record.size();) {
        if (kBlock - in_block_ < kHeader) {
            out.append(kBlock - in_block_, '\0');
            in_block_ = 0;
        }
        const std::size_t count = std::min(record.size() - begin, kBlock - in_block_ - kHeader);
        const bool starts = begin == 0, ends = begin + count == record.size();
        const Part part =
            starts ? (ends ? Part::whole : Part::first) : (ends ? Part::last : Part::middle);
        const std::string checked = static_cast<char>(part) + record.substr(begin, count);
        out += bytes_of(crc32(checked)) + bytes_of(static_cast<std::uint16_t>(count)) + checked;
        in_block_ += kHeader + count;
        begin += count;
    }
    return std::fwrite(out.data(), 1, out.size(), file_) == out.size() && std::fflush(file_) == 0;
}

}  // namespace sluice
