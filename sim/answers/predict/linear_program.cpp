#include "sim/answers/predict/linear_program.h"

#include <glpk.h>

#include <memory>

namespace sluice {

int LinearProgram::variable(double cost) {
    costs_.push_back(cost);
    return static_cast<int>(costs_.size()) - 1;
}

void LinearProgram::at_least(Terms terms, double sum) {
    rules_.push_back({std::move(terms), sum, true});
}
void LinearProgram::at_most(Terms terms, double sum) {
    rules_.push_back({std::move(terms), sum, false});
}

std::optional<std::vector<double>> LinearProgram::least_cost() const {
    glp_term_out(GLP_OFF);
    const std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> problem(glp_create_prob(),
                                                                        &glp_delete_prob);
    glp_add_cols(problem.get(), static_cast<int>(costs_.size()));
    for (int i = 0; i < static_cast<int>(costs_.size()); ++i) {
        glp_set_col_bnds(problem.get(), i + 1, GLP_LO, 0, 0);
        glp_set_obj_coef(problem.get(), i + 1, costs_[static_cast<std::size_t>(i)]);
    }
    glp_add_rows(problem.get(), static_cast<int>(rules_.size()));
    for (int row = 0; row < static_cast<int>(rules_.size()); ++row) {
        const Rule& rule = rules_[static_cast<std::size_t>(row)];
        std::vector<int> columns = {0};  // GLPK counts from 1
        std::vector<double> factors = {0};
        for (const auto& [variable, factor] : rule.terms) {
            columns.push_back(variable + 1);
            factors.push_back(factor);
        }
        glp_set_mat_row(problem.get(), row + 1, static_cast<int>(rule.terms.size()), columns.data(),
                        factors.data());
        glp_set_row_bnds(problem.get(), row + 1, rule.at_least ? GLP_LO : GLP_UP, rule.sum,
                         rule.sum);
    }
    glp_smcp settings;
    glp_init_smcp(&settings);
    settings.msg_lev = GLP_MSG_OFF;
    settings.presolve = GLP_ON;
    if (glp_simplex(problem.get(), &settings) != 0 || glp_get_status(problem.get()) != GLP_OPT)
        return std::nullopt;
    std::vector<double> out;
    for (int i = 0; i < static_cast<int>(costs_.size()); ++i)
        out.push_back(glp_get_col_prim(problem.get(), i + 1));
    return out;
}

}  // namespace sluice
