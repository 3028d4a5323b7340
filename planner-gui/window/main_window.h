// The window: scenarios and form at the left, the verdict above the pages.
#pragma once

#include <QMainWindow>
#include <memory>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/session/planner_session.h"
#include "planner-gui/session/scenario_stack.h"
#include "planner-gui/window/project_files.h"

class QActionGroup;
class QMenu;
class QStackedWidget;
class QTabWidget;

namespace sluice {

class Exports;
class Pages;
class ScenarioDock;
class ScenarioForm;
class StartPage;
class VerdictPanel;

class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    /// `recovery` is the folder for projects of crashed sessions.
    explicit MainWindow(const QString& recovery);
    ~MainWindow() override;

    /// Opens the file; else a crashed session's project, if the user wants it; else an empty
    /// scenario behind the start page.
    void start(const QString& file);
    /// The start page in place of form, verdict and pages, or these.
    void showStart(bool start);
    /// Offers a crashed session's version of the file, if it is newer. False if the file cannot be
    /// read; a message has said why.
    bool openFile(const QString& file);
    /// Asks if another program has changed the file. False if the file is not written; a message
    /// has said why.
    bool saveFile(const QString& file);
    void openExample();
    void openEmpty();
    /// The unit of all bytes in the window; remembered for the next start.
    void setUnits(ByteUnits units);

    ScenarioStack& stack() { return stack_; }
    PlannerSession& session() { return session_; }
    ProjectFiles& files() { return files_; }
    Pages& pages() { return *pages_; }
    VerdictPanel& verdict() { return *verdict_; }
    ScenarioForm& form() { return *form_; }
    StartPage& startPage() { return *start_; }
    /// The prediction that is shown; null if the scenario is refused.
    std::shared_ptr<const ScenarioAnswer> prediction() const { return prediction_; }

  protected:
    void changeEvent(QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

  private:
    void addParts();
    void connectStart();
    /// Size on a first start, as far as the screen has room.
    void resizeAtFirst();
    void resizeDocksAtFirst();
    void connectParts();
    void addFileMenu();
    void addExportMenu(QMenu& file);
    void addEditMenu();
    void addViewMenu();
    void addAppearance(QMenu& menu);
    void addHelpMenu();
    void showRecent(QMenu& menu);
    void showTitle();
    void showCurrent();
    /// Adds the current scenario with these settings.
    void adopt(const std::vector<Setting>& settings);
    void ask(int question);
    /// Requests the verdict again if a file that the scenario names has changed.
    void lookAtFiles();
    /// Opens a crashed session's project; false if the user does not want it now.
    bool offer(const Recovered& found);
    /// Commits text that is being typed into a table or list.
    void finishEditing();
    /// Whether unsaved changes may be lost; asks the user.
    bool mayClose();
    /// Whether the window may close although a report is being written; asks the user. If the user
    /// waits, the window closes after that.
    bool mayDropReport();
    void chooseProject();
    bool save();
    bool saveAs();
    void warn(const QString& sentence);
    void copyCommand();
    void about();

    ScenarioStack stack_;
    PlannerSession session_;
    ProjectFiles files_;
    QString recovery_;
    std::unique_ptr<Autosave> autosave_;
    std::shared_ptr<const ScenarioAnswer> prediction_;
    NamedFiles asked_files_;  ///< at the time of the verdict's request
    VerdictPanel* verdict_;
    ScenarioForm* form_;
    StartPage* start_;
    QStackedWidget* middle_;  ///< the start page, or the verdict above the pages
    QByteArray docks_;        ///< their state behind the start page
    ScenarioDock* scenarios_;
    Pages* pages_;
    Exports* exports_ = nullptr;
    bool close_once_written_ = false;
};

}  // namespace sluice
