// Which amounts, none below zero, cost the least and keep the rules? Solved by GLPK.
#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace sluice {

class LinearProgram {
  public:
    /// Variables and their factors in a sum.
    using Terms = std::vector<std::pair<int, double>>;

    /// A variable from 0 on, and what one of it costs. Returns its number.
    int variable(double cost);
    void at_least(Terms terms, double sum);
    void at_most(Terms terms, double sum);

    /// The values of all variables, the least in cost; empty if nothing keeps all rules.
    std::optional<std::vector<double>> least_cost() const;

  private:
    struct Rule {
        Terms terms;
        double sum;
        bool at_least;
    };
    std::vector<double> costs_;
    std::vector<Rule> rules_;
};

}  // namespace sluice
