#include "engine/watch/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/watch/crc32.h"
#include "engine/watch/protobuf.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

using protobuf::bytes_field;
using protobuf::bytes_of;
using protobuf::double_field;
using protobuf::float_field;
using protobuf::integer_field;

/// TFRecord's: rotated, so that the checksum of data with its own checksum is no special number.
std::uint32_t masked_crc32c(std::string_view bytes) {
    constexpr std::uint32_t kMaskDelta = 0xa282ead8;
    return std::rotr(crc32c(bytes), 15) + kMaskDelta;
}

// From TensorFlow's event.proto and summary.proto.
namespace event_field {
constexpr std::uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
}
namespace summary_field {
constexpr std::uint32_t kValue = 1, kTag = 1, kSimpleValue = 2;
}
namespace session_field {
constexpr std::uint32_t kStatus = 1, kStart = 1;
}

std::string event(std::int64_t step, Seconds now, const std::string& content) {
    return double_field(event_field::kWallTime, now) + integer_field(event_field::kStep, step) +
           content;
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

}  // namespace

EventFile::EventFile(const std::string& folder, std::int64_t first_step, Seconds now)
    : path_((std::filesystem::path(folder) / fmt::format("events.out.tfevents.{:010}.{}.{}",
                                                         static_cast<std::int64_t>(now),
                                                         host_name(), ::getpid()))
                .string()),
      file_(std::fopen(path_.c_str(), "wb")) {
    const std::string version = bytes_field(event_field::kFileVersion, "brain.Event:2");
    const std::string start = bytes_field(
        event_field::kSessionLog, integer_field(session_field::kStatus, session_field::kStart));
    if (file_ == nullptr || !write_record(event(0, now, version)) ||
        !write_record(event(first_step, now, start)))
        throw InputError(fmt::format("--watch {}: {} cannot be written ({}); give another folder",
                                     folder, path_, std::strerror(errno)));
}

EventFile::~EventFile() {
    if (file_ != nullptr) std::fclose(file_);
}

bool EventFile::add(std::int64_t step, Seconds now,
                    const std::vector<std::pair<std::string, double>>& scalars) {
    std::string summary;
    for (const auto& [tag, value] : scalars)
        summary += bytes_field(summary_field::kValue, bytes_field(summary_field::kTag, tag) +
                                                          float_field(summary_field::kSimpleValue,
                                                                      static_cast<float>(value)));
    return write_record(event(step, now, bytes_field(event_field::kSummary, summary)));
}

bool EventFile::write_record(const std::string& event) {
    const std::string length = bytes_of(static_cast<std::uint64_t>(event.size()));
    const std::string record =
        length + bytes_of(masked_crc32c(length)) + event + bytes_of(masked_crc32c(event));
    return std::fwrite(record.data(), 1, record.size(), file_) == record.size() &&
           std::fflush(file_) == 0;
}

}  // namespace sluice
