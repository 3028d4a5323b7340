// What does the datasheet of a machine say?
#pragma once

#include <string>
#include <string_view>

#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// A datasheet ("sluice-datasheet/1", as in b200.json): sections, keys and units of a profile, each
/// number {"value", "source", "date", "note"}. Returns the text of a profile of these numbers
/// alone, with the method "datasheet". Throws InputError: file, field, value, expected.
std::string datasheet_as_profile(std::string_view text, const std::string& file);

}  // namespace sluice
