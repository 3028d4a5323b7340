// Which file is opened or written? Dialogs begin in the last folder and propose a name.
#pragma once

#include <QStringList>

class QWidget;

namespace sluice {

/// `filter` as in QFileDialog. Empty: nothing was chosen.
QString choose_to_open(QWidget* parent, const QString& title, const QString& filter);

/// The same for several files that are read together.
QStringList choose_several_to_open(QWidget* parent, const QString& title, const QString& filter);
QString choose_folder_to_open(QWidget* parent, const QString& title);

/// Proposes `file`, with or without a folder. Does not return a write-protected file: the user may
/// name another. Empty: nothing was chosen.
QString choose_to_save(QWidget* parent, const QString& title, const QString& filter,
                       const QString& suffix, const QString& file);

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
