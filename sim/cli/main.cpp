#include <CLI/CLI.hpp>

#include "sim/cli/commands.h"

int main(int argc, char** argv) {
    CLI::App app(
        "Predicts whether and how fast a language model trains from host memory on a machine.",
        "sluice");
    app.require_subcommand(1);
    sluice::Command command;
    sluice::add_predict(app, command);
    sluice::add_explain(app, command);
    sluice::add_compare(app, command);
    sluice::add_advise(app, command);
    sluice::add_sweep(app, command);
    sluice::add_fit(app, command);
    sluice::add_sensitivity(app, command);
    sluice::add_audit(app, command);
    sluice::add_cost(app, command);
    sluice::add_report(app, command);
    sluice::add_validate(app, command);
    sluice::add_models(app, command);
    sluice::add_machines(app, command);
    return sluice::run_program(app, command, argc, argv);
}
