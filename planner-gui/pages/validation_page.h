// The page "Validation": how near are predictions to measured runs?
#pragma once

#include <QByteArray>
#include <memory>

#include "planner-gui/pages/answer_page.h"
#include "planner-gui/pictures/byte_units.h"
#include "sim/answers/validate/validation.h"

namespace sluice {

class PictureTable;

/// Accepts files and folders, by its buttons or dropped on it.
class ValidationPage : public AnswerPage {
    Q_OBJECT
  public:
    explicit ValidationPage(QWidget* parent = nullptr);

    /// Null: none yet. Outdated: made for another machine.
    void setValidation(std::shared_ptr<const Validation> validation);
    void setByteUnits(ByteUnits units) override;
    /// As if they were dropped on it. An empty list does nothing.
    void compare(const QStringList& files);

    QByteArray svg() const override;
    QString csv() const override;

  Q_SIGNALS:
    /// The user wants to choose reports, or a folder of them, which compare() then gets.
    void filesWanted();
    void folderWanted();
    /// The user wants to compare these reports or folders.
    void filesChosen(const QStringList& files);
    /// The user wants to see a run's timelines, measured below predicted.
    void runActivated(int run);

  protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

  private:
    void showBusy() override;
    void showRuns();

    std::shared_ptr<const Validation> validation_;
    ByteUnits units_ = ByteUnits::decimal;
    QStringList compared_;  ///< files and folders
    PictureTable* parts_;
    QLabel *words_, *notes_;
    QPushButton *files_, *folder_;
};

}  // namespace sluice
