// Says that a page shows the answer to an earlier scenario, dims it and offers to make it again.
#pragma once

#include <QList>
#include <QWidget>

class QPushButton;

namespace sluice {

/// Hidden while what is shown is of the scenario as it is now.
class OutdatedNote : public QWidget {
    Q_OBJECT
  public:
    /// `sentence`: what is outdated. `dimmed`: where it is shown.
    OutdatedNote(const QString& sentence, const QList<QWidget*>& dimmed, QWidget* parent = nullptr);

    void setOutdated(bool outdated);
    QPushButton* button() const { return again_; }

  Q_SIGNALS:
    void runAgain();

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QPushButton* again_;
    QList<QWidget*> veils_;
    bool outdated_ = false;
};

}  // namespace sluice
