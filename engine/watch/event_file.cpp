#include "engine/watch/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

static_assert(std::endian::native == std::endian::little, "TFRecords are little-endian");

std::array<std::uint32_t, 256> crc_table() {
    constexpr std::uint32_t kReversedPolynomial = 0x82f63b78;
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit)
            rest = rest >> 1 ^ ((rest & 1) != 0 ? kReversedPolynomial : 0);
        table[byte] = rest;
    }
    return table;
}

/// TFRecord's: rotated, so that the checksum of data with its own checksum is no special number.
std::uint32_t masked_crc32c(std::string_view bytes) {
    constexpr std::uint32_t kMaskDelta = 0xa282ead8;
    return std::rotr(crc32c(bytes), 15) + kMaskDelta;
}

template <typename Number>
std::string bytes_of(Number number) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
}

// Fields of protocol buffers, by number and wire type.
enum class Wire : std::uint32_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

std::string varint(std::uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    return out + static_cast<char>(value);
}
std::string key(std::uint32_t field, Wire wire) {
    return varint(field << 3 | static_cast<std::uint32_t>(wire));
}
std::string integer_field(std::uint32_t field, std::int64_t value) {
    return key(field, Wire::varint) + varint(static_cast<std::uint64_t>(value));
}
std::string double_field(std::uint32_t field, double value) {
    return key(field, Wire::fixed64) + bytes_of(value);
}
std::string float_field(std::uint32_t field, float value) {
    return key(field, Wire::fixed32) + bytes_of(value);
}
std::string bytes_field(std::uint32_t field, std::string_view value) {
    return key(field, Wire::length) + varint(value.size()) + std::string(value);
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

std::uint32_t crc32c(std::string_view bytes) {
    static const std::array<std::uint32_t, 256> table = crc_table();
    std::uint32_t crc = ~std::uint32_t{0};
    for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ crc >> 8;
    return ~crc;
}

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
