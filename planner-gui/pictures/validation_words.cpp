#include "planner-gui/pictures/validation_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/format.h"

namespace sluice {
namespace {

std::string summary_words(const char* what, const ErrorSummary& errors) {
    if (errors.count == 0) return "";
    return fmt::format("; {} {:.1f}%, most {} ({})", what, 100 * errors.mean_absolute,
                       format_error(errors.worst), errors.worst_name);
}

/// Groups of other systems, machines or purposes are good and bad each for itself.
std::string groups_words(const std::vector<GroupSummary>& summaries) {
    std::vector<std::string> groups;
    for (const GroupSummary& one : summaries)
        if (!one.group.empty() && one.throughput.count > 0)
            groups.push_back(fmt::format("{} {:.1f}% ({} run{})", one.group,
                                         one.throughput.mean_absolute * 100, one.runs,
                                         one.runs == 1 ? "" : "s"));
    if (groups.empty()) return "";
    return fmt::format(" Tokens/s in the mean by group: {}.", fmt::join(groups, ", "));
}

}  // namespace

QString validation_sentence(const Validation& validation) {
    const GroupSummary& all = validation.summaries.back();
    std::string words =
        fmt::format("{}: {} run{}", validation.machine_id, all.runs, all.runs == 1 ? "" : "s");
    words += summary_words("tokens/s off in the mean by", all.throughput);
    words += summary_words("device memory by", all.device);
    words += summary_words("host memory by", all.host);
    if (all.with_band > 0)
        words += fmt::format("; {} of {} steps within the predicted 5 to 95%", all.in_band,
                             all.with_band);
    return QString::fromStdString(words + "." + groups_words(validation.summaries));
}

}  // namespace sluice
