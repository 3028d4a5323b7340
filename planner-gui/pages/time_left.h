// How long does a search still take?
#pragma once

#include <QElapsedTimer>
#include <QString>

namespace sluice {

/// "about 40 s left", "about 3 min left", as if the rest took as long as what is done. Empty before
/// a tenth is done, which says too little, and once all is.
QString time_left(double elapsed_s, int done, int all);

/// The same, from when it was started. Precondition of words(): it was.
class TimeLeft {
  public:
    void start() { since_.start(); }
    /// ", about 40 s left", for the end of a sentence; or empty.
    QString words(int done, int all) const {
        constexpr double kMilli = 1e-3;
        const QString left = time_left(kMilli * static_cast<double>(since_.elapsed()), done, all);
        return left.isEmpty() ? left : QStringLiteral(", ") + left;
    }

  private:
    QElapsedTimer since_;
};

}  // namespace sluice
