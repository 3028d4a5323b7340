#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/answers/validate/published.h"
#include "sim/base/json_text.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/chart_parts.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 110;

/// Rows with the same explanation.
struct Group {
    std::string text;
    std::vector<std::string> ids;
};

void add_to(std::vector<Group>& groups, const std::string& text, const std::string& id) {
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& group) { return group.text == text; });
    if (found == groups.end())
        groups.push_back({text, {id}});
    else
        found->ids.push_back(id);
}

/// Lines of at most kWidth characters, each after `indent`.
std::string wrapped(const std::string& text, const std::string& indent) {
    std::string out;
    for (const std::string& line : wrap_text(text, kWidth - indent.size()))
        out += indent + line + "\n";
    return out;
}

std::string groups_text(const std::vector<Group>& groups, const char* title) {
    std::string out = groups.empty() ? "" : fmt::format("\n{}\n", title);
    for (const Group& group : groups)
        out += wrapped(fmt::format("{} ({})", fmt::join(group.ids, ", "), group.ids.size()), "") +
               wrapped(group.text, "    ");
    return out;
}

/// Absent if no speed is published.
Cell speed_cell(const PublishedComparison& c, double value) {
    const PublishedSpeed* const kind = c.row.speed_kind;
    return kind == nullptr ? Cell() : Cell(value).shown_as(kind->text(value));
}

/// Absent if neither memory is published.
Cell memory_cell(Bytes bytes, std::optional<double> error) {
    if (!error) return {};
    return Cell(bytes).shown_as(fmt::format("{:.1f}", static_cast<double>(bytes) / kGiga));
}

std::string fits_text(const PublishedComparison& c) {
    if (!c.row.fits) return "";
    return fmt::format("{}, predicted {}{}", *c.row.fits ? "ran" : "out of memory",
                       c.predicted_fits ? "to fit" : "not to fit", c.fit_is_wrong() ? "!" : "");
}

Table rows_table(const PublishedTable& table) {
    Table out = table_of<PublishedComparison>(
        table.compared,
        {{"id", "row", [](auto& c) { return c.row.id; }},
         {"system", "", [](auto& c) { return c.row.system; }},
         {"machine", "", [](auto& c) { return c.row.machine; }},
         {"model", "", [](auto& c) { return c.row.model_name; }},
         {"batch", "", Unit::whole, [](auto& c) { return c.row.training.batch; }},
         {"sequence", "", Unit::whole, [](auto& c) { return c.row.training.sequence; }},
         {"speed.quantity", "speed",
          [](auto& c) {
              const PublishedSpeed* const kind = c.row.speed_kind;
              return kind == nullptr ? Cell() : Cell(kind->key).shown_as(kind->title);
          }},
         {"speed.published", "published", Unit::number,
          [](auto& c) { return speed_cell(c, c.row.speed); }},
         {"speed.predicted", "predicted", Unit::number,
          [](auto& c) { return speed_cell(c, c.predicted_speed); }},
         {"speed.error", "delta", Unit::change, &PublishedComparison::speed_error},
         {"device.published_bytes", "device GB\npubl.", Unit::bytes,
          [](auto& c) { return memory_cell(c.row.device, c.device_error()); }},
         {"device.predicted_bytes", "\npred.", Unit::bytes,
          [](auto& c) { return memory_cell(c.predicted_device, c.device_error()); }},
         {"device.error", "\ndelta", Unit::change, &PublishedComparison::device_error},
         {"host.published_bytes", "host GB\npubl.", Unit::bytes,
          [](auto& c) { return memory_cell(c.row.host, c.host_error()); }},
         {"host.predicted_bytes", "\npred.", Unit::bytes,
          [](auto& c) { return memory_cell(c.predicted_host, c.host_error()); }},
         {"host.error", "\ndelta", Unit::change, &PublishedComparison::host_error},
         {"fits_published", "", Unit::flag, [](auto& c) { return c.row.fits; }},
         {"fits_predicted", "", Unit::flag, &PublishedComparison::predicted_fits},
         {"", "fits", fits_text},
         {"needs_explanation", "why",
          [](auto& c) {
              return Cell(c.needs_explanation()).shown_as(c.needs_explanation() ? "*" : " ");
          }},
         {"explanation", "", [](auto& c) { return c.row.explanation; }},
         {"assumed", "", [](auto& c) { return c.row.assumed; }},
         {"source", "", [](auto& c) { return c.row.source; }}});
    std::string place;
    for (std::size_t i = 0; i < table.compared.size(); ++i) {
        const PublishedRow& row = table.compared[i].row;
        const std::string now = fmt::format("{}: {}", row.machine, row.system);
        if (now != place) out.rows[i].heading = now;
        place = now;
    }
    return out;
}

