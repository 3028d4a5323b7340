// The form of one scenario: model, machine, system, settings, money. It is built from the library's
// option tables.
#pragma once

#include <QCheckBox>
#include <QScrollArea>
#include <map>
#include <memory>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/session/prediction.h"
#include "planner-gui/window/field_row.h"

class QFormLayout;
class QGroupBox;
class QTableView;
class QVBoxLayout;

namespace sluice {

/// The names to choose from.
QStringList model_names();
QStringList machine_names();

class ScenarioForm : public QScrollArea {
    Q_OBJECT
  public:
    explicit ScenarioForm(QWidget* parent = nullptr);

    /// Does not emit edited().
    void setScenario(const PlannedScenario& planned);
    /// Shows the resolved scenario: placeholders and the machine's numbers. Clears all mistakes.
    void setResolved(const Scenario& scenario);
    void setByteUnits(ByteUnits units);
    /// Marks the field; if the form has no such field, the sentence is at the top.
    void setMistake(const QString& field, const QString& sentence);
    void clearMistakes();
    /// The row of a field; nullptr if there is none.
    FieldRow* row(const QString& field) const;
    /// As if that had been typed into the field.
    void enter(const QString& field, const QString& text);

  Q_SIGNALS:
    /// `field` as in InputError; `what` is its label.
    void edited(sluice::PlannedScenario planned, QString field, QString what);

  private:
    FieldRow* addRow(QVBoxLayout* group, const QString& field, const QString& label,
                     FieldRow::Kind kind, const QStringList& choices = {});
    void addModel();
    void addMachine();
    void addNumbers(QVBoxLayout* group);
    void addTraining();
    void addMoney();
    QVBoxLayout* addGroup(const QString& title);
    void take(const FieldRow& row);
    void editNumber(int row, const QString& value);
    void showUsedOptions();
    /// A button that opens a file for the field.
    void addOpen(FieldRow* row, const QString& what);
    void showHostMemory();

    PlannedScenario planned_;
    Bytes host_memory_ = 0;  ///< of the resolved scenario; 0: not yet resolved
    ByteUnits units_ = ByteUnits::decimal;
    std::map<QString, FieldRow*> rows_;
    QVBoxLayout* groups_;
    QLabel* mistake_;
    QCheckBox* untied_ = nullptr;
    TableModel* numbers_;
    QTableView* numbers_view_ = nullptr;
};

}  // namespace sluice
