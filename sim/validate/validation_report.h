// How is a validation written: for people, for programs, as a picture.
#pragma once

#include <string>

#include "sim/validate/validation.h"

namespace sluice {

/// A row a run, then the errors of each group.
std::string validation_text(const Validation& validation);
/// All of it; keys carry units, errors are fractions: predicted / measured - 1.
std::string validation_json(const Validation& validation);
/// A line a run, under a line of names.
std::string validation_csv(const Validation& validation);

}  // namespace sluice
