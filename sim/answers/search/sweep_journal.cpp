#include "sim/answers/search/sweep_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/answers/search/sweep_rows.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "sluice-sweep/1";

InputError not_writable(const std::string& path) {
    return InputError(fmt::format(
        "{}: cannot be written; check that the folder exists, is writable and has space", path));
}

/// Whether this process has the file now. Workers do not inherit such a lock, so that none of a
/// killed sweep keeps it.
bool lock(int file, const std::string& path) {
    struct flock wanted {};
    wanted.l_type = F_WRLCK;
    wanted.l_whence = SEEK_SET;
    if (fcntl(file, F_SETLK, &wanted) == 0) {
        // Another may have removed it since it was opened here.
        struct stat here {
        }, there{};
        return fstat(file, &here) == 0 && stat(path.c_str(), &there) == 0 &&
               here.st_ino == there.st_ino && here.st_dev == there.st_dev;
    }
    if (errno != EACCES && errno != EAGAIN) return true;  // a file system without locks
    struct flock held = wanted;
    (void)fcntl(file, F_GETLK, &held);
    throw InputError(fmt::format(
        "{}: another sweep{} is writing it; wait until that ends, or give another name", path,
        held.l_type != F_UNLCK && held.l_pid > 0 ? fmt::format(" (process {})", held.l_pid) : ""));
}

std::FILE* open_locked(const std::string& path) {
    while (true) {
        const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0) throw not_writable(path);
        try {
            if (lock(file, path)) return fdopen(file, "r+b");
        } catch (const InputError&) {
            close(file);
            throw;
        }
        close(file);
    }
}

std::string text_of(std::FILE* file) {
    std::string text;
    char block[1 << 16];
    while (const std::size_t got = std::fread(block, 1, sizeof block, file))
        text.append(block, got);
    return text;
}

std::string head_of(const SweepBasis& basis) {
    Json out = {{"schema", kSchema}};
    for (const auto& [part, text] : basis) out[part] = text;
    return out.dump() + "\n";
}

}  // namespace

SweepJournal::SweepJournal(const std::string& path, const ScenarioGrid& grid,
                           const SweepBasis& basis)
    : path_(path), grid_(grid), file_(open_locked(path)) {
    try {
        read(basis);
    } catch (...) {
        std::fclose(file_);
        throw;
    }
}

SweepJournal::~SweepJournal() {
    if (file_ != nullptr) std::fclose(file_);
}

void SweepJournal::read(const SweepBasis& basis) {
    const std::string text = text_of(file_);
    std::size_t whole = 0;
    for (int number = 1;; ++number) {
        const std::size_t end = text.find('\n', whole);
        if (end == std::string::npos) break;  // the rest was cut off
        const std::string line = text.substr(whole, end - whole);
        if (number == 1) {
            read_head(line, basis);
        } else {
            const SearchRow row = parse_row(line, grid_, fmt::format("{}: line {}", path_, number));
            known_[row.index] = row;
        }
        whole = end + 1;
    }
    const auto size = static_cast<long>(whole);
    if (ftruncate(fileno(file_), size) != 0 || std::fseek(file_, size, SEEK_SET) != 0)
        throw not_writable(path_);
    if (whole == 0) write(head_of(basis));
}

void SweepJournal::read_head(const std::string& line, const SweepBasis& basis) const {
    const Json json = Json::parse(line, nullptr, false);
    const bool is_head = json.is_object() && json.contains("schema") && json["schema"] == kSchema;
    if (!is_head)
        throw InputError(
            fmt::format("{}: line 1 does not say what the rows of a sweep rest on; remove the file "
                        "to begin anew, or give another name",
                        path_));
    SweepBasis then;
    for (const auto& [part, value] : json.items())
        if (value.is_string()) then.emplace_back(part, value.get<std::string>());
    const std::string changed = changed_parts(then, basis);
    if (changed.empty()) return;
    throw InputError(fmt::format(
        "{}: holds rows of an interrupted sweep, but since then {} changed; remove the file to "
        "begin anew, or give another name",
        path_, changed));
}

void SweepJournal::write(const std::string& line) {
    const bool written =
        std::fwrite(line.data(), 1, line.size(), file_) == line.size() && std::fflush(file_) == 0;
    if (!written) throw not_writable(path_);
}

void SweepJournal::add(const SearchRow& row) { write(row_json(row, grid_.at(row.index), false)); }

void SweepJournal::remove() {
    std::error_code error;
    std::filesystem::remove(path_, error);
    std::fclose(file_);
    file_ = nullptr;
}

}  // namespace sluice
