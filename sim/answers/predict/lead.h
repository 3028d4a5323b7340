// How sure is it that one prediction beats another? The share of cases in which it does.
//
// Errors with equal sources move together, so what they do to both steps cancels. The logarithm of
// the ratio of both steps is moved by each source, at the low or at the high end of its range, by
//
//   d = ln(1 + e_a / step_a) - ln(1 + e_b / step_b)
//
// where e is 0 for a step without that source. Sources are independent, and a range holds nine of
// ten cases. The sum of their moves is then normal with a 5 to 95% of +- sqrt(sum d^2), and the
// share is that of cases in which they take away less than the lead.
#pragma once

#include "sim/answers/predict/prediction.h"

namespace sluice {

/// The share of cases in which `a` stays ahead of `b`. `lead` is predicted: the speed of `a` over
/// that of `b`, or the price of a token with `b` over that with `a`. Below 1, `b` is ahead.
/// Precondition: both have bands. A band without errors is one error of its own.
double lead_holds(double lead, const Prediction& a, const Prediction& b);

}  // namespace sluice
