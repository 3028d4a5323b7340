// Tokens/s of each system, a bar each, with the band in which nine of ten steps should lie.
#include <algorithm>

#include "sim/compare/comparison_report.h"
#include "sim/compare/findings.h"
#include "sim/report/format.h"
#include "sim/report/svg_canvas.h"
#include "sim/report/svg_geometry.h"

namespace sluice {
namespace {

// Pixels.
constexpr double kMargin = 18;
constexpr double kRow = 34;
constexpr double kBar = 20;
constexpr double kGroup = 30;  // the line above the bars of a number of layers
constexpr double kPlot = 560;
constexpr double kValue = 130;  // beyond the axis, for the number of the longest bar
constexpr double kCap = 5;      // half of the height of a band's ends
// Font sizes.
constexpr double kSmall = 12;
constexpr double kNormal = 13;
constexpr double kTitle = 18;

constexpr int kMostTicks = 8;
constexpr const char* kGrey = "fill=\"#444\"";
// Of Okabe and Ito's colours: ours, other systems; grey is what does not fit.
constexpr const char* kOurs = "#0072b2";
constexpr const char* kOther = "#e69f00";
constexpr const char* kMisfit = "#dddddd";
// A label is read across lines.
constexpr const char* kHalo =
    R"(fill="#222" stroke="#fff" stroke-width="3" paint-order="stroke" stroke-linejoin="round")";

/// Draws from top to bottom; y_ is where the next thing goes.
class Bars {
  public:
    explicit Bars(std::span<const Comparison> comparisons) : comparisons_(comparisons) {
        double name = 0;
        for (const Comparison& c : comparisons)
            for (const ComparedSystem& system : c.systems) {
                const StepReport& r = system.report;
                name = std::max(name, text_width(system.name, kNormal));
                most_ = std::max(most_,
                                 system.fits() ? r.tokens_per_s_at(r.step_low) : r.tokens_per_s());
            }
        left_ = kMargin + name + 10;
        width_ = left_ + kPlot + kValue + kMargin;
    }

    std::string text() {
        header();
        const double top = y_;
        // The grid goes below the bars, whose number decides its height.
        axis(top, top + bars_height());
        for (const Comparison& c : comparisons_) group(c);
        y_ += 44;
        note();
        return canvas_.element(width_, y_ + kMargin);
    }

  private:
    bool several() const { return comparisons_.size() > 1; }
    double x(double tokens_per_s) const { return left_ + tokens_per_s / most_ * kPlot; }

    double bars_height() const {
        double height = 0;
        for (const Comparison& c : comparisons_)
            height += (several() ? kGroup : 0) + kRow * static_cast<double>(c.systems.size());
        return height;
    }

    void paragraph(const std::string& words, double size, const char* attributes) {
        for (const std::string& line : wrap_text(words, size, width_ - 2 * kMargin)) {
            canvas_.text(kMargin, y_, size, line, attributes);
            y_ += size * 1.45;
        }
    }

    void header() {
        const StepReport& r = comparisons_.back().shared();
        y_ = 30;
        paragraph(r.model_name + " on " + r.machine_name, kTitle, "font-weight=\"bold\"");
        paragraph(fmt::format("predicted tokens/s, batch {} x {} tokens{}", r.training.batch,
                              format_thousands(static_cast<double>(r.training.sequence)),
                              several() ? "" : fmt::format(", {} layers", r.layers)),
                  kNormal, kGrey);
    }

    void axis(double top, double bottom) {
        const double tick = round_tick(most_, kMostTicks);
        for (int i = 0; i * tick <= most_; ++i) {
            canvas_.line(x(i * tick), top, x(i * tick), bottom, "stroke=\"#e4e4e4\"");
            canvas_.text(x(i * tick), bottom + 18, kSmall, format_thousands(i * tick),
                         R"(text-anchor="middle" fill="#444")");
        }
    }

    void group(const Comparison& c) {
        if (several()) {
            canvas_.text(kMargin, y_ + kGroup - 9, kNormal,
                         fmt::format("{} layers, {} parameters", c.shared().layers,
                                     format_count(static_cast<double>(c.shared().parameters))),
                         "font-weight=\"bold\"");
            y_ += kGroup;
        }
        for (const ComparedSystem& system : c.systems) {
            row(c, system);
            y_ += kRow;
        }
    }

    void row(const Comparison& c, const ComparedSystem& system) {
        const StepReport& r = system.report;
        const double middle = y_ + kRow / 2;
        const bool ours = r.training.schedule == Schedule::streamed;
        canvas_.text(left_ - 8, middle + 4, kNormal, system.name, "text-anchor=\"end\"");
        canvas_.add(
            "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{}\" fill=\"{}\"><title>{}"
            "</title></rect>\n",
            left_, middle - kBar / 2, x(r.tokens_per_s()) - left_, kBar,
            !system.fits() ? kMisfit
            : ours         ? kOurs
                           : kOther,
            escape_xml(tooltip(system)));
        if (!system.fits()) {
            canvas_.text(left_ + 8, middle + 4, kSmall, "does not fit: " + short_by(r), kHalo);
            return;
        }
        band(r, middle);
        const auto relative = relative_speed(c, system);
        canvas_.text(x(r.tokens_per_s_at(r.step_low)) + 8, middle + 4, kNormal,
                     format_thousands(r.tokens_per_s()) +
                         (relative ? fmt::format(" ({:.2f}x)", *relative) : ""),
                     kHalo);
    }

    void band(const StepReport& r, double middle) {
        constexpr const char* kLine = R"(stroke="#222" stroke-width="1.5")";
        const double low = x(r.tokens_per_s_at(r.step_high)),
                     high = x(r.tokens_per_s_at(r.step_low));
        canvas_.line(low, middle, high, middle, kLine);
        for (const double end : {low, high})
            canvas_.line(end, middle - kCap, end, middle + kCap, kLine);
    }

    static std::string tooltip(const ComparedSystem& system) {
        const StepReport& r = system.report;
        return fmt::format("{}: {} a step\ndevice {}, host {}\n{}", system.name,
                           format_seconds(r.step),
                           format_bytes(static_cast<double>(r.fit.device.peak.bytes)),
                           format_bytes(static_cast<double>(r.fit.host.peak.bytes)),
                           settings_text(own_settings(r.training)));
    }

    void note() {
        bool fits = false, misfit = false, relative = false;
        for (const Comparison& c : comparisons_) {
            relative = relative || c.ours() != nullptr;
            for (const ComparedSystem& system : c.systems) (system.fits() ? fits : misfit) = true;
        }
        std::string words;
        if (fits) words += "Black line: nine of ten steps should lie there. ";
        if (relative)
            words += fmt::format("In brackets: as a multiple of {}. ",
                                 schedule_name(Schedule::streamed));
        if (misfit) words += "Grey: does not fit; as long as if it did.";
        paragraph(words, kSmall, kGrey);
    }

    std::span<const Comparison> comparisons_;
    SvgCanvas canvas_;
    double most_ = 1e-9, left_ = 0, width_ = 0, y_ = 0;
};

}  // namespace

std::string comparison_svg(std::span<const Comparison> comparisons) {
    return Bars(comparisons).text();
}

}  // namespace sluice
