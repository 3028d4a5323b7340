// What upgrades gain, as text, JSON and a tornado picture.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/answers/search/sensitivity.h"
#include "sim/base/format.h"
#include "sim/base/json_text.h"
#include "sim/report/colours.h"
#include "sim/report/report.h"
#include "sim/report/svg_canvas.h"
#include "sim/report/svg_geometry.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

std::string signed_percent(double share) {
    // No "-0.0%".
    return fmt::format("{:+.1f}%", std::abs(share) < 0.0005 ? 0.0 : 100 * share);
}

std::string range_text(const Upgrade& upgrade) {
    return fmt::format("{} to {}", signed_percent(upgrade.gain_low),
                       signed_percent(upgrade.gain_high));
}

/// The first of those whose lead over the second is no smaller than their bands, or why there is
/// none.
std::string choice_text(const std::vector<Upgrade>& upgrades) {
    if (upgrades.empty()) return "";
    const Upgrade& first = upgrades.front();
    if (!first.sure())
        return fmt::format("That gain is not sure: its band reaches {}.\n",
                           signed_percent(first.gain_low));
    std::string within;
    for (std::size_t i = 1; i < upgrades.size(); ++i)
        if (upgrades[i].gain_high > first.gain_low)
            within += (within.empty() ? "" : ", ") + upgrades[i].name;
    return within.empty() ? ""
                          : fmt::format("The lead of {} is smaller than the band of: {}.\n",
                                        first.name, within);
}

Json report_json_of(const Prediction& r) {
    return {{"tokens_per_s", r.tokens_per_s()},
            {"tokens_per_s_5_percent", r.tokens_per_s_at(r.band->high)},
            {"tokens_per_s_95_percent", r.tokens_per_s_at(r.band->low)},
            {"bottleneck", bottleneck_name(r.step.bottleneck())}};
}

// Pixels, font sizes.
constexpr double kMargin = 18, kRow = 38, kBar = 20, kPlot = 460, kValue = 150;
constexpr double kSmall = 12, kNormal = 13, kTitle = 18;
constexpr int kMostTicks = 6;
constexpr const char* kGrey = "fill=\"#444\"";
constexpr const char* kLine = R"(stroke="#222" stroke-width="1.5")";

class Tornado {
  public:
    explicit Tornado(const Sensitivity& all) : all_(all) {
        for (const Upgrade& upgrade : all.upgrades) {
            names_ = std::max(names_, text_width(upgrade.name, kNormal));
            most_ = std::max(most_, upgrade.gain_high);
            least_ = std::min(least_, upgrade.gain_low);
        }
        left_ = kMargin + names_ + 12;
    }

    std::string text() {
        const Prediction& r = all_.base;
        canvas_.text(kMargin, 30, kTitle, r.asked.model_name + " on " + r.asked.machine_id,
                     "font-weight=\"bold\"");
        canvas_.text(kMargin, 52, kNormal,
                     fmt::format("gain of tokens/s, predicted, from {}; batch {} x {} tokens",
                                 format_thousands(r.tokens_per_s()), r.asked.training.batch,
                                 format_thousands(static_cast<double>(r.asked.training.sequence))),
                     kGrey);
        const double bottom = kTop + kRow * static_cast<double>(all_.upgrades.size());
        axis(bottom);
        double y = kTop;
        for (const Upgrade& upgrade : all_.upgrades) {
            row(upgrade, y + kRow / 2);
            y += kRow;
        }
        canvas_.text(
            kMargin, bottom + 48, kSmall,
            "Black line: where nine of ten gains should lie. In brackets: what limits then.",
            kGrey);
        return canvas_.element(left_ + kPlot + kValue + kMargin, bottom + 62);
    }

  private:
    static constexpr double kTop = 72;

    double x(double gain) const { return left_ + (gain - least_) / (most_ - least_) * kPlot; }

