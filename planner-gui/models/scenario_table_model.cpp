#include "planner-gui/models/scenario_table_model.h"

#include <fmt/format.h>

#include <QBrush>
#include <QFont>
#include <algorithm>

#include "planner-gui/pictures/memory_stack.h"
#include "sim/answers/compare/comparison.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }

QString peak_text(const Fit::OfTier& tier, ByteUnits units) {
    return QStringLiteral("%1 of %2")
        .arg(byte_text(static_cast<double>(tier.peak.bytes), units),
             byte_text(static_cast<double>(tier.usable), units));
}

QString fit_text(const Prediction& report, ByteUnits units) {
    return report.plan.fit.fits() ? ScenarioTableModel::tr("yes")
                                  : ScenarioTableModel::tr("no: ") + short_text(report, units);
}

bool shown_always(const Option& option) {
    const std::string_view field = option.field;
    return field == "schedule" || field == "batch" || field == "seq";
}

/// "Micro batch" of micro_batch.
QString option_name(const Option& option) {
    if (std::string_view(option.field) == "schedule") return ScenarioTableModel::tr("System");
    QString name = text(option.field).replace(QLatin1Char('_'), QLatin1Char(' '));
    name[0] = name[0].toUpper();
    return name;
}

QString option_value(const Prediction& report, const Option& option) {
    if (!has_option(report.asked.training.schedule, option)) return QStringLiteral("-");
    return text(option_text(report.asked.training, option));
}

/// Of what fits; times and money of what does not are no answer.
template <typename Words>
QString if_fits(const ComparedScenario& scenario, Words words) {
    return scenario.report->plan.fit.fits() ? words(*scenario.report) : QStringLiteral("-");
}

QString banded(const Banded& number, int digits) {
    const auto one = [&](double value) {
        return value < 1000 ? QString::number(value, 'f', digits) : text(format_thousands(value));
    };
    if (number.high <= 0) return one(number.value);
    return QStringLiteral("%1 (%2 to %3)")
        .arg(one(number.value), one(number.low), one(number.high));
}

/// So that it takes three lines at most.
QString shortened(const QString& name) {
    constexpr int kMost = 54;
    return name.size() <= kMost ? name : name.left(kMost - 1).trimmed() + QChar(0x2026);
}

/// Pale yellow on white, dark olive on black.
QBrush highlight() { return QColor(240, 228, 66, 80); }

}  // namespace

bool ScenarioTableModel::Row::differs() const {
    return std::any_of(values.begin(), values.end(),
                       [&](const QString& value) { return value != values.front(); });
}

void ScenarioTableModel::setScenarios(std::vector<ComparedScenario> scenarios) {
    beginResetModel();
    scenarios_ = std::move(scenarios);
    build();
    endResetModel();
}

void ScenarioTableModel::setByteUnits(ByteUnits units) {
    beginResetModel();
    units_ = units;
    build();
    endResetModel();
}

template <typename Value>
void ScenarioTableModel::add(const QString& name, const QString& tooltip, Value value) {
    Row row{name, tooltip, {}};
    for (const ComparedScenario& scenario : scenarios_) row.values << value(scenario);
    rows_.push_back(std::move(row));
}

void ScenarioTableModel::build() {
    rows_.clear();
    if (scenarios_.empty()) return;
    addAsked();
    addSpeed();
    addMoney();
    addMemory();
    add(tr("Bottleneck"), tr("What the largest share of the step's critical path is spent on"),
        [](const ComparedScenario& s) { return text(bottleneck_text(s.report->step)); });
    add(tr("Confidence"), tr("The weakest origin among the rates that the prediction rests on"),
        [](const ComparedScenario& s) { return text(confidence_name(s.report->plan.confidence)); });
}

void ScenarioTableModel::addAsked() {
    add(tr("Model"), {},
        [](const ComparedScenario& s) { return text(s.report->asked.model_name); });
    add(tr("Parameters"), {}, [](const ComparedScenario& s) {
        return text(format_count(static_cast<double>(s.report->asked.parameters)));
    });
    add(tr("Layers"), {},
        [](const ComparedScenario& s) { return QString::number(s.report->asked.layers); });
    add(tr("Machine"), {},
        [](const ComparedScenario& s) { return text(s.report->asked.machine_id); });
    add(tr("Changes of the machine"), tr("What-if values, as flags of the command line"),
        [](const ComparedScenario& s) {
            const auto& changes = s.report->asked.machine_changes;
            return changes.empty() ? tr("none") : text(fmt::format("{}", fmt::join(changes, " ")));
        });
    for (const Option& option : training_options()) {
        add(option_name(option), text(option.help),
            [&](const ComparedScenario& s) { return option_value(*s.report, option); });
        if (!shown_always(option) && !rows_.back().differs()) rows_.pop_back();
    }
}

