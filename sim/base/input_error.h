// What did the user get wrong? One sentence: file, field, value, what was expected, what to do.
// Exit status 2.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A mistake in what the user gave (file, flag, name). The message is the whole sentence shown.
class InputError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A mistake of ours; the message asks for a report.
class InternalError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

/// `; did you mean "x"?` for the candidate nearest to `name` by edit distance, or "" where none is
/// near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

/// A shared upper limit for text input (config, profile, training JSON): larger files are refused
/// unread.
inline constexpr std::size_t kMaxInputBytes = std::size_t{16} << 20;

}  // namespace sluice
