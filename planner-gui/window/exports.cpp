#include "planner-gui/window/exports.h"

#include <QBuffer>
#include <QFileDialog>
#include <QPrintDialog>
#include <QPrinter>
#include <QThread>
#include <algorithm>

#include "planner-gui/window/pages.h"
#include "planner-gui/window/printed_report.h"
#include "sim/write_file.h"

namespace sluice {

Exports::Exports(QWidget& window, Pages& pages, PlannerSession& session, ScenarioStack& stack)
    : QObject(&window), window_(window), pages_(pages), session_(session), stack_(stack) {
    connect(&session_, &PlannerSession::decided, this,
            [this](const std::shared_ptr<const Decision>& decision) {
                if (!wanted_.empty()) takeFirst().then(*decision);
            });
    connect(&session_, &PlannerSession::failed, this,
            [this](JobKind kind, const QString& sentence) {
                if (kind != JobKind::decide) return;
                if (!wanted_.empty()) takeFirst();
                Q_EMIT failed(sentence);
            });
}

Exports::~Exports() {
    for (QThread* const drawing : findChildren<QThread*>()) drawing->wait();
}

QString Exports::choose(const QString& title, const QString& suffix) {
    QFileDialog dialog(&window_, title, QString(),
                       QStringLiteral("%1 (*.%2)").arg(suffix.toUpper(), suffix));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(suffix);
    dialog.selectFile(pages_.name() + QLatin1Char('.') + suffix);
    return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles().front() : QString();
}

void Exports::chooseHtml() {
    const QString file = choose(tr("Report as HTML"), QStringLiteral("html"));
    if (!file.isEmpty()) writeHtml(file);
}
void Exports::choosePdf() {
    const QString file = choose(tr("Report as PDF"), QStringLiteral("pdf"));
    if (!file.isEmpty()) writePdf(file);
}
void Exports::chooseSvg() {
    const QString file = choose(tr("Page as SVG"), QStringLiteral("svg"));
    if (!file.isEmpty()) writeSvg(file);
}
void Exports::choosePng() {
    const QString file = choose(tr("Page as PNG"), QStringLiteral("png"));
    if (!file.isEmpty()) writePng(file);
}
void Exports::chooseCsv() {
    const QString file = choose(tr("Page as CSV"), QStringLiteral("csv"));
    if (!file.isEmpty()) writeCsv(file);
}
void Exports::choosePrinter() {
    if (pages_.svg().isEmpty()) {
        Q_EMIT failed(tr("This page has no picture yet; let it show one first."));
        return;
    }
    QPrinter printer(QPrinter::HighResolution);
    printer.setPageOrientation(QPageLayout::Landscape);
    QPrintDialog dialog(&printer, &window_);
    if (dialog.exec() == QDialog::Accepted) print(printer);
}

void Exports::print(QPrinter& printer) {
    const QString title = QString::fromStdString(stack_.current().name);
    if (!print_picture(pages_.svg(), title, printer))
        Q_EMIT failed(
            tr("The printer does not take the page; check that it is on, or that the file it "
               "prints to can be written."));
}

void Exports::write(const QString& file, const QByteArray& bytes, const QString& without) {
    if (bytes.isEmpty()) {
        Q_EMIT failed(without);
        return;
    }
    try {
        write_file(file.toStdString(), bytes.toStdString());
        Q_EMIT written(file);
    } catch (const InputError& error) {
        Q_EMIT failed(QString::fromUtf8(error.what()));
    }
}

void Exports::withReport(std::function<void(const Decision&)> then) {
    std::vector<MachineFlags> machines;
    for (const PlannedScenario& one : stack_.project().scenarios)
        if (one.model == stack_.current().model) machines.push_back(one.machine);
    wanted_.push_back({stack_.current(), std::move(machines), std::move(then)});
    if (wanted_.size() == 1) predictFirst();
}

void Exports::predictFirst() {
    Q_EMIT working(tr("The report is being predicted..."));
    session_.decide(wanted_.front().planned, wanted_.front().machines);
}

Exports::Wanted Exports::takeFirst() {
    Wanted first = std::move(wanted_.front());
    wanted_.pop_front();
    if (!wanted_.empty()) predictFirst();
    return first;
}

void Exports::writeHtml(const QString& file) {
    withReport([this, file](const Decision& decision) {
        write(file, QByteArray::fromStdString(decision_html(decision)), {});
    });
}

void Exports::writePdf(const QString& file) {
    withReport([this, file](const Decision& decision) {
        // Drawing it takes some hundred ms.
        auto const pdf = std::make_shared<QByteArray>();
        QThread* const drawing = QThread::create([pdf, decision] { *pdf = report_pdf(decision); });
        drawing->setParent(this);
        connect(drawing, &QThread::finished, this, [this, drawing, pdf, file] {
            drawing->deleteLater();
            write(file, *pdf, {});
        });
        drawing->start();
    });
}

void Exports::writeSvg(const QString& file) {
    write(file, pages_.svg(), tr("This page has no picture yet; let it show one first."));
}

void Exports::writeCsv(const QString& file) {
    write(file, pages_.csv().toUtf8(), tr("This page has no table yet; let it show one first."));
}

void Exports::writePng(const QString& file) {
    QWidget* const page = pages_.currentWidget();
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (page != nullptr) page->grab().save(&buffer, "PNG");
    write(file, bytes, tr("There is no page to draw."));
}

}  // namespace sluice
