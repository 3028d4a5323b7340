// Which value does each combination of two options give? The cells of a heat map as plain values.
#pragma once

#include <QStringList>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/pictures/varied_number.h"
#include "planner-gui/session/session_jobs.h"
#include "sim/report/chart_parts.h"
#include "sim/report/table.h"

namespace sluice {

struct HeatAxis {
    VariedNumber number;
    std::vector<double> values;
};
ExploredAxis explored_axis(const HeatAxis& axis);
/// The fields and values as a scenario has them.
std::vector<Setting> settings_of(const std::vector<VariedValue>& values);

enum class CellState : std::uint8_t { not_computed, fits, does_not_fit, refused };

enum class HeatQuantity : std::uint8_t {
    tokens_per_s,
    device_memory,
    host_memory,
    usd_per_million_tokens
};
inline constexpr int kHeatQuantityCount = 4;
/// "tokens/s", "$ per million tokens"
QString quantity_name(HeatQuantity quantity);
/// "5,825", "24.8 GB", "$0.24"
QString quantity_text(HeatQuantity quantity, double value, ByteUnits units);

/// Column and row of a cell; row 0 is the lowest.
struct CellIndex {
    int x = 0, y = 0;
    bool operator==(const CellIndex&) const = default;
};

class HeatMap {
  public:
    HeatMap() = default;
    /// A map whose cells are not computed.
    HeatMap(HeatAxis x, HeatAxis y, PointSettings settings);

    const HeatAxis& x() const { return x_; }
    const HeatAxis& y() const { return y_; }
    /// Those beside the axes.
    PointSettings point_settings() const { return point_settings_; }
    int columns() const { return static_cast<int>(x_.values.size()); }
    int rows() const { return static_cast<int>(y_.values.size()); }
    bool contains(CellIndex at) const {
        return at.x >= 0 && at.x < columns() && at.y >= 0 && at.y < rows();
    }
    /// Precondition of the following: contains(at).
    const std::optional<ScenarioValue>& cell(CellIndex at) const { return cells_[place(at)]; }
    CellState state(CellIndex at) const;
    void set_cell(CellIndex at, ScenarioValue value) { cells_[place(at)] = std::move(value); }
    /// The two values of a cell.
    std::vector<VariedValue> values(CellIndex at) const;
    /// Empty if the cell does not fit, is refused or not computed, or has no price.
    std::optional<double> value(CellIndex at, HeatQuantity quantity) const;

    int computed() const;
    /// The cell with the most tokens/s, or the smallest other value, of the cells that fit; of
    /// equal ones the first.
    std::optional<CellIndex> best(HeatQuantity quantity) const;
    /// The smallest and the largest value.
    Axis scale(HeatQuantity quantity) const;

  private:
    std::size_t place(CellIndex at) const {
        return static_cast<std::size_t>(at.y) * x_.values.size() + static_cast<std::size_t>(at.x);
    }
    HeatAxis x_, y_;
    PointSettings point_settings_ = PointSettings::fastest;
    std::vector<std::optional<ScenarioValue>> cells_;  ///< empty: not computed
};

/// "batch 32, seq 1,024"
QString cell_place(const HeatMap& map, CellIndex at);
/// "fits", "does not fit", "refused", "not computed"
QString cell_state_name(CellState state);
/// "fastest for each cell", "as in the scenario"
QString point_settings_name(PointSettings settings);
/// Which settings the cells of a map have, and what is equal in all.
QString point_settings_sentence(PointSettings settings);
/// The settings of a planned cell that the axes do not vary, in words.
QString cell_settings(const HeatMap& map, CellIndex at);
/// All facts of a cell, one per line: place, state, speed, settings, memory, money, limit.
QStringList cell_lines(const HeatMap& map, CellIndex at, ByteUnits units);
/// Labels of a cell, the longest first; the last is empty or short.
QStringList cell_captions(const HeatMap& map, CellIndex at, HeatQuantity quantity, ByteUnits units);

/// One row per cell, in the order of ids, for people who cannot see colours or want the numbers.
Table heat_map_table(const HeatMap& map, ByteUnits units);
Row heat_map_row(const HeatMap& map, CellIndex at, ByteUnits units);
/// The id of a cell in the picture, and the cell of an id.
inline int id_of(const HeatMap& map, CellIndex at) { return at.y * map.columns() + at.x; }
inline CellIndex cell_of(const HeatMap& map, int id) {
    return {id % map.columns(), id / map.columns()};
}
/// The map coloured by `quantity`; cells that do not fit are hatched, the best is framed. Fills the
/// space, up to cells much larger than their numbers.
Picture heat_map_picture(const HeatMap& map, HeatQuantity quantity, const std::string& title,
                         ByteUnits units, const PictureSpace& space);

}  // namespace sluice
