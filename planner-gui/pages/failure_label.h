// Why could a page not do what it was asked for? The sentence, on the page itself.
#pragma once

#include <QLabel>

namespace sluice {

/// Hidden while there is nothing to say; in the colour of what is short.
class FailureLabel : public QLabel {
    Q_OBJECT
  public:
    explicit FailureLabel(QWidget* page);

    /// `stale`: the page shows an earlier answer, which the label says too.
    void say(const QString& sentence, bool stale);
    void forget();
};

}  // namespace sluice
