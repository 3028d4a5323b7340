// Each way out of procurement side by side, and when buying pays off.
#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/cost/full_node.h"
#include "sim/answers/cost/run_limits.h"
#include "sim/base/format.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/chart_parts.h"
#include "sim/report/to_svg.h"
#include "sim/specs/scenario/field_label.h"

namespace sluice {
namespace {

// Sizes in units of the font size.
constexpr double kBelow = 3.4, kAbove = 1.8, kLeastHeight = 12, kRight = 1.5;
constexpr int kMostTicks = 8, kPoints = 60;

enum class Way { own, quoted, rented, spot, reserved, own_cluster, bought, given };

Way way_of(const Payment& payment) {
    if (payment.ownership == Ownership::own) return Way::own;
    if (payment.ownership == Ownership::buy) return Way::bought;
    if (!payment.kind) return Way::given;
    switch (*payment.kind) {
        case OfferKind::quoted:
            return Way::quoted;
        case OfferKind::rented:
            return Way::rented;
        case OfferKind::spot:
            return Way::spot;
        case OfferKind::reserved:
            return Way::reserved;
        case OfferKind::estimate:
            return Way::own_cluster;
    }
    return Way::given;
}

const char* heading_of(Way way) {
    switch (way) {
        case Way::own:
            return "your own machine";
        case Way::quoted:
            return "rent, as quoted";
        case Way::rented:
            return "rent by the hour";
        case Way::spot:
            return "rent that the provider may end at any time";
        case Way::reserved:
            return "reserve for three years (estimate)";
        case Way::own_cluster:
            return "the costs of a cluster to its owner (estimate)";
        case Way::bought:
            return "buy whole machines";
        case Way::given:
            return "the given price of an hour";
    }
    return "";
}

struct Paying {
    Way way;
    const PaidRun* run = nullptr;  ///< null: `missing` says why there is none
    std::string missing = {};
    bool taken = false;  ///< by the costs of the answer
};

std::vector<Paying> ways_of(const CostAnswer& answer, const std::optional<PaidRun>& taken) {
    std::vector<Paying> out;
    if (taken) out.push_back({way_of(taken->payment), &*taken, "", true});
    for (const PaidRun& one : answer.others) out.push_back({way_of(one.payment), &one});
    const bool has_bought =
        std::ranges::any_of(out, [](const Paying& one) { return one.way == Way::bought; });
    if (!has_bought) out.push_back({Way::bought, nullptr, answer.missing});
    if (!answer.no_rent.empty()) out.push_back({Way::rented, nullptr, answer.no_rent});
    std::ranges::stable_sort(out, {}, &Paying::way);
    return out;
}

template <typename Value>
std::function<Cell(const Paying&)> if_priced(Value value) {
    return [value](const Paying& one) { return one.run ? Cell(value(*one.run)) : Cell(); };
}

/// The costs over months of a rent and a purchase.
class BreakEvenDrawing {
  public:
    BreakEvenDrawing(const CostAnswer& answer, const PictureSpace& space)
        : answer_(answer), font_(space.font) {
        out_.width = space.width;
        top_ = add_header(out_, "Rent or buy",
                          fmt::format("dollars of today, without a sale of the machine, which "
                                      "trains {} of the hours",
                                      format_percent(answer.terms.utilization)),
                          font_);
        out_.height = std::max(space.height, top_ + (kAbove + kBelow + kLeastHeight) * font_);
        end_ = 12 * answer.terms.years;
        if (answer.break_even) end_ = std::max(end_, 1.25 * answer.break_even->months);
    }

