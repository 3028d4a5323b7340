#include "planner-gui/window/exports.h"

#include <QMenu>
#include <QPrintDialog>
#include <QPrinter>
#include <QThread>

#include "planner-gui/window/file_dialogs.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/printed_report.h"
#include "planner-gui/window/start_question.h"
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
    struct Kind {
        FileFormat format;
        QString text;
        Write write;
    };
    const auto add = [&](const QList<Kind>& kinds, auto name) {
        QList<FileFormat> formats;
        for (const Kind& kind : kinds) formats << kind.format;
        for (const Kind& proposed : kinds)
            menu.addAction(proposed.text + QStringLiteral("..."), this,
                           [this, proposed, kinds, formats, name] {
                               const QString file = choose_to_save(
                                   &window_, QString(proposed.text).remove(QLatin1Char('&')),
                                   formats,
                                   safe_file_name((this->*name)()) + QLatin1Char('.') +
                                       proposed.format.suffix);
                               for (const Kind& kind : kinds)
                                   if (kind.format.suffix == format_of(file, formats))
                                       (this->*kind.write)(file);
                           });
    };
    const FileFormat html{QStringLiteral("html"), tr("Page for a browser")},
        pdf{QStringLiteral("pdf"), tr("PDF")}, svg{QStringLiteral("svg"), tr("Drawing")},
        png{QStringLiteral("png"), tr("Picture")}, csv{QStringLiteral("csv"), tr("Table")};
    add({{html, tr("&Report as HTML"), &Exports::writeHtml},
         {pdf, tr("Report as &PDF"), &Exports::writePdf}},
        &Exports::reportName);
    menu.addSeparator();
    add({{svg, tr("Page as &SVG"), &Exports::writeSvg},
         {pdf, tr("Page as P&DF"), &Exports::writePagePdf},
         {png, tr("Page as P&NG"), &Exports::writePng},
         {csv, tr("Page as &CSV"), &Exports::writeCsv}},
        &Exports::pageName);
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
    wanted_.push_back({stack_.current(), std::move(others), foundWays(), std::move(then)});
    if (wanted_.size() == 1) predictFirst();
}

std::optional<FoundWays> Exports::foundWays() const {
    const auto& run = stack_.project().asked_run;
    if (!run) return std::nullopt;
    const auto question = read_start_question(run->fields).question;
    if (!question || run_scenario(*question).model != stack_.current().model) return std::nullopt;
    return FoundWays{*question, run->ways};
}

void Exports::predictFirst() {
    Q_EMIT working(tr("The report is being predicted..."));
    const Wanted& first = wanted_.front();
    session_.decide(first.planned, first.others, first.found);
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
