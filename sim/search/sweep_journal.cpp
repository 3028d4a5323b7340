#include "sim/search/sweep_journal.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "sim/input_error.h"
#include "sim/search/sweep_rows.h"

namespace sluice {
namespace {

InputError not_writable(const std::string& path) {
    return InputError(fmt::format(
        "{}: cannot be written; check that the folder exists, is writable and has space", path));
}

}  // namespace

SweepJournal::SweepJournal(const std::string& path, const ScenarioGrid& grid)
    : path_(path), grid_(grid) {
    read();
    file_ = std::fopen(path.c_str(), "ab");
    if (file_ == nullptr) throw not_writable(path);
}

SweepJournal::~SweepJournal() {
    if (file_ != nullptr) std::fclose(file_);
}

void SweepJournal::read() {
    std::ifstream in(path_, std::ios::binary);
    std::string line;
    std::uintmax_t whole = 0;
    for (int number = 1; std::getline(in, line); ++number) {
        if (in.eof()) break;  // without its line break
        const SearchRow row = parse_row(line, grid_, fmt::format("{}: line {}", path_, number));
        known_[row.index] = row;
        whole += line.size() + 1;
    }
    const bool is_there = in.is_open();
    in.close();
    std::error_code error;
    if (is_there) std::filesystem::resize_file(path_, whole, error);
    if (error) throw not_writable(path_);
}

void SweepJournal::add(const SearchRow& row) {
    const std::string line = row_json(row, grid_.at(row.index), false);
    const bool written =
        std::fwrite(line.data(), 1, line.size(), file_) == line.size() && std::fflush(file_) == 0;
    if (!written) throw not_writable(path_);
}

void SweepJournal::remove() {
    std::fclose(file_);
    file_ = nullptr;
    std::error_code error;
    std::filesystem::remove(path_, error);
}

}  // namespace sluice