Table others_table(const PublishedTable& table) {
    return table_of<PublishedRow>(
        table.not_compared,
        {{"id", "", &PublishedRow::id},
         {"system", "", &PublishedRow::system},
         {"published", "", &PublishedRow::published},
         {"not_compared", "", &PublishedRow::not_compared},
         {"contradicts_itself", "", Unit::flag, &PublishedRow::contradicts_itself},
         {"source", "", &PublishedRow::source}});
}

struct Quantities {
    const char* name;
    const ErrorSummary* errors;
};

/// Errors by published quantity.
std::vector<Quantities> quantities(const PublishedTable& table) {
    return {{"speed", &table.speed}, {"device", &table.device}, {"host", &table.host}};
}

std::string summary(const PublishedTable& table) {
    std::string out =
        fmt::format("\n{}, {} compared\n",
                    format_number_of(std::ssize(table.compared) + std::ssize(table.not_compared),
                                     "published row"),
                    table.compared.size());
    for (const auto& [name, errors] : quantities(table))
        if (errors->count > 0)
            out += fmt::format("  {:<8} {:>7}, mean {:>5.1f}%, worst {} ({})\n", name,
                               format_number_of(errors->count, "row"), 100 * errors->mean_absolute,
                               format_error(errors->worst), errors->worst_name);
    if (table.speed.count > 0)
        out += fmt::format(
            "  of the speeds {} lie within {:.0f}%, {} in the predicted 5 to 95%, whose median "
            "width "
            "is {:.0f}% of the step\n",
            table.speeds_near, 100 * kNear, table.speeds_in_band, 100 * table.band_width);
    if (table.fits_published > 0)
        out += fmt::format("  {:<8} {:>7}, {} predicted as published\n", "fits",
                           format_number_of(table.fits_published, "row"), table.fits_right);
    return out;
}

}  // namespace

std::string published_text(const PublishedTable& table) {
    std::vector<Group> explanations, assumptions, reasons, contradictions;
    for (const PublishedComparison& c : table.compared) {
        if (c.needs_explanation())
            add_to(explanations, c.row.explanation.empty() ? "NO EXPLANATION" : c.row.explanation,
                   c.row.id);
        if (!c.row.assumed.empty()) add_to(assumptions, c.row.assumed, c.row.id);
    }
    for (const PublishedRow& row : table.not_compared)
        add_to(row.contradicts_itself ? contradictions : reasons, row.not_compared, row.id);
    return "delta: predicted / published - 1, for times the inverse; above 0: predicted faster or "
           "larger\n\n" +
           to_text(rows_table(table)) + summary(table) +
           groups_text(explanations,
                       "* off by more than 15%, or wrong about the fit; explanations") +
           groups_text(assumptions, "assumed, since the source does not say") +
           groups_text(contradictions, "not compared, since the source contradicts itself") +
           groups_text(reasons, "not compared, with reasons");
}

std::string published_json(const PublishedTable& table) {
    Json out = {{"rows", to_json(rows_table(table))},
                {"not_compared", to_json(others_table(table))}};
    for (const auto& [name, errors] : quantities(table))
        out[name] = {{"rows", errors->count},
                     {"mean_absolute_error", errors->mean_absolute},
                     {"worst_error", errors->worst},
                     {"worst_row", errors->worst_name}};
    out["speed"]["within_10_percent"] = table.speeds_near;
    out["speed"]["in_band"] = table.speeds_in_band;
    out["speed"]["median_band_width"] = table.band_width;
    out["fits"] = {{"rows", table.fits_published}, {"right", table.fits_right}};
    return readable_json(out);
}

}  // namespace sluice
