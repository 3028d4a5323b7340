// How is a validation written: for people, for programs, as a picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/answers/validate/operation_errors.h"
#include "sim/answers/validate/validation.h"

namespace sluice {

/// A row a run, then the errors of each group.
std::string validation_text(const Validation& validation);
/// All of it; keys carry units, errors are fractions: predicted / measured - 1. `operations`, where
/// given, is added, and of each run the like.
std::string validation_json(const Validation& validation,
                            const OperationErrors* operations = nullptr);
/// A line a run, under a line of names.
std::string validation_csv(const Validation& validation);

/// Kinds of operations by lane, then the single ones that are most wrong.
std::string operation_errors_text(const OperationErrors& errors);
nlohmann::ordered_json operation_errors_json(const OperationErrors& errors);

}  // namespace sluice
