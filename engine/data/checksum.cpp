#include "engine/data/checksum.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <future>
#include <new>
#include <sstream>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "engine/data/files.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr std::string_view kBegin = "XXH3 (", kMiddle = ") = ";
constexpr std::size_t kDigits = 16;

}  // namespace

struct Checksum::State {
    XXH3_state_t xxh3;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }

Checksum::~Checksum() = default;

void Checksum::add(std::span<const std::byte> bytes) {
    XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->xxh3); }

std::string checksum_text(const std::vector<FileChecksum>& files) {
    std::string out;
    for (const FileChecksum& file : files)
        out += fmt::format("{}{}{}{:016x}\n", kBegin, file.name, kMiddle, file.value);
    return out;
}

std::vector<FileChecksum> parse_checksums(const std::string& text, const std::string& path) {
    std::vector<FileChecksum> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        FileChecksum file;
        const std::size_t middle = line.rfind(kMiddle);
        const char* const digits = line.data() + middle + kMiddle.size();
        if (!line.starts_with(kBegin) || middle == std::string::npos ||
            line.size() != middle + kMiddle.size() + kDigits ||
            std::from_chars(digits, digits + kDigits, file.value, 16).ptr != digits + kDigits)
            throw InputError(
                fmt::format("{}: line {} is \"{}\", expected XXH3 (name) = 16 hexadecimal digits",
                            path, out.size() + 1, line));
        file.name = line.substr(kBegin.size(), middle - kBegin.size());
        out.push_back(std::move(file));
    }
    return out;
}

void verify_files(const std::string& folder, const std::vector<FileChecksum>& files) {
    const auto verify = [&](const FileChecksum& expected) {
        const MappedFile file((std::filesystem::path(folder) / expected.name).string());
        const std::uint64_t found = XXH3_64bits(file.bytes().data(), file.size());
        if (found == expected.value) return;
        throw InputError(fmt::format(
            "{}: its bytes are not those that were saved: their checksum is {:016x}, expected "
            "{:016x}",
            file.path(), found, expected.value));
    };
    std::vector<std::future<void>> checks;
    for (const FileChecksum& file : files)
        checks.push_back(std::async(std::launch::async, verify, std::cref(file)));
    for (std::future<void>& check : checks) check.get();
}

}  // namespace sluice
