// How many bytes does the user mean by `1.5TB`?
#pragma once

#include <string_view>

namespace sluice {

/// Bytes of `1.5TB`, `512GiB`, `80e9`. Throws InputError; `option` names the flag in the message.
double parse_memory_size(std::string_view text, std::string_view option);

}  // namespace sluice
