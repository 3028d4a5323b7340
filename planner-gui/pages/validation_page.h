// How near are predictions to measured runs?
#pragma once

#include <QByteArray>
#include <QWidget>
#include <memory>

#include "planner-gui/models/cell_table_model.h"
#include "planner-gui/pictures/byte_units.h"
#include "sim/validate/validation.h"

class QLabel;
class QPushButton;
class QTableView;

namespace sluice {

class AnswerStack;
class FailureLabel;
class NumberSortProxy;
class OutdatedNote;
class ScatterView;

/// Takes files and folders by its buttons or dropped on it.
class ValidationPage : public QWidget {
    Q_OBJECT
  public:
    explicit ValidationPage(QWidget* parent = nullptr);

    /// Null: none yet.
    void setValidation(std::shared_ptr<const Validation> validation);
    /// While it is computed.
    void setBusy(bool busy);
    /// Why there is none: the sentence. What is shown stays.
    void fail(const QString& sentence);
    /// Whether the predictions are for an earlier machine.
    void setOutdated(bool outdated);
    void setByteUnits(ByteUnits units);

    QByteArray svg() const;
    QString csv() const;

  Q_SIGNALS:
    /// Reports, or folders of them.
    void filesChosen(const QStringList& files);
    /// A run's timelines are to be shown, measured below predicted.
    void runActivated(int run);

  protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

  private:
    void compare(const QStringList& files);
    void chooseFiles();
    void chooseFolder();
    void selectRow(int run);
    int runOf(const QModelIndex& shown) const;

    std::shared_ptr<const Validation> validation_;
    ByteUnits units_ = ByteUnits::decimal;
    QStringList compared_;  ///< files and folders
    CellTableModel* model_;
    NumberSortProxy* sorted_;
    ScatterView* scatter_;
    QTableView* table_;
    FailureLabel* failure_;
    QLabel *words_, *notes_;
    QPushButton *files_, *folder_;
    AnswerStack* stack_;
    OutdatedNote* outdated_;
};

}  // namespace sluice
