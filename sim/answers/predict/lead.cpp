#include "sim/answers/predict/lead.h"

#include <algorithm>
#include <cmath>

#include "sim/answers/predict/prediction_band.h"

namespace sluice {
namespace {

/// Standard deviations from the middle of a normal distribution to its 95%.
constexpr double kDeviationsTo95 = 1.6448536;

struct Move {
    ErrorSource source;
    double at_low = 0, at_high = 0;  ///< of the logarithm of the ratio of both steps
};

/// The moves of one step's errors: their relative sizes as logarithms.
std::vector<Move> moves_of(const Prediction& report) {
    const auto relative = [&](Seconds error) { return std::log1p(error / report.step.seconds); };
    const Band& band = *report.band;
    const Seconds step = report.step.seconds;
    if (band.errors.empty()) return {{{}, relative(band.high - step), relative(band.low - step)}};
    std::vector<Move> out;
    for (const BandError& error : band.errors)
        out.push_back({error.source, relative(error.at_low), relative(error.at_high)});
    return out;
}

}  // namespace

double lead_holds(double lead, const Prediction& a, const Prediction& b) {
    std::vector<Move> moves = moves_of(a);
    const std::size_t of_a = moves.size();
    for (const Move& other : moves_of(b)) {
        const auto end = moves.begin() + static_cast<std::ptrdiff_t>(of_a);
        const auto same = std::find_if(moves.begin(), end, [&](const Move& one) {
            return one.source == other.source && one.source != ErrorSource{};
        });
        Move& move = same == end ? moves.emplace_back(Move{other.source}) : *same;
        move.at_low -= other.at_low;
        move.at_high -= other.at_high;
    }
    const double ahead = std::log(lead);
    std::vector<double> against;
    for (const Move& move : moves)
        against.push_back(ahead >= 0 ? std::max({move.at_low, move.at_high, 0.0})
                                     : std::min({move.at_low, move.at_high, 0.0}));
    const double spread = combined(against);
    if (spread == 0) return ahead > 0 ? 1 : ahead < 0 ? 0 : 0.5;
    return std::erfc(-kDeviationsTo95 * ahead / spread / std::sqrt(2.0)) / 2;
}

}  // namespace sluice
