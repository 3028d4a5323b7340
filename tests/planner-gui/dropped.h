// Drops files as the desktop does.
#pragma once

#include <QApplication>
#include <QDropEvent>
#include <QMimeData>
#include <QUrl>
#include <QWidget>

namespace sluice::test {

/// Asks whether it may, then drops; false where it may not or was not taken.
inline bool drop(QWidget& on, const QList<QUrl>& urls) {
    QMimeData data;
    if (!urls.isEmpty()) data.setUrls(urls);
    QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&on, &enter);
    if (!enter.isAccepted()) return false;
    QDropEvent event(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    event.ignore();
    QApplication::sendEvent(&on, &event);
    return event.isAccepted();
}

inline bool drop(QWidget& on, const QString& file) {
    return drop(on, QList<QUrl>{QUrl::fromLocalFile(file)});
}

}  // namespace sluice::test
