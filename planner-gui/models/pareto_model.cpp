#include "planner-gui/models/pareto_model.h"

namespace sluice {

void ParetoModel::clear() {
    rows_.clear();
    show();
}

void ParetoModel::add_row(const ParetoRow& row) {
    rows_.push_back(row);
    show();
}

void ParetoModel::set_axis(CostAxis axis) {
    axis_ = axis;
    show();
}

void ParetoModel::set_byte_units(ByteUnits units) {
    units_ = units;
    show();
}

Cell ParetoModel::outcome(const ParetoRow& row, bool on_front) const {
    if (on_front) return Cell(0).shown_as("on the front");
    if (row.is_plotted()) return Cell(1).shown_as("beaten");
    const std::string reason = reason_text(row.reason, row.shortages, units_).toStdString();
    if (!row.planned) return Cell(3).shown_as("refused: " + reason);
    return Cell(2).shown_as(row.fits ? reason : "does not fit: " + reason);
}

void ParetoModel::show() {
    on_front_ = sluice::on_front(rows_, axis_);
    const auto at = [this](const ParetoRow& row) {
        return static_cast<std::size_t>(&row - rows_.data());
    };
    const auto if_fits = [](auto value) {
        return [value](const ParetoRow& row) {
            return row.fits ? Cell(std::invoke(value, row)) : Cell();
        };
    };
    Table table = table_of<ParetoRow>(
        rows_,
        {{"machine", "machine", Unit::text, &ParetoRow::machine},
         {"system", "system", Unit::text, &ParetoRow::system},
         {"tokens_per_s", "tokens/s", Unit::whole, if_fits(&ParetoRow::tokens_per_s),
          "predicted, in a steady step"},
         {"tokens_per_s_{}_percent", "5 to 95%", Unit::whole, if_fits([](auto& row) {
              return row.has_band() ? Cell(Range{row.tokens_per_s_at(row.step_high),
                                                 row.tokens_per_s_at(row.step_low)})
                                    : Cell();
          }),
          "nine of ten measured steps should lie there"},
         {"usd_per_hour", "$/h", Unit::usd,
          [](auto& row) {  // a price of what does not fit is shown, but sorted behind the others
              if (row.fits || !row.usd_per_hour) return Cell(row.usd_per_hour);
              return Cell().shown_as(format_usd(*row.usd_per_hour));
          },
          cost_name(CostAxis::usd_per_hour).toStdString()},
         {"usd_per_million_tokens", "$/M tokens", Unit::usd,
          if_fits([](auto& row) { return row.usd_per_million_tokens; }),
          cost_name(CostAxis::usd_per_million_tokens).toStdString()},
         {"", "outcome", Unit::text, [&](auto& row) { return outcome(row, on_front_[at(row)]); },
          "on the front: none is faster for less"}});
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        Row& row = table.rows[i];
        row.marked = on_front_[i];
        row.muted = !rows_[i].is_plotted();
        row.tooltip = row_lines(rows_[i], units_).join(QLatin1Char('\n')).toStdString();
    }
    setTable(std::move(table), units_);
}

}  // namespace sluice
