#include "planner-gui/window/exports.h"

#include <QMenu>
#include <QPrintDialog>
#include <QPrinter>
#include <QThread>

#include "planner-gui/window/file_dialogs.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/printed_report.h"
#include "sim/base/write_file.h"
#include "sim/report/answers/answer_reports.h"

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

QString Exports::reportName() const { return qtext(stack_.current().name); }

QString Exports::pageName() const { return pages_.name() + QStringLiteral(" - ") + reportName(); }

void Exports::addActions(QMenu& menu) {
    using Write = void (Exports::*)(const QString&);
    const auto add = [&](const QString& text, const QString& suffix, auto name, Write writer) {
        menu.addAction(text + QStringLiteral("..."), this, [this, text, suffix, name, writer] {
            const QString filter = QStringLiteral("%1 (*.%2)").arg(suffix.toUpper(), suffix);
            const QString proposed = safe_file_name((this->*name)()) + QLatin1Char('.') + suffix;
            const QString file = choose_to_save(&window_, QString(text).remove(QLatin1Char('&')),
                                                filter, suffix, proposed);
            if (!file.isEmpty()) (this->*writer)(file);
        });
    };
    const QString html = QStringLiteral("html"), pdf = QStringLiteral("pdf");
    add(tr("&Report as HTML"), html, &Exports::reportName, &Exports::writeHtml);
    add(tr("Report as &PDF"), pdf, &Exports::reportName, &Exports::writePdf);
    menu.addSeparator();
    add(tr("Page as &SVG"), QStringLiteral("svg"), &Exports::pageName, &Exports::writeSvg);
    add(tr("Page as P&DF"), pdf, &Exports::pageName, &Exports::writePagePdf);
    add(tr("Page as P&NG"), QStringLiteral("png"), &Exports::pageName, &Exports::writePng);
    add(tr("Page as &CSV"), QStringLiteral("csv"), &Exports::pageName, &Exports::writeCsv);
}

void Exports::choosePrinter() {
    if (pages_.svg().isEmpty()) {
        Q_EMIT failed(noPicture());
        return;
    }
    QPrinter printer(QPrinter::HighResolution);
    printer.setPageOrientation(QPageLayout::Landscape);
    QPrintDialog dialog(&printer, &window_);
    if (dialog.exec() == QDialog::Accepted) print(printer);
}

QString Exports::noPicture() {
    return tr("This page has no picture now; a table can be exported as CSV.");
}

void Exports::print(QPrinter& printer) {
    const QString title = qtext(stack_.current().name);
    if (!print_picture(pages_.svg(), title, printer))
        Q_EMIT failed(
            tr("The printer did not accept the page; check that it is on, or that the file it "
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
    std::vector<PlannedScenario> others;
    for (const PlannedScenario& one : stack_.project().scenarios)
        if (one.model == stack_.current().model) others.push_back(one);
    wanted_.push_back({stack_.current(), std::move(others), std::move(then)});
    if (wanted_.size() == 1) predictFirst();
}

void Exports::predictFirst() {
    Q_EMIT working(tr("The report is being predicted..."));
    session_.decide(wanted_.front().planned, wanted_.front().others);
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
        draw(file, [decision] { return report_pdf(decision); });
    });
}

void Exports::draw(const QString& file, std::function<QByteArray()> picture) {
    // Drawing takes some hundred ms.
    auto const bytes = std::make_shared<QByteArray>();
    QThread* const drawing =
        QThread::create([bytes, picture = std::move(picture)] { *bytes = picture(); });
    drawing->setParent(this);
    ++drawn_;
    connect(drawing, &QThread::finished, this, [this, drawing, bytes, file] {
        drawing->deleteLater();
        --drawn_;
        write(file, *bytes, {});
    });
    drawing->start();
}

void Exports::writePagePdf(const QString& file) {
    const QByteArray svg = pages_.svg();
    if (svg.isEmpty()) return write(file, {}, noPicture());
    draw(file, [svg, title = pageName()] { return picture_pdf(svg, title); });
}

void Exports::writeSvg(const QString& file) { write(file, pages_.svg(), noPicture()); }

void Exports::writeCsv(const QString& file) {
    write(file, pages_.csv().toUtf8(), tr("This page has no table yet; run it first."));
}

void Exports::writePng(const QString& file) {
    const QByteArray svg = pages_.svg();
    write(file, svg.isEmpty() ? QByteArray() : picture_png(svg), noPicture());
}

}  // namespace sluice
