// What profile would a machine have that cannot be measured? A measured one, scaled by the ratio of
// what the datasheets of both say.
//
// S multiprocessors, P dense bf16 FLOP/s, W watts (TDP), B device memory, L link and D host memory
// bytes/s as the datasheets have them; ' is the new machine.
//
// Products: a shape has the efficiency (of P) that the measured GPU reached with as many waves of
// 128 x 128 tiles over its multiprocessors: seconds' = trend'(m, n, k) x residual(m S / S', n, k).
// The trend's part in FLOPs goes by P / P', its parts in bytes by B / B', its constants stay (a
// launch, a wave); where it has the larger of both, so goes each of them. The residual is read
// where the waves are the same. Attention likewise, with its waves over sequences; its part in
// scores (exponentials) goes by S / S'. A GPU in large products runs at its power limit, so the
// efficiency also goes by
// ((W' / P') / (W / P)) ^ 0.14, where both TDPs are known: see kPowerExponent in scales.cpp.
// Memory-bound kernels go by B / B' but for the constant. Copies: rate x L' / L, latency as is, so
// a curve's sizes go by L' / L too. Adam: what a thread does is kept and the limit goes by D' / D,
// so the curve over threads is stretched in both by D' / D. Shares of contention are kept over work
// stretched by D' / D.
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
