#include "planner-gui/models/system_words.h"

#include <fmt/format.h>

#include "sim/answers/compare/findings.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }

}  // namespace

QStringList comparison_sentences(const Comparison& comparison) {
    QStringList out;
    for (const auto& sentences : {verdict(comparison), comparison.left_out})
        for (const std::string& sentence : sentences) {
            QString words = text(sentence);
            words[0] = words[0].toUpper();
            out << words;
        }
    return out;
}

QString system_sentence(const Comparison& comparison, const ComparedSystem& system,
                        ByteUnits units) {
    const Prediction& r = system.report;
    const std::string settings = settings_text(own_settings(r.asked.training));
    const std::string with = settings.empty() ? "" : fmt::format(" with {}", settings);
    if (!system.fits())
        return text(
            fmt::format("{}{} does not fit: {}.", system.name, with,
                        fmt::join(misfit_words(comparison, system, bytes_text(units)), "; ")));
    return text(fmt::format("{}{}: {} tokens/s, {} a step, bound by {}.", system.name, with,
                            format_thousands(r.tokens_per_s()), format_seconds(r.step.seconds),
                            bottleneck_text(r.step)));
}

}  // namespace sluice
