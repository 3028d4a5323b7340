#include "sim/cli/commands.h"

int main(int argc, char** argv) {
    return sluice::run_sluice({sluice::add_predict, sluice::add_explain}, argc, argv);
}
