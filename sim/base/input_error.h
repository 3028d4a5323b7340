// Which mistake did the user make? One sentence: file, field, value, expectation, remedy. Exit
// status 2.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// Exit statuses of programs that end with InputError and MachineError.
inline constexpr int kUserMistake = 2, kMachineFailed = 3;

/// A sentence in which long words of the user, such as a name of 100,000 letters, lose their
/// middle. Paths keep their ends.
std::string with_short_words(std::string_view sentence);

/// Why a value is refused, where that is no error yet: see InputError.
struct Refusal {
    std::string sentence, field;
};

/// A mistake in the user's input (file, flag, name). The message is the whole sentence. `field` of
/// a scenario: `model`, `layers`, `machine`, `host_memory`, `settings`, or one of
/// training_options() or money_options(); empty if the mistake is not about a field, or the field
/// is not known.
class InputError : public std::runtime_error {
  public:
    explicit InputError(const std::string& sentence, std::string field = "")
        : std::runtime_error(with_short_words(sentence)), field_(std::move(field)) {}
    explicit InputError(const Refusal& why);
    const std::string& field() const { return field_; }

  private:
    std::string field_;
};

/// The result of `read`; a mistake without a field becomes a mistake of `field`.
template <typename Read>
auto in_field(const char* field, Read read) {
    try {
        return read();
    } catch (const InputError& error) {
        if (!error.field().empty()) throw;
        throw InputError(error.what(), field);
    }
}

/// A fault of this program; the message asks for a report.
class InternalError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

/// The machine failed, neither the user nor this program: the same command may succeed on another
/// one. Exit status 3.
class MachineError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Levenshtein distance with unit costs, in bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// `; did you mean "x"?` for the candidate nearest to `name` by edit distance; "" if none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

/// `; did you mean "x" or "y"?` for the candidates, at most `most`, that have `name` as a part, in
/// any case: those that begin with it first, then the shortest; if none has it, as did_you_mean().
std::string names_like(std::string_view name, const std::vector<std::string>& candidates,
                       std::size_t most = 10);
/// `; did you mean "x" or "y"?`; "" for none.
std::string may_be_meant(const std::vector<std::string>& names);

/// The largest text input (config, profile, training JSON) that is read; larger files are refused.
inline constexpr std::size_t kMaxInputBytes = std::size_t{16} << 20;

}  // namespace sluice
