// What leaves the window: the report as HTML or PDF, pictures and tables of the page in front,
// paper.
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
    /// `window` owns it.
    Exports(QWidget& window, Pages& pages, PlannerSession& session, ScenarioStack& stack);
    ~Exports() override;

    /// One for each kind of file; each asks for a name first.
    void addActions(QMenu& menu);
    void choosePrinter();

    /// The report needs predictions: it is written when they are there. A PDF is written when it
    /// is drawn.
    void writeHtml(const QString& file);
    void writePdf(const QString& file);
    void writeSvg(const QString& file);
    void writePagePdf(const QString& file);
    void writePng(const QString& file);
    void writeCsv(const QString& file);
    /// The picture of the page in front. Precondition: it has one.
    void print(QPrinter& printer);
    /// Something that was asked for is not written yet, and has not failed.
    bool isWriting() const { return !wanted_.empty() || drawn_ > 0; }

  Q_SIGNALS:
    /// It takes a while.
    void working(QString what);
    void written(QString file);
    void failed(QString sentence);

  private:
    /// A report that is asked for, and what becomes of it.
    struct Wanted {
        PlannedScenario planned;
        std::vector<PlannedScenario> others;
        std::function<void(const Decision&)> then;
    };

    QString reportName() const;
    QString pageName() const;
    static QString noPicture();
    void write(const QString& file, const QByteArray& bytes, const QString& without);
    /// Calls `then` with the report on the machines of all scenarios that have the current model,
    /// each as its first scenario changes it; one report after the other.
    void withReport(std::function<void(const Decision&)> then);
    void predictFirst();
    /// Takes out the first, and starts the next.
    Wanted takeFirst();
    /// Writes what `picture` returns, which it does on a thread of its own.
    void draw(const QString& file, std::function<QByteArray()> picture);

    QWidget& window_;
    Pages& pages_;
    PlannerSession& session_;
    ScenarioStack& stack_;
    std::deque<Wanted> wanted_;  ///< the first is under way
    int drawn_ = 0;              ///< PDF files that are being drawn
};

}  // namespace sluice
