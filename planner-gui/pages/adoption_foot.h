// Below a picture or table: what is known of the thing that is selected, and the button that adopts
// it.
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace sluice {

class AdoptionFoot : public QWidget {
    Q_OBJECT
  public:
    /// `name`: of the words, for those who do not see them. `what`: what the button does. There is
    /// always room for `lines` of words, so that what is above does not move.
    AdoptionFoot(const QString& name, const QString& what, int lines, QWidget* parent = nullptr);

    void show_selected(const QString& words, bool can_be_adopted);
    QString words() const;
    bool can_be_adopted() const;
    QPushButton* button() const { return adopt_; }

  Q_SIGNALS:
    void adopted();

  private:
    QLabel* words_;
    QPushButton* adopt_;
};

}  // namespace sluice
