#include "sim/answers/audit/audit.h"

#include "sim/base/json_object.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/cli/progress.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/table.h"

namespace sluice {
namespace {

struct AuditFlags {
    std::string file;
    bool json = false;
};

int run_audit(const AuditFlags& flags) {
    const ClaimFile file = parse_claims(read_text_file(flags.file), flags.file);
    const std::vector<AuditedClaim> claims = with_progress("audit", [&] { return audit(file); });
    return print(flags.json ? audit_json(file, claims) : folded(audit_text(file, claims)));
}

}  // namespace

void add_audit(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(
        app, chosen, "audit", "Are published claims possible: by arithmetic, and by the simulator?",
        run_audit);
    command->add_option("file", flags->file, "a JSON file of claims, as in examples/")->required();
    add_json_flag(*command, flags->json);
}

}  // namespace sluice
