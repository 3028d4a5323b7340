#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/answers/search/find.h"
#include "sim/base/format.h"
#include "sim/base/json_text.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

/// Why this value is not enough: "device needs 151.2 GB, has 149.9 GB ...", "1,200 tokens/s, wanted
/// 2,000".
std::string why_not(const FindSide& side, double tokens_per_s) {
    std::string out;
    for (const std::string& words : shortages(side.report.plan))
        out += (out.empty() ? "" : "; ") + words;
    if (!out.empty()) return out;
    return fmt::format("{}, wanted {}; bound by {}", speed_text(side.report),
                       format_thousands(tokens_per_s), bottleneck_text(side.report.step));
}

void append_sides(std::string& out, const FindAnswer& answer) {
    const double wanted = answer.query.tokens_per_s;
    if (answer.best) {
        const FindSide& side = *answer.best;
        out += fmt::format("works        {}: {}, {}\n", side.subject, speed_text(side.report),
                           memory_text(side.report));
        if (!side.changes.empty())
            out += fmt::format("             with {}\n", setting_flags(side.changes));
        out += fmt::format("             bound by {}\n", bottleneck_text(side.report.step));
    }
    if (!answer.other) return;
    out += fmt::format(
        "fails        {}: {}{}\n", answer.other->subject, why_not(*answer.other, wanted),
        answer.query.adjust && !answer.other->fits()
            ? "; the settings are the given ones, and none of the nearest settings fits either"
            : "");
}

Json side_json(const std::optional<FindSide>& side) {
    if (!side) return {};
    const Prediction& r = side->report;
    Json out = {{"value", side->value},
                {"subject", side->subject},
                {"model", r.asked.model_name},
                {"parameters", r.asked.parameters},
                {"changes", setting_flags(side->changes)},
                {"fits", side->fits()}};
    add_speed_json(out, r, r.band);
    out["device_peak_bytes"] = r.plan.fit.device().peak.bytes;
    out["host_peak_bytes"] = r.plan.fit.host().peak.bytes;
    out["bottleneck"] = bottleneck_name(r.step.bottleneck());
    return out;
}

}  // namespace

std::string find_text(const FindAnswer& answer) {
    const Prediction& r = (answer.best ? *answer.best : *answer.other).report;
    const bool finds_model = answer.query.sought == Sought::model;
    std::string out =
        fmt::format("{}{} on {}", answer.asked, finds_model ? "" : " for " + r.asked.model_name,
                    r.asked.machine_id);
    if (answer.query.tokens_per_s > 0)
        out += fmt::format(" at {} tokens/s", format_thousands(answer.query.tokens_per_s));
    out += answer.best ? fmt::format(": {}\n", answer.best->subject) : ": none\n";
    out +=
        "settings     those given and the defaults; a plan that `sluice predict` chooses may do "
        "more\n";
    append_sides(out, answer);
    if (answer.best && !answer.other)
        out += "fails        no value that was tried: the limit is elsewhere\n";
    if (!answer.note.empty()) out += fmt::format("note         {}\n", answer.note);
    if (answer.speed_within_band())
        out += "The given speed lies within a band above: the true answer may be on either side.\n";
    return out;
}

std::string find_json(const FindAnswer& answer) {
    Json out;
    out["asked"] = sought_name(answer.query.sought);
    out["plan"] = settings_name(SettingsOf::schedule).plan;
    out["unit"] = sought_unit(answer.query.sought);
    out["wanted_tokens_per_s"] = answer.query.tokens_per_s;
    out["does_it"] = side_json(answer.best);
    out["does_not"] = side_json(answer.other);
    out["wanted_speed_within_band"] = answer.speed_within_band();
    out["note"] = answer.note;
    out["tolerance"] = kFindTolerance;
    out["plans_tried"] = answer.plans;
    return readable_json(out);
}

}  // namespace sluice
