// Which file is opened or written? Dialogs begin in the last folder and propose a name.
#pragma once

#include <QList>
#include <QStringList>

class QWidget;

namespace sluice {

/// `filter` as in QFileDialog. Empty: nothing was chosen.
QString choose_to_open(QWidget* parent, const QString& title, const QString& filter);

/// The same for several files that are read together.
QStringList choose_several_to_open(QWidget* parent, const QString& title, const QString& filter);
QString choose_folder_to_open(QWidget* parent, const QString& title);

/// A format of files, which the end of a file's name tells.
struct FileFormat {
    QString suffix;  ///< "html"
    QString name;    ///< "Page for a browser"
};

/// Proposes `file`, with or without a folder, whose format is selected. The returned name ends in
/// the suffix of one of the formats; a name without one gets that of the selected format. Asks
/// before it returns an existing file, and does not return a write-protected one: the user may name
/// another. Empty: nothing was chosen.
QString choose_to_save(QWidget* parent, const QString& title, const QList<FileFormat>& formats,
                       const QString& file);
/// The suffix of the format that such a name has, in lower case; empty: none of them.
QString format_of(const QString& file, const QList<FileFormat>& formats);

/// The next dialog begins in the folder of `file`.
void remember_folder(const QString& file);

/// A file name made of `name` that is valid on any system: "7B / 8B?" becomes "7B - 8B-". Never
/// empty.
QString safe_file_name(const QString& name);

/// Whether nobody, or not this user, may write the file. A missing file is not protected.
bool is_write_protected(const QString& file);
/// Shows a warning with one button per choice; the first is the default. Returns the index of the
/// choice; -1: Cancel.
int ask(QWidget* parent, const QString& title, const QString& text, const QStringList& choices);
/// Says that `file` is write-protected; returns whether the user wants to name another.
bool ask_for_another(QWidget* parent, const QString& file);

}  // namespace sluice
