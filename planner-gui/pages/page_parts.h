// Which parts do pages share?
#pragma once

#include <QLabel>
#include <QScrollArea>

class QAbstractButton;
class QPushButton;

namespace sluice {

/// Gives the application this palette.
void use_palette(const QPalette& palette);

/// Undo and redo are left to the window, since every key is an edit of the scenario. Qt's editors
/// have their own history, which is empty after an edit of another field.
void leave_undo_to_window(QWidget* editor);
/// The mouse wheel scrolls the area around the editor and does not change its value.
void leave_wheel_to_area(QWidget* editor);

/// Wrapped text that can be selected with mouse and keyboard.
QLabel* text_label(const QString& accessible_name);

/// The same in bold, and as narrow as necessary: a model's name may be one very long word.
QLabel* heading_label(const QString& accessible_name);

/// Wrapped text that can be selected, in bold if its letters are larger by a factor.
QLabel* sized_label(const QString& text, double factor = 1);

/// A name that may wrap within a label, however long it is.
QString breakable(const std::string& name);

/// Puts `widget` into `area`, which it fills, without a frame and without a stop of the Tab key.
void put_into(QScrollArea* area, QWidget* widget);

/// A row: the text, which may be hidden, and the buttons at its end.
QWidget* words_and_buttons(QLabel* words, const QList<QAbstractButton*>& buttons);

/// A scroll area with the height that its widget needs at its width. With less room it scrolls,
/// only vertically.
class FittedArea : public QScrollArea {
    Q_OBJECT
  public:
    explicit FittedArea(QWidget* widget);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    bool viewportEvent(QEvent* event) override;

  private:
    int widgetHeight() const;
};

/// Colours its text as waits and shortages are coloured, in light and dark mode.
void colour_as_warning(QLabel* label, QWidget* page);

/// A tooltip of these lines; long lines wrap.
QString wrapped_tooltip(const QString& lines);

/// The text with a capital first letter.
QString capitalized(QString sentence);

/// Shows the first sentences, one per line, and how many more there are; the tooltip has all.
void show_sentences(QLabel* label, const QStringList& sentences, int most);

}  // namespace sluice
