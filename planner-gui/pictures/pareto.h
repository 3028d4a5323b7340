// Cost against speed of machines and systems for one model: which is beaten by no other?
#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

#include "planner-gui/pictures/byte_units.h"
#include "sim/answers/search/machine_choice.h"
#include "sim/base/units.h"
#include "sim/report/cost_speed.h"

namespace sluice {

/// A machine with a system.
struct ParetoRow {
    std::string machine, system;
    std::string reason;               ///< not planned: the rule; no price: that
    std::vector<Shortage> shortages;  ///< does not fit
    // Where a step could be planned:
    bool planned = false, fits = false;
    std::string model;
    std::int64_t batch = 0, sequence = 0;
    Seconds step = 0;
    Seconds step_low = 0, step_high = 0;  ///< 5 to 95%; 0 without a band
    Bytes device = 0, host = 0;           ///< peaks
    // With a price:
    std::optional<double> usd_per_hour, usd_per_million_tokens;
    std::string price_of;  ///< "AWS p5e capacity block, rented, 2026-05-25"

    double tokens_per_s_at(Seconds one_step) const {
        return static_cast<double>(batch * sequence) / one_step;
    }
    double tokens_per_s() const { return tokens_per_s_at(step); }
    bool has_band() const { return step_high > 0; }
    /// Fits and has a price.
    bool is_plotted() const { return planned && fits && usd_per_hour.has_value(); }
};

/// Precondition: row.is_plotted().
double cost_of(const ParetoRow& row, CostAxis axis);
/// "$/h"
QString cost_name(CostAxis axis);

/// One a row: plotted, and no other is faster for as little or cheaper and as fast.
std::vector<bool> on_front(const std::vector<ParetoRow>& rows, CostAxis axis);
/// Indices of plotted rows from the cheapest to the dearest, of equal ones the faster first.
std::vector<std::size_t> by_cost(const std::vector<ParetoRow>& rows, CostAxis axis);
/// The plotted row of the least cost that reaches that speed; nothing where none does.
std::optional<std::size_t> cheapest_at(const std::vector<ParetoRow>& rows, CostAxis axis,
                                       double least_tokens_per_s);
/// In words those of the least cost a token and an hour, or which is the fastest where none reaches
/// that speed; empty where none is plotted.
QString cheapest_words(const std::vector<ParetoRow>& rows, double least_tokens_per_s);
/// All that is known of a row, a line each.
QStringList row_lines(const ParetoRow& row, ByteUnits units);
/// "3,974 to 8,523", or empty.
QString band_text(const ParetoRow& row);

QString pareto_csv(const std::vector<ParetoRow>& rows);
/// The plotted rows over that cost; ids are places of the rows.
CostSpeed cost_speed(const std::vector<ParetoRow>& rows, CostAxis axis, ByteUnits units);
Picture pareto_picture(const std::vector<ParetoRow>& rows, CostAxis axis, ByteUnits units,
                       const PictureSpace& space);

}  // namespace sluice
