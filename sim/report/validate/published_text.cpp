#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/validate/published.h"
#include "sim/base/format.h"

namespace sluice {
namespace {

constexpr std::size_t kWidth = 110;

struct Group {
    std::string text;
    std::vector<std::string> names;
};

/// The names of each text, in the order of their first.
class Groups {
  public:
    void add(const std::string& text, const std::string& name) {
        const auto found = std::find_if(groups_.begin(), groups_.end(),
                                        [&](const Group& group) { return group.text == text; });
        if (found == groups_.end())
            groups_.push_back({text, {name}});
        else
            found->names.push_back(name);
    }
    const std::vector<Group>& all() const { return groups_; }

  private:
    std::vector<Group> groups_;
};

/// Lines of at most kWidth characters, each after `indent`.
std::string wrapped(const std::string& text, const std::string& indent) {
    std::string out, line;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kWidth) {
            out += indent + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
        at = end + 1;
    }
    return line.empty() ? out : out + indent + line + "\n";
}

std::string speed_text(PublishedSpeed kind, double value) {
    switch (kind) {
        case PublishedSpeed::step:
        case PublishedSpeed::forward_backward:
            return fmt::format("{:.2f} s", value);
        case PublishedSpeed::tokens:
            return format_thousands(value) + " t/s";
        case PublishedSpeed::tflops:
            return fmt::format("{:.1f} TF", value);
        case PublishedSpeed::none:
            break;
    }
    return "-";
}

const char* speed_name(PublishedSpeed kind) {
    switch (kind) {
        case PublishedSpeed::step:
            return "step";
        case PublishedSpeed::forward_backward:
            return "fwd+bwd";
        case PublishedSpeed::tokens:
            return "tokens/s";
        case PublishedSpeed::tflops:
            return "6PT";
        case PublishedSpeed::none:
            break;
    }
    return "-";
}

std::string gigabytes(Bytes published, Bytes predicted, std::optional<double> error) {
    if (!error) return fmt::format("{:>6} {:>6} {:>7}", "-", "-", "-");
    return fmt::format("{:>6.1f} {:>6.1f} {:>7}", static_cast<double>(published) / kGiga,
                       static_cast<double>(predicted) / kGiga, format_error(error));
}

std::string fits_text(const PublishedComparison& c) {
    if (!c.row.fits) return "";
    return fmt::format("  {}, predicted {}{}", *c.row.fits ? "ran" : "out of memory",
                       c.predicted_fits ? "to fit" : "not to fit", c.fit_is_wrong() ? "!" : "");
}

std::string row_line(const PublishedComparison& c, std::size_t width) {
    const bool speed = c.row.speed_kind != PublishedSpeed::none;
    std::string line =
        fmt::format("{:<{}} {:<8} {:>12} {:>12} {:>7}  {}  {}{}{}", c.row.id, width,
                    speed_name(c.row.speed_kind), speed_text(c.row.speed_kind, c.row.speed),
                    speed ? speed_text(c.row.speed_kind, c.predicted_speed) : "-",
                    format_error(c.speed_error()),
                    gigabytes(c.row.device, c.predicted_device, c.device_error()),
                    gigabytes(c.row.host, c.predicted_host, c.host_error()), fits_text(c),
                    c.needs_explanation() ? "  *" : "");
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string row_lines(const PublishedTable& table) {
    std::size_t width = 8;
    for (const PublishedComparison& c : table.compared) width = std::max(width, c.row.id.size());
    std::string out = fmt::format(
        "{:<{}} {:<8} {:>12} {:>12} {:>7}  {:>21}  {:>21}\n{:<{}} {:<8} {:>12} {:>12} {:>7}  {:>6} "
        "{:>6} {:>7}  {:>6} {:>6} {:>7}\n",
        "", width, "", "", "", "", "device GB", "host GB", "row", width, "speed", "published",
        "predicted", "delta", "publ.", "pred.", "delta", "publ.", "pred.", "delta");
    std::string place;
    for (const PublishedComparison& c : table.compared) {
        const std::string now = fmt::format("{}: {}", c.row.machine, c.row.system);
        if (now != place) out += now + "\n";
        place = now;
        out += row_line(c, width);
    }
    return out;
}

std::string error_line(const char* name, const ErrorSummary& errors) {
    if (errors.count == 0) return "";
    return fmt::format("  {:<8} {:>7}, mean {:>5.1f}%, worst {} ({})\n", name,
                       format_number_of(errors.count, "row"), 100 * errors.mean_absolute,
                       format_error(errors.worst), errors.worst_name);
}

std::string summary(const PublishedTable& table) {
    const std::size_t rows = table.compared.size() + table.not_compared.size();
    std::string out = fmt::format(
        "\n{}, {} compared\n", format_number_of(static_cast<std::int64_t>(rows), "published row"),
        table.compared.size());
    out += error_line("speed", table.speed) + error_line("device", table.device) +
           error_line("host", table.host);
    if (table.fits_published > 0)
        out += fmt::format("  {:<8} {:>7}, {} predicted as published\n", "fits",
                           format_number_of(table.fits_published, "row"), table.fits_right);
    return out;
}

std::string groups_text(const Groups& groups, const char* title) {
    if (groups.all().empty()) return "";
    std::string out = fmt::format("\n{}\n", title);
    for (const Group& group : groups.all()) {
        out +=
            wrapped(fmt::format("{} ({})", fmt::join(group.names, ", "), group.names.size()), "");
        out += wrapped(group.text, "    ");
    }
    return out;
}

}  // namespace

std::string published_text(const PublishedTable& table) {
    Groups explanations, assumptions, reasons;
    for (const PublishedComparison& c : table.compared) {
        if (c.needs_explanation())
            explanations.add(c.row.explanation.empty() ? "NO EXPLANATION" : c.row.explanation,
                             c.row.id);
        if (!c.row.assumed.empty()) assumptions.add(c.row.assumed, c.row.id);
    }
    for (const PublishedRow& row : table.not_compared) reasons.add(row.not_compared, row.id);
    return "delta: predicted / published - 1, of times the inverse: above 0 is predicted faster or "
           "larger\n\n" +
           row_lines(table) + summary(table) +
           groups_text(explanations, "* off by more than 15%, or a wrong fit: why") +
           groups_text(assumptions, "assumed, since the source does not say") +
           groups_text(reasons, "not compared, and why");
}

}  // namespace sluice
