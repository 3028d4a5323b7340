// Which quantities can an axis of the heat map vary, and over which values?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// A training option, or a number of the machine's profile.
struct VariedNumber {
    const Option* option = nullptr;  ///< empty: a number of the machine
    std::string key;                 ///< the option's field, or the path that `--set` takes
    std::string label;               ///< "Micro batch", "Host memory", as in the form
    std::string unit;                ///< may be empty
    std::string help;

    bool operator==(const VariedNumber& other) const { return key == other.key; }
};

struct VariedValue {
    VariedNumber number;
    double value = 0;
};

VariedNumber varied_option(const Option& option);
/// Options that the schedule has, in their order, then numbers of a machine that people choose when
/// buying: memory, link, matrix rate.
std::vector<VariedNumber> varied_numbers(Schedule schedule);

/// Empty if the profile does not know it.
std::optional<double> current_value(const VariedNumber& number, const TrainingSpec& training,
                                    const MachineProfile& profile);
/// Proposed values in ascending order, the current one among them: every choice, powers of two
/// around the current batch, sequences of 512 to 128k, depths of 1 to 4, half to four times a
/// number of the machine. All are in the option's range.
std::vector<double> proposed_values(const VariedNumber& number, const TrainingSpec& training,
                                    const MachineProfile& profile);

/// "8,16,32" as flags give it. Throws InputError if a value is wrong or given twice.
std::vector<double> parse_values(const VariedNumber& number, const std::string& text);
/// A text that parse_values() reads.
std::string values_text(const VariedNumber& number, const std::vector<double>& values);
/// "131,072", "host", "80.0 GB": one value for people.
std::string value_label(const VariedNumber& number, double value);
/// "seq [tokens]"
std::string axis_title(const VariedNumber& number);

}  // namespace sluice