    void axis(double bottom) {
        const double tick = round_tick(most_ - least_, kMostTicks);
        for (int i = static_cast<int>(std::ceil(least_ / tick)); i * tick <= most_; ++i) {
            canvas_.line(x(i * tick), kTop, x(i * tick), bottom,
                         i == 0 ? "stroke=\"#888\"" : "stroke=\"#e4e4e4\"");
            canvas_.text(x(i * tick), bottom + 18, kSmall, fmt::format("{:g}%", 100 * i * tick),
                         R"(text-anchor="middle" fill="#444")");
        }
    }

    void row(const Upgrade& upgrade, double y) {
        const double from = x(std::min(0.0, upgrade.gain)), to = x(std::max(0.0, upgrade.gain));
        canvas_.text(left_ - 8, y + 4, kNormal, upgrade.name, "text-anchor=\"end\"");
        canvas_.add(
            "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{}\" fill=\"{}\"/>\n", from,
            y - kBar / 2, to - from, kBar, upgrade.sure() ? kPointedOut : kBeaten);
        canvas_.line(x(upgrade.gain_low), y, x(upgrade.gain_high), y, kLine);
        canvas_.text(x(upgrade.gain_high) + 8, y + 4, kSmall,
                     fmt::format("{} ({})", signed_percent(upgrade.gain), upgrade.successor),
                     "fill=\"#222\"");
    }

    const Sensitivity& all_;
    SvgCanvas canvas_;
    double names_ = 0, most_ = 0.01, least_ = 0, left_ = 0;
};

}  // namespace

std::string sensitivity_text(const Sensitivity& all) {
    const Prediction& r = all.base;
    std::string out = fmt::format(
        "{} on {}: {} tokens/s (5 to 95%: {} to {}){}\n", r.asked.model_name, r.asked.machine_id,
        format_thousands(r.tokens_per_s()), format_thousands(r.tokens_per_s_at(r.band->high)),
        format_thousands(r.tokens_per_s_at(r.band->low)),
        all.base_settings.empty() ? "" : " with " + all.base_settings);
    out += fmt::format("bound by {}\n", bottleneck_text(r.step));
    if (!all.upgrades.empty() && all.upgrades.front().gain > 0)
        out += fmt::format("most is gained by {}: {}, then bound by {}\n",
                           all.upgrades.front().name, signed_percent(all.upgrades.front().gain),
                           bottleneck_text(all.upgrades.front().report.step));
    out += choice_text(all.upgrades);
    out += fmt::format("\n{:<28} {:>8} {:>18} {:>9}  {:<16} {}\n", "change", "gain", "5 to 95%",
                       "tokens/s", "then bound by", "");
    for (const Upgrade& upgrade : all.upgrades)
        out += fmt::format(
            "{:<28} {:>8} {:>18} {:>9}  {:<16} {}\n", upgrade.name, signed_percent(upgrade.gain),
            range_text(upgrade), format_thousands(upgrade.report.tokens_per_s()), upgrade.successor,
            upgrade.settings.empty() ? "" : "with " + setting_flags(upgrade.settings));
    if (!all.note.empty()) out += fmt::format("note: {}\n", all.note);
    for (const std::string& words : all.not_possible) out += fmt::format("not tried: {}\n", words);
    return out;
}

std::string sensitivity_json(const Sensitivity& all) {
    Json out;
    out["model"] = all.base.asked.model_name;
    out["machine"] = all.base.asked.machine_id;
    out["base"] = report_json_of(all.base);
    out["base"]["settings"] = all.base_settings;
    out["upgrades"] = Json::array();
    for (const Upgrade& upgrade : all.upgrades) {
        Json entry = report_json_of(upgrade.report);
        entry["name"] = upgrade.name;
        entry["gain"] = upgrade.gain;
        entry["gain_5_percent"] = upgrade.gain_low;
        entry["gain_95_percent"] = upgrade.gain_high;
        entry["settings"] = setting_flags(upgrade.settings);
        out["upgrades"].push_back(entry);
    }
    out["not_tried"] = all.not_possible;
    out["note"] = all.note;
    return readable_json(out);
}

std::string sensitivity_svg(const Sensitivity& all) { return Tornado(all).text(); }

}  // namespace sluice