    Picture draw() {
        const Axis months = linear_axis(0, end_, kMostTicks);
        const Axis usd = linear_axis(0, 1.05 * std::max(rented(end_), bought(end_)), kMostTicks);
        const auto usd_tick = [](double value) { return format_usd(value); };
        const double left = widest_label(usd, usd_tick, font_) + 1.5 * font_;
        const Box plot = {left, top_ + kAbove * font_, out_.width - left - kRight * font_,
                          out_.height - top_ - (kAbove + kBelow) * font_};
        add_horizontal_axis(
            out_, plot, months, [](double v) { return fmt::format("{:g}", v); }, font_);
        add_vertical_axis(out_, plot, usd, usd_tick, font_);
        out_.words({plot.centre().x, plot.bottom() + 3 * font_}, "months of ownership", font_,
                   paint(Role::muted), Anchor::middle);
        const auto place = [&](double month, double value) {
            return Point{plot.x + months.share(month) * plot.width,
                         plot.bottom() - usd.share(value) * plot.height};
        };
        const auto line = [&](const auto& cost, std::size_t series, const std::string& name) {
            Path path;
            for (int i = 0; i <= kPoints; ++i)
                path.points.push_back(place(end_ * i / kPoints, cost(end_ * i / kPoints)));
            const int id = static_cast<int>(series);
            out_.shapes.push_back({.form = path,
                                   .stroke = series_paint(series),
                                   .stroke_width = 2,
                                   .id = id,
                                   .tooltip = name});
            out_.keys.ids.push_back(id);
        };
        const std::string rent = fmt::format("rent: {} an hour ({})",
                                             format_usd(answer_.rent->run.usd_per_hour),
                                             answer_.rent->payment.name),
                          buy = fmt::format("buy: {}, then {} an hour for electricity",
                                            format_usd(answer_.bought->payment.price_usd),
                                            format_usd(electricity()));
        line([this](double m) { return rented(m); }, 0, rent);
        line([this](double m) { return bought(m); }, 1, buy);
        add_legend(out_, {{rent, series_paint(0)}, {buy, series_paint(1)}},
                   {plot.x + font_, plot.y - 1.6 * font_}, plot.width - 2 * font_, font_);
        if (answer_.break_even) {
            const double month = answer_.break_even->months;
            const Point at = place(month, bought(month));
            out_.line({at.x, plot.bottom()}, at, paint(Role::axis), 1, true);
            out_.shapes.push_back({.form = Disc{at, 0.4 * font_},
                                   .fill = paint(Role::pointed_out),
                                   .id = 2,
                                   .tooltip = words()});
            out_.keys.ids.push_back(2);
            const bool right = at.x > plot.centre().x;
            out_.label({at.x + (right ? -font_ : font_), at.y + 1.6 * font_},
                       fmt::format("{:.3g} months", month), font_, paint(Role::text),
                       right ? Anchor::end : Anchor::start);
        }
        out_.keys.along = KeyOrder::Along::right;
        out_.reach = font_;
        return std::move(out_);
    }

  private:
    double electricity() const {
        return answer_.bought->run.usd_per_hour - answer_.bought->payment.usd_per_hour;
    }
    double rented(double months) const {
        return cost_today(answer_.rent->run.usd_per_hour, months, answer_.terms);
    }
    double bought(double months) const {
        return answer_.bought->payment.price_usd + cost_today(electricity(), months, answer_.terms);
    }
    std::string words() const {
        return fmt::format("after {:.3g} months, buying has cost no more than renting",
                           answer_.break_even->months);
    }

