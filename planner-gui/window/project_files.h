// Which file is the project kept in, which were opened recently, and what is left of a session that
// crashed?
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

/// What a crashed session left.
struct Recovered {
    Project project;
    QString file;      ///< that it was opened from or saved to; empty: none
    QString recovery;  ///< where it was found
    QDateTime written;
};

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

/// Writes every edit to a recovery file soon after it.
class Autosave : public QObject {
    Q_OBJECT
  public:
    /// Writes to a file of its own in `folder`, whenever the project differs from what is saved.
    Autosave(ScenarioStack& stack, const QString& folder, QObject* parent = nullptr);
    /// The session ended as it should: nothing is left.
    ~Autosave() override;

    /// The file that the project belongs to.
    void setFile(const QString& file);
    /// At once; false where it cannot be written.
    bool write();

    /// What crashed sessions left in the folder, the newest first; of a running session nothing.
    /// Files that cannot be read are passed over.
    static QList<Recovered> find(const QString& folder);
    static void forget(const Recovered& recovered);

  Q_SIGNALS:
    /// It cannot be written: the sentence. Said once until it can again.
    void failed(QString sentence);

  private:
    void remove();

    ScenarioStack& stack_;
    QString file_, recovery_;
    std::optional<QString> written_file_;  ///< beside recovery_
    std::unique_ptr<QLockFile> lock_;
    QTimer timer_;
    bool failing_ = false;
};

}  // namespace sluice
