// How do people without a mouse read tooltips?
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>

class QWidget;

namespace sluice {

/// Lets the Tab key reach a text that has a tooltip, and takes it out of the row without one.
void set_reachable_tip(QWidget* widget, const QString& tip);

/// The tooltip of what has the keyboard: of a table, that of the current cell and its column.
QString keyboard_tip(const QWidget& widget);

/// While it lives, shows keyboard_tip() of a widget that a key has reached, and of the cell that a
/// key has reached in it.
class KeyboardTips : public QObject {
    Q_OBJECT
  public:
    explicit KeyboardTips(QObject* parent);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void show();

    QPointer<QWidget> reached_;
    QTimer soon_;
};

}  // namespace sluice
