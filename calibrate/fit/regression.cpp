#include "calibrate/fit/regression.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/SpecialFunctions>

namespace sluice {

namespace {

/// Weighted rows, with each column scaled to length 1, so that one tolerance fits features of very
/// different units (1, GFLOP).
struct ScaledProblem {
    Eigen::MatrixXd rows;
    Eigen::VectorXd values;
    Eigen::VectorXd scale;  ///< of each column; a coefficient is the scaled one divided by it
};

ScaledProblem scaled_problem(const FeatureRows& features, std::span<const double> values,
                             std::span<const double> weights) {
    const auto count = static_cast<Eigen::Index>(features.size());
    const auto width = static_cast<Eigen::Index>(features.front().size());
    ScaledProblem problem{Eigen::MatrixXd(count, width), Eigen::VectorXd(count), {}};
    for (Eigen::Index i = 0; i < count; ++i) {
        const auto row = static_cast<std::size_t>(i);
        problem.rows.row(i) =
            weights[row] * Eigen::Map<const Eigen::RowVectorXd>(features[row].data(), width);
        problem.values[i] = weights[row] * values[row];
    }
    problem.scale = problem.rows.colwise().norm();
    for (Eigen::Index j = 0; j < width; ++j) {
        if (problem.scale[j] == 0) problem.scale[j] = 1;
    }
    problem.rows.array().rowwise() /= problem.scale.transpose().array();
    return problem;
}

std::vector<double> to_vector(const Eigen::VectorXd& vector) {
    return {vector.begin(), vector.end()};
}

/// Least squares over the columns that are `free`; the others are 0.
Eigen::VectorXd solve_free(const ScaledProblem& problem, const std::vector<Eigen::Index>& free) {
    Eigen::VectorXd solution = Eigen::VectorXd::Zero(problem.rows.cols());
    const Eigen::MatrixXd columns = problem.rows(Eigen::all, free);
    const Eigen::VectorXd found = columns.completeOrthogonalDecomposition().solve(problem.values);
    solution(free) = found;
    return solution;
}

/// Moves from `from`, where all coefficients are >= 0, towards `to` until the first free
/// coefficient becomes 0; those that are 0 then are no longer free.
Eigen::VectorXd step_to_bound(const Eigen::VectorXd& from, const Eigen::VectorXd& to,
                              std::vector<Eigen::Index>& free) {
    double share = 1;
    Eigen::Index first = free.front();
    for (const Eigen::Index j : free) {
        if (to[j] > 0) continue;
        const double reach = from[j] > 0 ? from[j] / (from[j] - to[j]) : 0;
        if (reach <= share) {
            share = reach;
            first = j;
        }
    }
    Eigen::VectorXd reached = from + share * (to - from);
    reached[first] = 0;
    std::erase_if(free, [&](Eigen::Index j) { return reached[j] <= 0; });
    return reached.cwiseMax(0);
}

bool all_positive(const Eigen::VectorXd& solution, const std::vector<Eigen::Index>& free) {
    return std::all_of(free.begin(), free.end(), [&](auto j) { return solution[j] > 0; });
}

/// The column at 0 that reduces the error most steeply; -1 if there is none.
Eigen::Index steepest(const ScaledProblem& problem, const Eigen::VectorXd& solution,
                      const std::vector<Eigen::Index>& free) {
    const double tolerance = 1e-12 * problem.values.norm();
    Eigen::VectorXd slope = problem.rows.transpose() * (problem.values - problem.rows * solution);
    for (const Eigen::Index j : free) slope[j] = 0;
    Eigen::Index best = 0;
    return slope.maxCoeff(&best) > tolerance ? best : -1;
}

}  // namespace

std::vector<double> relative_weights(std::span<const double> values) {
    std::vector<double> weights;
    for (const double value : values) weights.push_back(1 / value);
    return weights;
}

LinearFit least_squares(const FeatureRows& features, std::span<const double> values,
                        std::span<const double> weights) {
    const ScaledProblem problem = scaled_problem(features, values, weights);
    const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition(problem.rows);
    const Eigen::VectorXd solution = decomposition.solve(problem.values);
    const Eigen::Index width = problem.rows.cols();

    LinearFit fit;
    fit.coefficient = to_vector(solution.cwiseQuotient(problem.scale));
    fit.degrees_of_freedom = static_cast<int>(problem.rows.rows() - width);
    Eigen::VectorXd range =
        Eigen::VectorXd::Constant(width, std::numeric_limits<double>::infinity());
    if (fit.degrees_of_freedom > 0) {
        const double squares = (problem.values - problem.rows * solution).squaredNorm();
        fit.deviation = std::sqrt(squares / fit.degrees_of_freedom);
        if (decomposition.rank() == width) {
            const Eigen::VectorXd lengths = decomposition.pseudoInverse().rowwise().norm();
            range = student_t_quantile(0.95, fit.degrees_of_freedom) *
                    (fit.deviation * lengths.cwiseQuotient(problem.scale));
        }
    }
    for (Eigen::Index j = 0; j < width; ++j) {
        const double coefficient = fit.coefficient[static_cast<std::size_t>(j)];
        fit.low.push_back(coefficient - range[j]);
        fit.high.push_back(coefficient + range[j]);
    }
    return fit;
}

std::vector<double> non_negative_least_squares(const FeatureRows& features,
                                               std::span<const double> values,
                                               std::span<const double> weights) {
    const ScaledProblem problem = scaled_problem(features, values, weights);
    Eigen::VectorXd solution = Eigen::VectorXd::Zero(problem.rows.cols());
    std::vector<Eigen::Index> free;
    // In exact arithmetic the error falls in each round; rounding with near-collinear columns could
    // make it cycle.
    const Eigen::Index most_rounds = 10 * problem.rows.cols();
    for (Eigen::Index round = 0; round < most_rounds; ++round) {
        const Eigen::Index entering = steepest(problem, solution, free);
        if (entering < 0) break;
        free.push_back(entering);
        Eigen::VectorXd candidate = solve_free(problem, free);
        while (!free.empty() && !all_positive(candidate, free)) {
            solution = step_to_bound(solution, candidate, free);
            candidate = solve_free(problem, free);
        }
        solution = candidate;
    }
    return to_vector(solution.cwiseQuotient(problem.scale));
}

double student_t_quantile(double probability, double degrees) {
    if (probability < 0.5) return -student_t_quantile(1 - probability, degrees);
    // P(|T| > t) is the regularized incomplete beta function at degrees / (degrees + t^2)
    // (Abramowitz and Stegun, 26.7.1), which rises with its argument, so it is bisected. Eigen has
    // that function; Boost.Math would add 606 headers to the trainer's bundle for this one number.
    const double outside = 2 * (1 - probability);
    double low = 0, high = 1;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        const double reached = Eigen::numext::betainc(degrees / 2, 0.5, middle);
        (reached < outside ? low : high) = middle;
    }
    return std::sqrt(degrees * (1 - high) / high);
}

