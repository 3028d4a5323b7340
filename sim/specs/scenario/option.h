// How is one option of a training described: name, type, range, values, meaning?
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

struct TrainingSpec;

/// One value of a choice and its index in the enum.
struct Choice {
    const char* name;
    int value;
};

/// The task itself; where tensors wait and when work is done; the ways of other systems.
enum class OptionGroup : std::uint8_t { task, placement, system };

/// An option: JSON key and CLI flag (`micro_batch`, `--micro-batch`), type, range, meaning.
/// declare_option.h makes it from a field of TrainingSpec or of a schedule's own struct.
struct Option {
    /// Only these numbers of its range mean something.
    Option with_numbers(std::string words) && {
        numbers = std::move(words);
        return std::move(*this);
    }
    /// Its 0 is no number of its unit.
    Option with_zero(const char* words) && {
        zero = words;
        help += std::string("; 0: ") + words;
        return std::move(*this);
    }
    /// The values over which it is varied where nobody names some.
    Option varied_over(std::vector<double> values) && {
        proposals = std::move(values);
        return std::move(*this);
    }

    OptionGroup group;
    const char* field;
    const char* unit;
    double low, high;
    std::vector<Choice> choices;  ///< empty: a number, or a set of `members`
    std::string brief;            ///< the meaning, for one line of --help
    std::string help;             ///< the whole meaning
    double (*get)(const TrainingSpec&);
    void (*set)(TrainingSpec&, double);
    /// The shared option that one of a schedule or of a kind of home precedes in lists.
    const char* before = "";
    bool is_memory = false;            ///< accepts 80GB as well as a number
    std::vector<Choice> members = {};  ///< it is a set of these, by their bits
    bool is_text() const { return !choices.empty() || !members.empty() || is_memory; }
    std::string numbers = {};     ///< in words, if only some of the range mean something
    std::string zero = {};        ///< what 0 stands for: "the whole batch"; the help says it, too
    const char* value_name = "";  ///< in --help; "": N, SIZE or the choices
    std::vector<double> proposals = {};  ///< see varied_over(); empty: around its value
};

}  // namespace sluice
