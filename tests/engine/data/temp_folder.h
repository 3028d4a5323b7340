// Where do tests of files write? In a folder that is gone when the test ends.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/input_error.h"

class TempFolder {
  public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "sluice-data-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw sluice::InternalError("no folder for tests");
        folder_ = name;
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    std::string path() const { return folder_.string(); }
    std::string path(std::string_view name) const { return (folder_ / name).string(); }

    std::string write(std::string_view name, std::string_view bytes) const {
        // A file that is truncated instead is flushed to disk by ext4 when it is closed.
        std::filesystem::remove(path(name));
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }
    template <typename Number>
    std::string write_numbers(std::string_view name, const std::vector<Number>& numbers) const {
        return write(name, bytes_of(numbers));
    }
    std::string read(std::string_view name) const {
        std::ifstream in(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
            names.push_back(entry.path().filename().string());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    /// The little-endian bytes of `numbers`.
    template <typename Number>
    static std::string bytes_of(const std::vector<Number>& numbers) {
        std::string bytes(numbers.size() * sizeof(Number), '\0');
        if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
        return bytes;
    }

  private:
    std::filesystem::path folder_;
};

/// The message of the InputError that `action` throws, or "" where it throws none.
template <typename Action>
std::string input_error_of(Action action) {
    try {
        action();
    } catch (const sluice::InputError& error) {
        return error.what();
    }
    return "";
}