namespace {

struct Block {
    double mean = 0, weight = 0;
    std::size_t count = 0;
};

Block pooled(const Block& a, const Block& b) {
    const double weight = a.weight + b.weight;
    return {(a.mean * a.weight + b.mean * b.weight) / weight, weight, a.count + b.count};
}

}  // namespace

std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights,
                             Monotone direction) {
    const double sign = direction == Monotone::increasing ? 1 : -1;
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < values.size(); ++i) {
        blocks.push_back({values[i], weights[i], 1});
        while (blocks.size() > 1 &&
               sign * blocks[blocks.size() - 2].mean > sign * blocks.back().mean) {
            const Block last = blocks.back();
            blocks.pop_back();
            blocks.back() = pooled(blocks.back(), last);
        }
    }
    std::vector<double> result;
    for (const Block& block : blocks) result.insert(result.end(), block.count, block.mean);
    return result;
}

namespace {

Eigen::MatrixXd distances(const std::vector<std::vector<double>>& points) {
    const auto count = static_cast<Eigen::Index>(points.size());
    const auto width = static_cast<Eigen::Index>(points.front().size());
    Eigen::MatrixXd result(count, count);
    for (Eigen::Index i = 0; i < count; ++i) {
        const Eigen::Map<const Eigen::VectorXd> from(points[static_cast<std::size_t>(i)].data(),
                                                     width);
        for (Eigen::Index j = 0; j <= i; ++j) {
            const Eigen::Map<const Eigen::VectorXd> to(points[static_cast<std::size_t>(j)].data(),
                                                       width);
            result(i, j) = result(j, i) = (from - to).norm();
        }
    }
    return result;
}

Kriging solve(const Eigen::MatrixXd& distance, std::span<const double> values,
              const std::vector<double>& noise, double length) {
    const Eigen::Map<const Eigen::VectorXd> measured(values.data(),
                                                     static_cast<Eigen::Index>(values.size()));
    Kriging result;
    result.length = length;
    result.noise = noise;
    result.variance = measured.squaredNorm() / static_cast<double>(values.size());
    Eigen::MatrixXd covariance = result.variance * (-distance / length).array().exp().matrix();
    covariance.diagonal() += Eigen::Map<const Eigen::VectorXd>(noise.data(), distance.rows());
    const Eigen::MatrixXd inverse =
        covariance.llt().solve(Eigen::MatrixXd::Identity(distance.rows(), distance.rows()));
    const Eigen::VectorXd explained = inverse * measured;
    const Eigen::VectorXd weight = result.variance * explained;
    const Eigen::VectorXd error = explained.cwiseQuotient(inverse.diagonal());
    result.weight.assign(weight.begin(), weight.end());
    result.left_out_error.assign(error.begin(), error.end());
    return result;
}

double mean_square(std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return sum / static_cast<double>(values.size());
}

}  // namespace

Kriging krige(const std::vector<std::vector<double>>& points, std::span<const double> values,
              const std::vector<double>& noise, double length) {
    return solve(distances(points), values, noise, length);
}

Kriging best_kriging(const std::vector<std::vector<double>>& points, std::span<const double> values,
                     const std::vector<double>& least_noise) {
    const Eigen::MatrixXd distance = distances(points);
    const double variance = mean_square(values);
    Kriging best;
    double least_error = std::numeric_limits<double>::infinity();
    for (const double length : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {
        for (const double share : {0.01, 0.03, 0.1, 0.3, 1.0, 3.0}) {
            std::vector<double> noise = least_noise;
            for (double& of_point : noise) of_point = std::max(of_point, share * variance);
            Kriging candidate = solve(distance, values, noise, length);
            const double error = mean_square(candidate.left_out_error);
            if (error < least_error) {
                least_error = error;
                best = std::move(candidate);
            }
        }
    }
    return best;
}

}  // namespace sluice
