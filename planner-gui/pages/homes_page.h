// The page "Homes": which parts of the training live on the device and which on the host, and what
// does it gain to move one? Its fields enter into the form's.
#pragma once

#include <memory>

#include "planner-gui/pages/answer_page.h"
#include "planner-gui/session/prediction.h"

class QComboBox;
class QSpinBox;

namespace sluice {

class PictureView;

class HomesPage : public Page {
    Q_OBJECT
  public:
    explicit HomesPage(QWidget* parent = nullptr);

    /// Null: there is no prediction.
    void setPrediction(std::shared_ptr<const ScenarioAnswer> prediction);
    void setByteUnits(ByteUnits units) override;

    /// Empty if there is no prediction.
    QByteArray svg() const override;
    QString csv() const override;
    PictureView* view() const { return view_; }

  Q_SIGNALS:
    /// The user wants another value of an option.
    void moved(QString field, QString value);

  private:
    struct Field {
        const Option* option;
        QWidget* row;
        QSpinBox* count;    ///< null: a choice
        QComboBox* choice;  ///< null: a count
    };
    void addField(const Option& option, QLayout* row);
    void showFields();
    void refresh();

    std::shared_ptr<const ScenarioAnswer> prediction_, last_, before_;
    QLabel *heading_, *effect_, *shortage_;
    std::vector<Field> fields_;
    PictureView* view_;
    ByteUnits units_ = ByteUnits::decimal;
};

}  // namespace sluice
