#include "planner-gui/window/file_dialogs.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QSettings>
#include <algorithm>

namespace sluice {
namespace {

const QString kFolder = QStringLiteral("lastFolder");

/// Empty if there is none or it was removed; dialogs then begin in the working folder.
QString last_folder() {
    const QString folder = QSettings().value(kFolder).toString();
    return QFileInfo(folder).isDir() ? folder : QString();
}

}  // namespace

void remember_folder(const QString& file) {
    QSettings().setValue(kFolder, QFileInfo(file).absolutePath());
}

QString choose_to_open(QWidget* parent, const QString& title, const QString& filter) {
    const QString file = QFileDialog::getOpenFileName(parent, title, last_folder(), filter);
    if (!file.isEmpty()) remember_folder(file);
    return file;
}

QStringList choose_several_to_open(QWidget* parent, const QString& title, const QString& filter) {
    const QStringList files = QFileDialog::getOpenFileNames(parent, title, last_folder(), filter);
    if (!files.isEmpty()) remember_folder(files.front());
    return files;
}

QString choose_folder_to_open(QWidget* parent, const QString& title) {
    const QString folder = QFileDialog::getExistingDirectory(parent, title, last_folder());
    if (!folder.isEmpty()) remember_folder(folder);
    return folder;
}

QString format_of(const QString& file, const QList<FileFormat>& formats) {
    const QString suffix = QFileInfo(file).suffix().toLower();
    const bool known =
        std::ranges::any_of(formats, [&](const FileFormat& one) { return one.suffix == suffix; });
    return known ? suffix : QString();
}

QString choose_to_save(QWidget* parent, const QString& title, const QList<FileFormat>& formats,
                       const QString& file) {
    QFileDialog dialog(parent, title, last_folder());
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    QStringList filters;
    dialog.setDefaultSuffix(formats.front().suffix);
    for (const FileFormat& one : formats) {
        filters << QStringLiteral("%1 (*.%2)").arg(one.name, one.suffix);
        if (one.suffix == format_of(file, formats)) dialog.setDefaultSuffix(one.suffix);
    }
    dialog.setNameFilters(filters);
    const auto select = [&](const QString& suffix) {
        for (qsizetype i = 0; i < formats.size(); ++i)
            if (formats[i].suffix == suffix) dialog.selectNameFilter(filters[i]);
    };
    QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog, [&](const QString& filter) {
        dialog.setDefaultSuffix(formats[filters.indexOf(filter)].suffix);
    });
    select(dialog.defaultSuffix());
    dialog.selectFile(file);
    while (dialog.exec() == QDialog::Accepted) {
        QString chosen = dialog.selectedFiles().front();
        // The dialog takes what follows the dot of "qwen2.5-72b" for a suffix.
        const bool whole = !format_of(chosen, formats).isEmpty();
        if (!whole) chosen += QLatin1Char('.') + dialog.defaultSuffix();
        if (!whole && QFileInfo::exists(chosen) &&
            ask(parent, QObject::tr("Overwrite?"),
                QObject::tr("%1 exists.").arg(QDir::toNativeSeparators(chosen)),
                {QObject::tr("&Overwrite the file")}) != 0)
            continue;
        if (!is_write_protected(chosen)) {
            remember_folder(chosen);
            return chosen;
        }
        if (!ask_for_another(parent, chosen)) break;
    }
    return {};
}

QString safe_file_name(const QString& name) {
    constexpr qsizetype kLongest = 60;  // characters of up to four bytes, with a suffix: below 255
    static const QRegularExpression unsafe(QStringLiteral(R"([/\\:*?"<>|\x00-\x1f\x7f])"));
    QString out = name.simplified().replace(unsafe, QStringLiteral("-")).left(kLongest);
    // Names that systems hide or cut off.
    while (out.startsWith(QLatin1Char('.'))) out.remove(0, 1);
    while (out.endsWith(QLatin1Char('.')) || out.endsWith(QLatin1Char(' '))) out.chop(1);
    return out.isEmpty() ? QStringLiteral("scenario") : out;
}

bool is_write_protected(const QString& file) {
    const QFileInfo info(file);
    if (!info.exists()) return false;
    // An administrator could write it, but it was protected on purpose.
    constexpr QFile::Permissions kWrites =
        QFile::WriteOwner | QFile::WriteGroup | QFile::WriteOther;
    return !info.isWritable() || !(info.permissions() & kWrites);
}

int ask(QWidget* parent, const QString& title, const QString& text, const QStringList& choices) {
    QMessageBox box(QMessageBox::Warning, title, text, QMessageBox::Cancel, parent);
    QList<QAbstractButton*> buttons;
    for (const QString& choice : choices)
        buttons << box.addButton(
            choice, buttons.isEmpty() ? QMessageBox::AcceptRole : QMessageBox::DestructiveRole);
    box.setDefaultButton(static_cast<QPushButton*>(buttons.front()));
    box.exec();
    return static_cast<int>(buttons.indexOf(box.clickedButton()));
}

bool ask_for_another(QWidget* parent, const QString& file) {
    return ask(parent, QObject::tr("Write-protected"),
               QObject::tr("%1 is write-protected; save under another name, or remove the "
                           "protection first.")
                   .arg(QDir::toNativeSeparators(file)),
               {QObject::tr("Save &as...")}) == 0;
}

}  // namespace sluice
