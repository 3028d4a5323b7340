// How does the HTML report look on paper? Qt's text documents know neither SVG nor most of its
// style.
#pragma once

#include <QByteArray>
#include <QString>

#include "sim/answers/decision/decision.h"

class QPagedPaintDevice;

namespace sluice {

void print_report(const Decision& decision, QPagedPaintDevice& device);
/// The bytes of a PDF file, A4 landscape.
QByteArray report_pdf(const Decision& decision);

/// The bytes of a PDF file of one page, as large as the picture; what is a line there is one here.
QByteArray picture_pdf(const QByteArray& svg, const QString& title);

/// A picture on one page, as large as it fits, with a line above it. False where the device does
/// not take it.
bool print_picture(const QByteArray& svg, const QString& title, QPagedPaintDevice& device);

}  // namespace sluice
