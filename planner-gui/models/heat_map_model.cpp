#include "planner-gui/models/heat_map_model.h"

namespace sluice {

Table HeatMapModel::table_of_cells(const std::vector<CellIndex>& cells) const {
    const auto setting = [this](std::size_t axis) {
        return [this, axis](const CellIndex& at) {
            const VariedValue one = map_.settings(at)[axis];
            return Cell(one.value).shown_as(value_label(one.number, one.value));
        };
    };
    const auto of = [this](auto value) {
        return [this, value](const CellIndex& at) { return Cell(value(map_.cell(at))); };
    };
    const auto if_fits = [this](auto value) {
        return [this, value](const CellIndex& at) {
            const HeatCell& cell = map_.cell(at);
            return cell.state == CellState::fits ? Cell(value(cell)) : Cell();
        };
    };
    const auto if_planned = [this](Bytes HeatCell::*bytes) {
        return [this, bytes](const CellIndex& at) {
            const HeatCell& cell = map_.cell(at);
            const bool planned =
                cell.state == CellState::fits || cell.state == CellState::does_not_fit;
            return planned ? Cell(cell.*bytes) : Cell();
        };
    };
    Table out = table_of<CellIndex>(
        cells, {{"x", axis_title(map_.x().number), Unit::number, setting(0)},
                {"y", axis_title(map_.y().number), Unit::number, setting(1)},
                {"state", "state", Unit::text,
                 of([](auto& cell) { return cell_state_name(cell.state).toStdString(); })},
                {"tokens_per_s", "tokens/s", Unit::whole,
                 if_fits([](auto& cell) { return cell.tokens_per_s; })},
                {"device_bytes", "device", Unit::bytes, if_planned(&HeatCell::device)},
                {"host_bytes", "host", Unit::bytes, if_planned(&HeatCell::host)},
                {"usd_per_million_tokens", "$/M tokens", Unit::usd,
                 if_fits([](auto& cell) { return cell.usd_per_million_tokens; })},
                {"bottleneck", "bound by", Unit::text, if_fits([](auto& cell) {
                     return cell.bottleneck.substr(0, cell.bottleneck.find(','));
                 })},
                {"reason", "reason", Unit::text, of([this](auto& cell) {
                     return reason_text(cell.reason, cell.shortages, units_).toStdString();
                 })}});
    for (std::size_t i = 0; i < cells.size(); ++i)
        out.rows[i].tooltip =
            cell_lines(map_, cells[i], units_).join(QLatin1Char('\n')).toStdString();
    return out;
}

void HeatMapModel::set_map(const HeatMap& map) {
    map_ = map;
    std::vector<CellIndex> cells;
    for (int y = 0; y < map_.rows(); ++y)
        for (int x = 0; x < map_.columns(); ++x) cells.push_back({x, y});
    setTable(cells.empty() ? Table() : table_of_cells(cells), units_);
}

void HeatMapModel::set_cell(CellIndex at, const HeatCell& cell) {
    map_.set_cell(at, cell);
    setRow(row_of(at), table_of_cells({at}).rows.front());
}

void HeatMapModel::set_byte_units(ByteUnits units) {
    units_ = units;
    set_map(HeatMap(map_));
}

}  // namespace sluice