void ScenarioTableModel::addSpeed() {
    add(tr("Fits"), tr("Whether the peak is at most what device, host and storage offer"),
        [&](const ComparedScenario& s) { return fit_text(*s.report, units_); });
    add(tr("Tokens/s"), tr("Batch x sequence / step"), [](const ComparedScenario& s) {
        return if_fits(
            s, [](const Prediction& r) { return text(format_thousands(r.tokens_per_s())); });
    });
    add(tr("5 to 95%"), tr("Nine of ten measured steps should lie there"),
        [](const ComparedScenario& s) {
            return if_fits(s, [](const Prediction& r) {
                if (!r.band) return QStringLiteral("-");
                return tr("%1 to %2")
                    .arg(text(format_thousands(r.tokens_per_s_at(r.band->high))),
                         text(format_thousands(r.tokens_per_s_at(r.band->low))));
            });
        });
    add(tr("Step"), {}, [](const ComparedScenario& s) {
        return if_fits(s, [](const Prediction& r) { return text(format_seconds(r.step.seconds)); });
    });
}

void ScenarioTableModel::addMoney() {
    const auto cost = [](auto value) {
        return [value](const ComparedScenario& s) {
            return s.cost && s.report->plan.fit.fits() ? value(*s.cost, s) : QStringLiteral("-");
        };
    };
    add(tr("$ per million tokens"), tr("$ an hour / tokens an hour, with the band of the step"),
        cost([](const RunCost& c, const ComparedScenario& s) {
            return s.priced ? text(format_usd(c.usd_per_million_tokens.value)) : tr("no price");
        }));
    add(tr("Tokens of the run"), {}, [](const ComparedScenario& s) {
        return s.cost ? text(format_count(s.cost->tokens)) : QStringLiteral("-");
    });
    add(tr("$ of the run"), tr("Of all its tokens, 5 to 95% in brackets"),
        cost([](const RunCost& c, const ComparedScenario& s) {
            return s.priced ? text(format_usd(c.usd)) : tr("no price");
        }));
    add(tr("kWh of the run"), tr("Of the GPUs and, where it is known, of the host"),
        cost([](const RunCost& c, const ComparedScenario&) {
            return c.kwh ? banded(*c.kwh, c.kwh->value < 100 ? 1 : 0) : tr("not known");
        }));
    add(tr("Days of the run"), tr("Tokens / tokens a day"),
        cost([](const RunCost& c, const ComparedScenario&) { return banded(c.days, 1); }));
}

void ScenarioTableModel::addMemory() {
    add(tr("Device peak"), tr("Most bytes at once, of what the device offers"),
        [&](const ComparedScenario& s) { return peak_text(s.report->plan.fit.device, units_); });
    add(tr("Host peak"), tr("Most bytes at once, of what the host offers"),
        [&](const ComparedScenario& s) { return peak_text(s.report->plan.fit.host, units_); });
}

int ScenarioTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ScenarioTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(scenarios_.size());
}

QVariant ScenarioTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
            return row.values[index.column()];
        case Qt::ToolTipRole:
            return row.tooltip.isEmpty()
                       ? row.values[index.column()]
                       : row.values[index.column()] + QStringLiteral("\n") + row.tooltip;
        case Qt::AccessibleTextRole:
            return QStringLiteral("%1: %2%3")
                .arg(row.name, row.values[index.column()],
                     row.differs() ? tr(", differs") : QString());
        case Qt::BackgroundRole:
            return row.differs() ? QVariant(highlight()) : QVariant();
        case Qt::FontRole: {
            if (!row.differs()) return {};
            QFont font;
            font.setBold(true);
            return font;
        }
        case kDiffersRole:
            return row.differs();
        default:
            return {};
    }
}

QVariant ScenarioTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (section < 0) return {};
    const auto at = static_cast<std::size_t>(section);
    if (orientation == Qt::Horizontal) {
        if (at >= scenarios_.size()) return {};
        const QString& name = scenarios_[at].name;
        if (role == Qt::DisplayRole) return shortened(name);
        return role == Qt::ToolTipRole ? QVariant(name) : QVariant();
    }
    if (at >= rows_.size()) return {};
    const Row& row = rows_[at];
    if (role == Qt::DisplayRole) return row.name;
    if (role == Qt::ToolTipRole) return row.tooltip;
    if (role == kDiffersRole) return row.differs();
    return {};
}

SpeedBars scenario_bars(const std::vector<ComparedScenario>& scenarios, ByteUnits units) {
    SpeedBars chart;
    chart.title = "Scenarios";
    chart.subtitle = "predicted tokens/s";
    chart.note =
        "Black line: nine of ten steps should lie there. Grey: does not fit; as long as if it did.";
    SpeedBarGroup group;
    for (const ComparedScenario& scenario : scenarios) {
        const Prediction& r = *scenario.report;
        SpeedBar bar;
        bar.name = scenario.name.toStdString();
        bar.tokens_per_s = r.tokens_per_s();
        bar.low = r.band ? r.tokens_per_s_at(r.band->high) : r.tokens_per_s();
        bar.high = r.band ? r.tokens_per_s_at(r.band->low) : r.tokens_per_s();
        if (!r.plan.fit.fits()) bar.misfit = short_text(r, units).toStdString();
        bar.fill = kPointedOut;
        bar.tooltip =
            fmt::format("{}\n{} on {}, {}\n{} tokens/s, {} a step", bar.name, r.asked.model_name,
                        r.asked.machine_id, r.asked.training.schedule->name,
                        format_thousands(bar.tokens_per_s), format_seconds(r.step.seconds));
        group.bars.push_back(std::move(bar));
    }
    chart.groups.push_back(std::move(group));
    return chart;
}

}  // namespace sluice
