#include "sim/simulate/fluid_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

constexpr double kPivot = 1e-12;  ///< smaller entries are rounding

/// Maximizes work u subject to progress u <= cost, u >= 0: one row per mode, one column per kind of
/// work, then the right side. The slack variables are the first basis.
class DualTableau {
  public:
    DualTableau(const std::vector<WorkMode>& modes, const std::vector<double>& work)
        : columns_(work.size()), basis_(modes.size()), outside_(work.size()), gain_(work) {
        for (double& gain : gain_) gain = std::max(gain, 0.0);
        for (std::size_t i = 0; i < outside_.size(); ++i) outside_[i] = i;
        for (std::size_t j = 0; j < modes.size(); ++j) {
            basis_[j] = columns_ + j;
            rows_.push_back(modes[j].progress);
            rows_.back().push_back(modes[j].cost);
        }
    }

    std::vector<double> solve() {
        const std::size_t most_pivots = 50 * (rows_.size() + columns_);
        for (std::size_t i = 0; i < most_pivots; ++i) {
            const auto column = static_cast<std::size_t>(
                std::max_element(gain_.begin(), gain_.end()) - gain_.begin());
            if (gain_[column] <= kPivot) break;
            const std::size_t row = leaving(column);
            if (row == rows_.size()) break;  // unbounded: the work can never be done
            pivot(row, column);
        }
        std::vector<double> u(columns_, 0);
        for (std::size_t j = 0; j < rows_.size(); ++j)
            if (basis_[j] < columns_) u[basis_[j]] = std::max(0.0, rows_[j][columns_]);
        return u;
    }

  private:
    std::size_t leaving(std::size_t column) const {
        std::size_t best = rows_.size();
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < rows_.size(); ++j) {
            if (rows_[j][column] <= kPivot) continue;
            const double ratio = rows_[j][columns_] / rows_[j][column];
            if (ratio < least) {
                least = ratio;
                best = j;
            }
        }
        return best;
    }

    void pivot(std::size_t row, std::size_t column) {
        std::vector<double>& p = rows_[row];
        const double inverse = 1 / p[column];
        for (double& x : p) x *= inverse;
        p[column] = inverse;
        for (std::size_t j = 0; j < rows_.size(); ++j)
            if (j != row) eliminate(rows_[j], p, column, inverse);
        const double factor = gain_[column];
        for (std::size_t i = 0; i < columns_; ++i) gain_[i] -= factor * p[i];
        gain_[column] = -factor * inverse;
        std::swap(basis_[row], outside_[column]);
    }

    static void eliminate(std::vector<double>& row, const std::vector<double>& by,
                          std::size_t column, double inverse) {
        const double factor = row[column];
        if (factor == 0) return;
        for (std::size_t i = 0; i < row.size(); ++i) row[i] -= factor * by[i];
        row[column] = -factor * inverse;
    }

    std::size_t columns_;
    std::vector<std::vector<double>> rows_;
    std::vector<std::size_t> basis_;    ///< of each row: the basic variable
    std::vector<std::size_t> outside_;  ///< of each column: the variable that is 0
    std::vector<double> gain_;
};

}  // namespace

double least_cost(const std::vector<WorkMode>& modes, const std::vector<double>& work) {
    const std::vector<double> u = DualTableau(modes, work).solve();
    double bound = 0;
    for (std::size_t i = 0; i < work.size(); ++i) bound += std::max(work[i], 0.0) * u[i];
    double shrink = 1;
    for (const WorkMode& mode : modes) {
        double used = 0;
        for (std::size_t i = 0; i < work.size(); ++i) used += mode.progress[i] * u[i];
        if (used <= mode.cost) continue;
        if (mode.cost <= 0 && used > 1e-9) return 0;
        if (mode.cost > 0) shrink = std::min(shrink, mode.cost / used);
    }
    return bound * shrink;
}

}  // namespace sluice
