// How is a training's value refused?
#pragma once

#include <fmt/format.h>

#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// "--passes is 3", and the words after it.
template <typename... Args>
Refusal refused(const TrainingSpec& spec, const char* field, fmt::format_string<Args...> words,
                Args&&... args) {
    return {fmt::format("{} is {}{}", field_flag(field), option_text(spec, training_option(field)),
                        fmt::format(words, std::forward<Args>(args)...)),
            field};
}

}  // namespace sluice
