#include "planner-gui/window/project_files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QUuid>
#include <utility>

#include "planner-gui/window/file_dialogs.h"
#include "sim/base/json_object.h"
#include "sim/base/write_file.h"

namespace sluice {
namespace {

constexpr int kSoonMs = 500;
constexpr int kMostRecent = 10;
const QString kRecent = QStringLiteral("recentProjects");

/// Null if the file cannot be read.
std::optional<std::string> text_of(const QString& file) {
    try {
        return read_text_file(file.toStdString());
    } catch (const InputError&) {
        return std::nullopt;
    }
}

QString lock_of(const QString& recovery) { return recovery + QStringLiteral(".lock"); }
QString path_of(const QString& recovery) { return recovery + QStringLiteral(".path"); }

void remove_all(const QString& recovery) {
    QFile::remove(recovery);
    QFile::remove(path_of(recovery));
}

}  // namespace

ProjectFiles::ProjectFiles(ScenarioStack& stack, QObject* parent)
    : QObject(parent), stack_(stack) {}

void ProjectFiles::open(const QString& file) {
    const std::string path = file.toStdString();
    std::string text = read_text_file(path);
    stack_.open(parse_project(text, path));
    const bool page = is_page(text);  // its scenarios are saved as a project of their own
    on_disk_.reset();
    if (!page) on_disk_ = std::move(text);
    setFile(page ? QString() : file);
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
    stack_.setUnsaved();
    on_disk_.reset();
    const QFileInfo info(recovered.file);
    // The crashed session did not know of later changes to the file.
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

Autosave::Autosave(ScenarioStack& stack, const QString& folder, QObject* parent)
    : QObject(parent), stack_(stack) {
    QDir().mkpath(folder);
    recovery_ = QDir(folder).filePath(
        QStringLiteral("recovery-%1.json").arg(QUuid::createUuid().toString(QUuid::Id128)));
    lock_ = std::make_unique<QLockFile>(lock_of(recovery_));
    lock_->setStaleLockTime(0);  // a lock is stale only if its process has ended
    lock_->tryLock(0);
    timer_.setSingleShot(true);
    timer_.setInterval(kSoonMs);
    connect(&timer_, &QTimer::timeout, this, &Autosave::write);
    const auto soon = [this] { timer_.start(); };
    connect(&stack_, &ScenarioStack::listChanged, this, soon);
    connect(&stack_, &ScenarioStack::dirtyChanged, this, soon);
}

Autosave::~Autosave() { remove(); }

void Autosave::remove() {
    remove_all(recovery_);
    written_file_.reset();
}

void Autosave::setFile(const QString& file) { file_ = file; }

bool Autosave::write() {
    if (!stack_.isDirty()) {
        remove();
        return true;
    }
    try {
        if (written_file_ != file_)
            write_file(path_of(recovery_).toStdString(), file_.toStdString());
        written_file_ = file_;
        write_file(recovery_.toStdString(), project_json(stack_.project()));
        failing_ = false;
    } catch (const InputError& error) {
        if (!failing_) Q_EMIT failed(QString::fromUtf8(error.what()));
        failing_ = true;
    }
    return !failing_;
}

QList<Recovered> Autosave::find(const QString& folder) {
    QList<Recovered> out;
    const QFileInfoList files =
        QDir(folder).entryInfoList({QStringLiteral("recovery-*.json")}, QDir::Files, QDir::Time);
    for (const QFileInfo& info : files) {
        const QString recovery = info.filePath();
        QLockFile lock(lock_of(recovery));
        lock.setStaleLockTime(0);
        // Another session holds the lock; other failures mean that the disk is full or read-only.
        if (!lock.tryLock(0) && lock.error() == QLockFile::LockFailedError) continue;
        try {
            Recovered found;
            found.project =
                parse_project(read_text_file(recovery.toStdString()), recovery.toStdString());
            found.recovery = recovery;
            found.written = info.lastModified();
            QFile path(path_of(recovery));
            if (path.open(QIODevice::ReadOnly)) found.file = QString::fromUtf8(path.readAll());
            out.push_back(std::move(found));
        } catch (const InputError&) {
            continue;
        }
    }
    return out;
}

void Autosave::forget(const Recovered& recovered) { remove_all(recovered.recovery); }

}  // namespace sluice
