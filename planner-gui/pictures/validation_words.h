// What does a validation say in one sentence?
#pragma once

#include <QString>

#include "sim/answers/validate/validation.h"

namespace sluice {

/// "28 runs: tokens/s off by 2.1% in the mean, most +6.0% (14b ...); 24 of 28 steps in the band".
QString validation_sentence(const Validation& validation);

}  // namespace sluice
