// How are the fields of a scenario named for people? The window's form, its sentences and shared
// pages use these names in place of flags.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// "Micro batch" for `micro_batch`, "Node price" for `node_usd`.
std::string field_label(std::string_view field);

/// The same sentence with fields in place of their flags: `give "Node price"` for "give
/// --node-usd". Other flags lose their dashes.
std::string fields_for_flags(std::string_view words);

}  // namespace sluice
