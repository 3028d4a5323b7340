#include "sim/answers/audit/audit.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "sim/base/json_object.h"
#include "sim/cli/commands.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {
namespace {

struct AuditFlags {
    std::string file;
    bool json = false;
};

int run_audit(const AuditFlags& flags) {
    const ClaimFile file = parse_claims(read_text_file(flags.file), flags.file);
    const std::vector<AuditedClaim> claims = audit(file);
    std::fputs((flags.json ? audit_json(file, claims) : audit_text(file, claims)).c_str(), stdout);
    return 0;
}

}  // namespace

void add_audit(CLI::App& app, Command& chosen) {
    CLI::App* const command = app.add_subcommand(
        "audit", "Are published claims possible: by arithmetic, and by the simulator?");
    const auto flags = std::make_shared<AuditFlags>();
    command->add_option("file", flags->file, "a JSON file of claims, as in examples/")->required();
    command->add_flag("--json", flags->json, "as JSON");
    command->callback([&chosen, flags] { chosen = [flags] { return run_audit(*flags); }; });
}

}  // namespace sluice
