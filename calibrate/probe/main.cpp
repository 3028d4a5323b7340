// sluice-probe: measures in a minute what a datasheet does not say, on machines with nothing but a
// driver, and writes a profile to send back.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/cli/calibration_plan.h"
#include "calibrate/cli/fit_command.h"
#include "calibrate/probe/cublaslt_products.h"
#include "engine/device/device.h"
#include "engine/machine/host_facts.h"
#include "sim/command_line/help.h"
#include "sim/command_line/program.h"
#include "sim/specs/machine/library_match.h"

namespace sluice {
namespace {

struct Here {
    DeviceFacts device;
    double cpus = 0;
    bool has_products = false;
};

/// Ends with its device, since the measurement makes its own.
Here look_around() {
    const HostFacts host = read_host_facts();
    const std::unique_ptr<Device> device = make_device("auto", 0, host);
    return {device->facts(), static_cast<double>(host.cpus.size()),
            device->facts().is_gpu && has_cublaslt()};
}

std::vector<std::string> cases_for(const Here& here) {
    if (!here.device.is_gpu) return {"host_memory", "adam"};
    if (!here.has_products) return {"device_copy", "host_memory", "copies", "adam", "mixed_load"};
    return {"device_copy", "gemm", "clock", "host_memory", "copies", "adam", "mixed_load"};
}

void say_what_is_missing(const Here& here, const MeasureFlags& flags) {
    if (!here.device.is_gpu) {
        fmt::print(stderr, "no GPU with a driver (libcuda.so.1) here: only the host is measured\n");
    } else if (!here.has_products) {
        fmt::print(stderr,
                   "no libcublasLt.so here: products are not measured; PyTorch brings it, so its "
                   "folder in LD_LIBRARY_PATH helps\n");
    }
    if (flags.base)
        fmt::print(stderr, "what is not measured is taken from {}, as marked there\n", *flags.base);
}

int probe(MeasureFlags flags) {
    const Here here = look_around();
    if (!flags.base && here.device.is_gpu)
        if (const auto like = library_machine_with(here.device.name, here.cpus))
            flags.base = like->id;
    flags.makes_profile = flags.base || here.has_products;
    if (flags.only.empty()) flags.only = cases_for(here);
    flags.quick_cases = {"gemm", "host_memory", "copies", "mixed_load"};
    say_what_is_missing(here, flags);
    return measure(flags);
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    CLI::App app(
        "Measures this machine for a minute and writes a profile for sluice's predictions: host "
        "memory, AdamW on its cores, copies to and from the GPU, products where cuBLASLt is found. "
        "Needs nothing but the GPU's driver. Send the profile to whoever asked for it.",
        "sluice-probe");
    sluice::Command command;
    const auto flags = std::make_shared<sluice::MeasureFlags>();
    flags->program = "sluice-probe";
    flags->has_trainer = false;
    flags->out = "sluice-probe.json";
    sluice::add_option(app, {"--out", "FILE"}, flags->out,
                       "the profile to write; the measurements go to measurements/ in its folder")
        ->capture_default_str();
    sluice::add_option(app, {"--base", "NAME"}, flags->base,
                       std::string(sluice::kBaseHelp) +
                           "; if it is not given, the machine of the library with this GPU");
    sluice::add_option(app, {"--only", "CASE"}, flags->only,
                       "measure these cases (CASE[,CASE...]) and keep the others")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.callback([&app, &command, flags] {
        if (app.get_subcommands().empty()) command = [flags] { return sluice::probe(*flags); };
    });
    sluice::add_fit(app, command, flags->out);
    return sluice::run_program(
        app, [&command] { return command(); }, argc, argv);
}