    const CostAnswer& answer_;
    const double font_;
    Picture out_;
    double top_ = 0, end_ = 0;
};

}  // namespace

Table ways_to_pay_table(const CostAnswer& answer, const std::optional<FullNode>& together) {
    std::optional<PaidRun> taken;
    if (answer.payment) taken = PaidRun{*answer.payment, answer.run};
    std::vector<Paying> ways = ways_of(answer, taken);
    const std::size_t alone = ways.size();
    if (together && together->paid && together->jobs > 1)
        ways.push_back({way_of(together->paid->payment), &*together->paid});
    const std::vector<ColumnOf<Paying>> columns = {
        {"way", "", [](auto& one) { return heading_of(one.way); }},
        {"name", "way to pay",
         [](auto& one) { return one.run ? Cell(one.run->payment.name) : Cell("not known"); }},
        {"gpus_paid", "GPUs paid", Unit::number, if_priced([](auto& one) {
             return one.payment.paid ? Cell(one.payment.paid->gpus) : Cell();
         })},
        {"tokens_per_s", "tokens/s", Unit::whole,
         if_priced([](auto& one) { return one.run.tokens_per_s; })},
        {"usd_per_hour", "$ an hour", Unit::usd,
         if_priced([](auto& one) { return one.run.usd_per_hour; })},
        {"usd_per_million_tokens", "$ a million", Unit::usd,
         if_priced([](auto& one) { return one.run.usd_per_million_tokens.value; })},
        {"days", "days", Unit::number, if_priced([](auto& one) {
             return Cell(one.run.days.value).shown_as(fmt::format("{:.3g}", one.run.days.value));
         })},
        {"run_usd", "$ the run", Unit::usd, if_priced([](auto& one) { return one.run.usd.value; })},
        {"committed_usd", "$ you commit to", Unit::usd,
         if_priced([](auto& one) { return one.committed_usd(); })},
        {"meets", answer.limits.any() ? "meets limits" : "", Unit::flag,
         if_priced([&](auto& one) { return meets_cell(answer.limits, one.run, true); })},
        {"price_of", "price is", [](auto& one) {
             return one.run ? Cell(one.run->payment.origin)
                            : Cell(one.missing).shown_as(fields_for_flags(one.missing));
         }}};
    Table out = table_of<Paying>(ways, columns);
    for (std::size_t i = 0; i < ways.size(); ++i) {
        Row& row = out.rows[i];
        const bool first = i == 0 || ways[i].way != ways[i - 1].way || i == alone;
        if (first)
            row.heading = i < alone ? heading_of(ways[i].way)
                                    : fmt::format("{:g} such jobs on a node, each", together->jobs);
        row.marked = ways[i].taken;
        row.muted = ways[i].run == nullptr;
        row.tooltip = ways[i].run ? payment_words(ways[i].run->payment) : ways[i].missing;
    }
    return out;
}

std::vector<std::string> ways_to_pay_words(const CostAnswer& answer,
                                           const std::optional<FullNode>& together) {
    std::vector<std::string> out;
    if (answer.can_break_even()) out.push_back(fmt::format("Buying {}.", buying_words(answer)));
    if (answer.rents && answer.rents->high > answer.rents->low)
        out.push_back(fmt::format("By offer, renting costs {} to {} a million tokens.",
                                  format_usd(answer.rents->low), format_usd(answer.rents->high)));
    const auto is_for_years = [](const Payment& one) {
        return way_of(one) == Way::reserved || way_of(one) == Way::bought;
    };
    if ((answer.payment && is_for_years(*answer.payment)) ||
        std::ranges::any_of(answer.others, is_for_years, &PaidRun::payment))
        out.emplace_back(
            "A reservation or a purchase is paid for years: \"$ the run\" is this run's part of "
            "it, "
            "\"$ you commit to\" all of it.");
    if (together && together->jobs > 1) {
        std::string words = fmt::format(
            "{:g} such jobs run side by side on a node, each with {} tokens/s ({} of one alone)",
            together->jobs, format_thousands(together->tokens_per_s),
            format_percent(together->of_alone));
        if (together->paid)
            words += fmt::format(", for {} a million tokens",
                                 format_usd(together->paid->run.usd_per_million_tokens.value));
        out.push_back(fmt::format("{}; {} allows no more.", words,
                                  together->limit == NodePart::gpus
                                      ? "the number of GPUs"
                                      : node_part_name(together->limit)));
    } else if (together) {
        out.push_back(fmt::format("A node holds one such job; {} allows no more.",
                                  node_part_name(together->limit)));
    }
    return out;
}

std::optional<Picture> break_even_picture(const CostAnswer& answer, const PictureSpace& space) {
    if (!answer.can_break_even()) return std::nullopt;
    return BreakEvenDrawing(answer, space).draw();
}

std::string ways_to_pay_html(const CostAnswer& answer, const std::optional<FullNode>& together) {
    std::string out = html_list(ways_to_pay_words(answer, together)) +
                      to_html(ways_to_pay_table(answer, together));
    if (const auto picture = break_even_picture(answer))
        out += "<figure>\n" + to_svg(*picture) + "</figure>\n";
    return out;
}

}  // namespace sluice
