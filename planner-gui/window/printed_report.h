// How is the HTML report printed? Qt's text documents know neither SVG nor most of its style.
#pragma once

#include <QByteArray>
#include <QString>

#include "sim/answers/decision/decision.h"

class QPagedPaintDevice;

namespace sluice {

void print_report(const Decision& decision, QPagedPaintDevice& device);
/// The bytes of a PDF file, A4 landscape.
QByteArray report_pdf(const Decision& decision);
/// The text of the documents that these pages are drawn from.
QString report_pdf_text(const Decision& decision);

/// An SVG file as PNG, with two pixels a pixel.
QByteArray picture_png(const QByteArray& svg);

/// The bytes of a PDF file with one page as large as the picture; lines stay lines.
QByteArray picture_pdf(const QByteArray& svg, const QString& title);

/// Draws a picture on one page as large as it fits, with a title line. False if the device does not
/// accept it.
bool print_picture(const QByteArray& svg, const QString& title, QPagedPaintDevice& device);

}  // namespace sluice
