// How does the window's content leave it? The report as HTML or PDF, the current page's picture and
// table, printing.
#pragma once

#include <QObject>
#include <QString>
#include <QWidget>
#include <deque>
#include <functional>

#include "planner-gui/session/planner_session.h"
#include "planner-gui/session/scenario_stack.h"

class QMenu;
class QPrinter;

namespace sluice {

class Pages;

class Exports : public QObject {
    Q_OBJECT
  public:
    /// Owned by `window`.
    Exports(QWidget& window, Pages& pages, PlannerSession& session, ScenarioStack& stack);
    ~Exports() override;

    /// One action per kind of file; each asks for a file name, whose end decides the kind.
    void addActions(QMenu& menu);
    void choosePrinter();

    /// Requests a report, which is written when its predictions arrive; a PDF when it is drawn.
    void writeHtml(const QString& file);
    void writePdf(const QString& file);
    void writeSvg(const QString& file);
    void writePagePdf(const QString& file);
    void writePng(const QString& file);
    void writeCsv(const QString& file);
    /// The picture of the current page. Precondition: it has one.
    void print(QPrinter& printer);
    /// Whether a requested file is not yet written and has not failed.
    bool isWriting() const { return !wanted_.empty() || drawn_ > 0; }

  Q_SIGNALS:
    /// Writing takes a while: its progress.
    void working(QString what);
    void written(QString file);
    void failed(QString sentence);

  private:
    struct Wanted {
        PlannedScenario planned;
        std::vector<PlannedScenario> others;
        std::optional<FoundWays> found;  ///< of the start page, for the same model
        std::function<void(const Decision&)> then;
    };

    QString reportName() const;
    QString pageName() const;
    static QString noPicture();
    void write(const QString& file, const QByteArray& bytes, const QString& without);
    /// Calls `then` with the report on the machines of all scenarios with the current model, each
    /// as its first scenario changes it. One report is made at a time.
    void withReport(std::function<void(const Decision&)> then);
    /// The answer of the start page, if it is about the current model.
    std::optional<FoundWays> foundWays() const;
    void predictFirst();
    /// Removes the first request and starts the next.
    Wanted takeFirst();
    /// Writes the result of `picture`, which runs on its own thread.
    void draw(const QString& file, std::function<QByteArray()> picture);

    QWidget& window_;
    Pages& pages_;
    PlannerSession& session_;
    ScenarioStack& stack_;
    std::deque<Wanted> wanted_;  ///< the first one is being made
    int drawn_ = 0;              ///< PDF files that are being drawn
};

}  // namespace sluice
