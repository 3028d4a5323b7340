// Which file holds the project, which files were opened recently, and what did a crashed session
// leave?
#pragma once

#include <QDateTime>
#include <QLockFile>
#include <QObject>
#include <QStringList>
#include <QTimer>
#include <memory>
#include <optional>
#include <string>

#include "planner-gui/session/scenario_stack.h"

namespace sluice {

struct Recovered {
    Project project;
    QString file;      ///< the file that it was opened from or saved to; empty: none
    QString recovery;  ///< the file that it was recovered from
    QDateTime written;
};

class ProjectFiles : public QObject {
    Q_OBJECT
  public:
    explicit ProjectFiles(ScenarioStack& stack, QObject* parent = nullptr);

    const QString& file() const { return file_; }  ///< empty: not saved yet
    /// Each throws InputError, and then changes nothing.
    void open(const QString& file);
    void save(const QString& file);
    void start(const PlannedScenario& scenario);
    /// Opens a crashed session's project, which counts as not saved.
    void recover(const Recovered& recovered);
    /// Whether file() has changed since it was opened or saved. False if it is gone.
    bool changedOnDisk() const;

    static QStringList recent();
    static void forgetRecent(const QString& file);

  Q_SIGNALS:
    void fileChanged(QString file);

  private:
    void setFile(const QString& file);

    ScenarioStack& stack_;
    QString file_;
    std::optional<std::string> on_disk_;  ///< the text of file_; empty: not known
};

/// Writes every edit to a recovery file soon after it.
class Autosave : public QObject {
    Q_OBJECT
  public:
    /// Writes to its own file in `folder` whenever the project differs from the saved one.
    Autosave(ScenarioStack& stack, const QString& folder, QObject* parent = nullptr);
    /// The session has ended normally: removes the recovery file.
    ~Autosave() override;

    /// The file that the project belongs to.
    void setFile(const QString& file);
    /// Writes at once; false if that fails.
    bool write();

    /// Projects of crashed sessions in the folder, the newest first. Skips those of running
    /// sessions and files that cannot be read.
    static QList<Recovered> find(const QString& folder);
    static void forget(const Recovered& recovered);

  Q_SIGNALS:
    /// A sentence why the recovery file cannot be written; emitted once until writing works again.
    void failed(QString sentence);

  private:
    void remove();

    ScenarioStack& stack_;
    QString file_, recovery_;
    std::optional<QString> written_file_;  ///< in addition to recovery_
    std::unique_ptr<QLockFile> lock_;
    QTimer timer_;
    bool failing_ = false;
};

}  // namespace sluice
