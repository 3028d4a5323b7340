// How near are predictions to measured runs?
#pragma once

#include <QByteArray>
#include <memory>

#include "planner-gui/pages/answer_page.h"
#include "planner-gui/pictures/byte_units.h"
#include "sim/answers/validate/validation.h"

namespace sluice {

class PictureTable;

/// Takes files and folders by its buttons or dropped on it.
class ValidationPage : public AnswerPage {
    Q_OBJECT
  public:
    explicit ValidationPage(QWidget* parent = nullptr);

    /// Null: none yet. Outdated: of another machine.
    void setValidation(std::shared_ptr<const Validation> validation);
    void setByteUnits(ByteUnits units) override;
    /// As if they were dropped on it. Nothing happens where there are none.
    void compare(const QStringList& files);

    QByteArray svg() const override;
    QString csv() const override;

  Q_SIGNALS:
    /// Reports, or a folder of them, shall be chosen, and given to compare().
    void filesWanted();
    void folderWanted();
    /// Reports, or folders of them.
    void filesChosen(const QStringList& files);
    /// A run's timelines are to be shown, measured below predicted.
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
