#include "planner-gui/window/project_files.h"

#include <QFileInfo>
#include <QSettings>

#include "sim/json_object.h"
#include "sim/write_file.h"

namespace sluice {
namespace {

constexpr int kMostRecent = 10;
const QString kRecent = QStringLiteral("recentProjects");

}  // namespace

ProjectFiles::ProjectFiles(ScenarioStack& stack, QObject* parent)
    : QObject(parent), stack_(stack) {}

void ProjectFiles::open(const QString& file) {
    const std::string path = file.toStdString();
    stack_.open(parse_project(read_text_file(path), path));
    setFile(file);
}

void ProjectFiles::save(const QString& file) {
    write_file(file.toStdString(), project_json(stack_.project()));
    stack_.setSaved();
    setFile(file);
}

void ProjectFiles::start(const PlannedScenario& scenario) {
    stack_.open({{scenario}, 0});
    setFile({});
}

void ProjectFiles::recover(const Project& project, const QString& file) {
    stack_.open(project);
    stack_.undoStack().resetClean();
    setFile(file);
}

QStringList ProjectFiles::recent() { return QSettings().value(kRecent).toStringList(); }

void ProjectFiles::forgetRecent(const QString& file) {
    QStringList files = recent();
    files.removeAll(file);
    QSettings().setValue(kRecent, files);
}

void ProjectFiles::setFile(const QString& file) {
    file_ = file.isEmpty() ? file : QFileInfo(file).absoluteFilePath();
    if (!file_.isEmpty()) {
        QStringList files = recent();
        files.removeAll(file_);
        files.prepend(file_);
        QSettings().setValue(kRecent, QStringList(files.mid(0, kMostRecent)));
    }
    Q_EMIT fileChanged(file_);
}

}  // namespace sluice
