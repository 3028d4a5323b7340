#include "sim/cli/commands.h"

int main(int argc, char** argv) {
    using namespace sluice;
    return run_sluice(
        {add_predict, add_explain, add_compare, add_choose, add_advise, add_sweep, add_fit,
         add_sensitivity, add_audit, add_cost, add_report, add_validate, add_models, add_machines},
        argc, argv);
}
