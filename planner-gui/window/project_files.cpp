#include "planner-gui/window/project_files.h"

#include <QFileInfo>
#include <QSettings>
#include <utility>

#include "planner-gui/window/file_dialogs.h"
#include "sim/base/json_object.h"
#include "sim/base/write_file.h"

namespace sluice {
namespace {

constexpr int kMostRecent = 10;
const QString kRecent = QStringLiteral("recentProjects");

/// None where it cannot be read.
std::optional<std::string> text_of(const QString& file) {
    try {
        return read_text_file(file.toStdString());
    } catch (const InputError&) {
        return std::nullopt;
    }
}

}  // namespace

ProjectFiles::ProjectFiles(ScenarioStack& stack, QObject* parent)
    : QObject(parent), stack_(stack) {}

void ProjectFiles::open(const QString& file) {
    const std::string path = file.toStdString();
    std::string text = read_text_file(path);
    stack_.open(parse_project(text, path));
    on_disk_ = std::move(text);
    setFile(file);
}

void ProjectFiles::save(const QString& file) {
    std::string text = project_json(stack_.project());
    write_file(file.toStdString(), text);
    on_disk_ = std::move(text);
    stack_.setSaved();
    setFile(file);
}

void ProjectFiles::start(const PlannedScenario& scenario) {
    stack_.open({{scenario}, 0});
    on_disk_.reset();
    setFile({});
}

void ProjectFiles::recover(const Recovered& recovered) {
    stack_.open(recovered.project);
    stack_.undoStack().resetClean();
    on_disk_.reset();
    const QFileInfo info(recovered.file);
    // What was written to it later the crashed session did not know.
    if (info.exists() && info.lastModified() <= recovered.written)
        on_disk_ = text_of(recovered.file);
    setFile(recovered.file);
}

bool ProjectFiles::changedOnDisk() const {
    return QFileInfo::exists(file_) && (!on_disk_ || text_of(file_) != on_disk_);
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
        remember_folder(file_);
        QStringList files = recent();
        files.removeAll(file_);
        files.prepend(file_);
        QSettings().setValue(kRecent, QStringList(files.mid(0, kMostRecent)));
    }
    Q_EMIT fileChanged(file_);
}

}  // namespace sluice
