// How is a text parsed as JSON in time that grows with its length alone?
//
// nlohmann's parser with a callback walks through all entries of an object after each object in it,
// and each new key of an ordered object is compared with all keys before it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sluice {

/// Throws InputError with one sentence if the text is not valid JSON, is nested deeper than 64
/// levels or gives a key of an object twice. `file` is the name for messages.
nlohmann::json parse_json(std::string_view text, const std::string& file);

/// The same, with the keys of an object in the order of the text.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& file);

/// Adds a key that the ordered object does not have yet, without a search for it.
nlohmann::ordered_json& append_entry(nlohmann::ordered_json& object, std::string key,
                                     nlohmann::ordered_json value);

/// A JSON value on one short line, for messages.
std::string shown_json(const nlohmann::json& value);

}  // namespace sluice
