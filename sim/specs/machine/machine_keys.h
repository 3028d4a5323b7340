// Which keys may a profile have in the sections that predictions read?
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class ValueKind { number, curve, kernels, text, flag, group };

/// Keys of the object at `path`, as in `link` or `link.curve`; none where a profile's keys are its
/// own.
std::vector<std::string> known_keys_in(std::string_view path);

/// What stands at a path made of known keys.
ValueKind known_kind(std::string_view path);

}  // namespace sluice
