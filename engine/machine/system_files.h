// How are the small text files of /proc and /sys read? Missing or odd contents are unknown, never
// an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace sluice {

/// The files of a machine, below the folder `root`: "/", or a copy of them.
class SystemFiles {
  public:
    explicit SystemFiles(std::string root) : root_(std::move(root)) {}

    /// Text of a file, as in text("proc/meminfo"); "" if it cannot be read.
    std::string text(std::string_view path) const;
    /// The whole number in the file; empty if it holds anything else.
    std::optional<std::int64_t> integer(std::string_view path) const;
    /// Names in a folder, sorted; empty if there is no such folder.
    std::vector<std::string> names(std::string_view folder) const;

  private:
    std::string root_;
};

/// The text after the first `key` at the start of a line, up to the line's end, without outer
/// blanks: field("a: 1\nb: 2", "b:") is "2".
std::optional<std::string_view> field(std::string_view text, std::string_view key);
std::optional<std::string_view> field(std::string&& text, std::string_view key) = delete;

/// Bytes of a field in kB (1024 bytes), as in "MemTotal:   1024 kB".
std::optional<Bytes> kilobyte_field(std::string_view text, std::string_view key);

/// The whole number that `text` denotes, ignoring blanks around it.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// CPUs or nodes of "0-3,8", ascending; empty if the text is not such a list.
std::optional<std::vector<int>> parse_id_list(std::string_view text);
/// The inverse: "0-3,8"; `ids` ascending.
std::string format_id_list(const std::vector<int>& ids);

}  // namespace sluice
