// Which profile would a machine have that cannot be measured? A measured profile, scaled by the
// ratios of both datasheets.
//
// S multiprocessors, P dense bf16 FLOP/s, W watts (TDP), B device memory, L link and D host memory
// bytes/s as in the datasheets; ' is the new machine.
//
// Products: a shape has the efficiency (of P) that the measured GPU reached with the same number of
// waves of 128 x 128 tiles over its multiprocessors: seconds' = trend'(m, n, k) x residual(m S /
// S', n, k). The trend's part in FLOPs scales by P / P', its parts in bytes by B / B'. Its
// constants stay (a launch, a wave). Where the trend takes the larger of two parts, each of them
// scales. The residual is read where the waves are the same. Attention scales likewise, with its
// waves over sequences; its part in scores (exponentials) scales by S / S'. A GPU in large products
// runs at its power limit, so the efficiency also scales by ((W' / P') / (W / P)) ^ 0.14, if both
// TDPs are known: see kPowerExponent in scales.cpp. Memory-bound kernels scale by B / B' except for
// the constant.
//
// Copies: rate x L' / L with the same latency, so a curve's sizes scale by L' / L too. Adam: each
// thread keeps its rate and the limit scales by D' / D, so the curve over threads is stretched in
// both directions by D' / D. Shares under contention are kept over work stretched by D' / D.
#pragma once

#include <string>
#include <string_view>

#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// A datasheet ("sluice-datasheet/1", as in b200.json): sections, keys and units of a profile, each
/// number {"value", "source", "date", "note"}. Returns the text of a profile with only these
/// numbers, with the method "datasheet". Throws InputError: file, field, value, expectation.
std::string datasheet_as_profile(std::string_view text, const std::string& file);

/// A file's text and its name, for messages.
struct NamedText {
    std::string_view text;
    std::string file;
};

/// JSON text of a profile (schema "sluice-machine/1"). Every number derived from `measured` (a
/// profile) has method "transferred", the note "transferred from NAME: rule", and a range widened
/// by the rule's error among published figures. Numbers of `datasheet` ("sluice-datasheet/1", see
/// b200.json) are used unchanged. Numbers of one machine only (storage, prices, node power) are
/// left out unless the datasheet has them. `date`: today's, "2026-11-21". Throws InputError with
/// file, field and value.
std::string transfer_profile(const NamedText& measured, const NamedText& datasheet,
                             const std::string& date);

}  // namespace sluice
