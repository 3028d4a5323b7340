#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/answers/machines/machine_diff.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/specs/machine/machine_spec.h"

namespace sluice {
namespace {

std::string number(const MachineProfile& profile, const char* path) {
    const Quantity* quantity = profile.find(path);
    return quantity != nullptr && quantity->value ? fmt::format("{:g}", *quantity->value) : "?";
}

/// The confidence of predictions for a profile, or why there are none.
std::string trust(const MachineProfile& profile) {
    try {
        return confidence_name(resolve_machine(profile).confidence);
    } catch (const InputError& error) {
        const bool lacks_memory =
            std::string_view(error.what()).find("--host-memory") != std::string_view::npos;
        return lacks_memory ? "give --host-memory" : "incomplete: see show";
    }
}

int list_machines() {
    fmt::print("{:<26} {:<30} {:>7} {:>8} {:>7} {:>7} {:>9}  {}\n", "name", "GPU", "HBM GB",
               "TFLOPS", "H2D", "D2H", "host GB", "predictions");
    for (const std::string& id : library_machines()) {
        const MachineProfile profile = read_machine_profile(id);
        fmt::print("{:<26} {:<30} {:>7} {:>8} {:>7} {:>7} {:>9}  {}\n", id,
                   profile.text("gpu.name"), number(profile, "gpu.memory_capacity_gb"),
                   number(profile, "gpu.bf16_dense_tflops"),
                   number(profile, "link.host_to_device_gb_per_s"),
                   number(profile, "link.device_to_host_gb_per_s"),
                   number(profile, "host.memory_capacity_gb"), trust(profile));
    }
    fmt::print(
        "\nTFLOPS: bf16 dense, datasheet. H2D, D2H: GB/s with the other direction idle; ?: not "
        "known. For another host memory append its size, as in h200-sxm-pcie5-1.5tb.\n");
    return 0;
}

struct ShowFlags {
    std::string name;
    bool json = false;
};

int show_text(const MachineProfile& profile) {
    fmt::print("{}: {}\n", profile.id, profile.name);
    for (const std::string& note : profile.notes) fmt::print("  {}\n", note);
    fmt::print("\n");
    for (const auto& [path, text] : profile.texts) fmt::print("{:<52} {}\n", path, text);
    for (const Quantity& q : profile.quantities) {
        fmt::print("{:<52} {:>10}  {:<10} {:<10}  {}\n", q.path,
                   q.value ? fmt::format("{:g}", *q.value) : "unknown", method_name(q.method),
                   q.date, q.note.empty() ? q.source : q.note + " (" + q.source + ")");
    }
    for (const Curve& curve : profile.curves) {
        std::vector<std::string> points;
        for (const auto& row : curve.points)
            points.push_back(fmt::format("{:g}", fmt::join(row, ":")));
        fmt::print("{:<52} {}  {} {}  {}\n", curve.path, fmt::join(points, " "),
                   method_name(curve.method), curve.date, curve.source);
    }
    try {
        for (const std::string& assumption : resolve_machine(profile).assumptions)
            fmt::print("assumed: {}\n", assumption);
    } catch (const InputError& error) {
        fmt::print("cannot predict yet: {}\n", error.what());
    }
    return 0;
}

int show_json(const MachineProfile& profile) {
    nlohmann::ordered_json out;
    out["id"] = profile.id;
    out["name"] = profile.name;
    out["notes"] = profile.notes;
    for (const auto& [path, text] : profile.texts) out["texts"][path] = text;
    for (const Quantity& q : profile.quantities) {
        auto& entry = out["quantities"][q.path];
        entry["value"] = q.value ? nlohmann::ordered_json(*q.value) : nlohmann::ordered_json();
        entry["method"] = method_name(q.method);
        entry["source"] = q.source;
        entry["date"] = q.date;
        entry["note"] = q.note;
    }
    for (const Curve& curve : profile.curves) {
        out["curves"][curve.path] = {{"points", curve.points},
                                     {"method", method_name(curve.method)},
                                     {"source", curve.source},
                                     {"date", curve.date}};
    }
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return 0;
}

struct DiffFlags {
    std::string a, b;
    bool json = false;
};

void add_diff(CLI::App& machines, Command& chosen) {
    CLI::App* const command = machines.add_subcommand(
        "diff", "What changed between two machines, or two calibrations of one");
    const auto flags = std::make_shared<DiffFlags>();
    command->add_option("a", flags->a, "a name or a path to a profile")->required();
    command->add_option("b", flags->b, "another")->required();
    command->add_flag("--json", flags->json, "as JSON");
    command->callback([&chosen, flags] {
        chosen = [flags] {
            const MachineDiff diff =
                diff_machines(read_machine_profile(flags->a), read_machine_profile(flags->b));
            fmt::print("{}", flags->json ? machine_diff_json(diff) : machine_diff_text(diff));
            return 0;
        };
    });
}

}  // namespace

void add_machines(CLI::App& app, Command& chosen) {
    CLI::App* const machines =
        app.add_subcommand("machines", "The machines of the built-in library");
    machines->callback([&chosen, machines] {
        if (machines->get_subcommands().empty()) chosen = list_machines;
    });
    CLI::App* const show =
        machines->add_subcommand("show",
                                 "One machine: every number with method, date and source, and the "
                                 "assumptions where one is missing");
    const auto flags = std::make_shared<ShowFlags>();
    show->add_option("name", flags->name,
                     "a name, a name with a host memory size, or a path to a profile")
        ->required();
    show->add_flag("--json", flags->json, "as JSON");
    show->callback([&chosen, flags] {
        chosen = [flags] {
            return flags->json ? show_json(read_machine_profile(flags->name))
                               : show_text(read_machine_profile(flags->name));
        };
    });
    add_diff(*machines, chosen);
}

}  // namespace sluice
