// Which file is opened or written? Dialogs begin in the folder that was used last and propose a
// name.
#pragma once

#include <QStringList>

class QWidget;

namespace sluice {

/// `filter` as of QFileDialog. Empty: nothing was chosen.
QString choose_to_open(QWidget* parent, const QString& title, const QString& filter);

/// The same of files that are read together.
QStringList choose_several_to_open(QWidget* parent, const QString& title, const QString& filter);
QString choose_folder_to_open(QWidget* parent, const QString& title);

/// `file` is proposed, with or without a folder. A file that is write-protected is not returned:
/// the user may name another. Empty: nothing was chosen.
QString choose_to_save(QWidget* parent, const QString& title, const QString& filter,
                       const QString& suffix, const QString& file);

/// The next dialog begins in the folder of `file`.
void remember_folder(const QString& file);

/// `name` as the name of a file on any system: "7B / 8B?" becomes "7B - 8B-". Never empty.
QString safe_file_name(const QString& name);

/// Whether its permissions say that nobody writes it, or that we do not. A file that is not there
/// is not protected.
bool is_write_protected(const QString& file);
/// Warns, with a button for each choice, the first of which is the default. Returns the place of
/// the one that was pressed; -1: Cancel.
int ask(QWidget* parent, const QString& title, const QString& text, const QStringList& choices);
/// Says that `file` is write-protected; whether the user wants to name another.
bool ask_for_another(QWidget* parent, const QString& file);

}  // namespace sluice
