// Which file is the project kept in; which were opened recently?
#pragma once

#include <QObject>
#include <QStringList>
#include <optional>
#include <string>

#include "planner-gui/session/autosave.h"
#include "planner-gui/session/scenario_stack.h"

namespace sluice {

class ProjectFiles : public QObject {
    Q_OBJECT
  public:
    explicit ProjectFiles(ScenarioStack& stack, QObject* parent = nullptr);

    const QString& file() const { return file_; }  ///< empty: not saved yet
    /// Each throws InputError and leaves all as it was.
    void open(const QString& file);
    void save(const QString& file);
    /// A new project with this one.
    void start(const PlannedScenario& scenario);
    /// What a crashed session left; it is not saved yet.
    void recover(const Recovered& recovered);
    /// Whether file() holds something else than what was opened or saved. Where it is gone it does
    /// not.
    bool changedOnDisk() const;

    static QStringList recent();
    static void forgetRecent(const QString& file);

  Q_SIGNALS:
    void fileChanged(QString file);

  private:
    void setFile(const QString& file);

    ScenarioStack& stack_;
    QString file_;
    std::optional<std::string> on_disk_;  ///< the text of file_; none: not known
};

}  // namespace sluice
