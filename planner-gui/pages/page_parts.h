// Parts that pages are put together from.
#pragma once

#include <QLabel>
#include <QScrollArea>

class QPushButton;

namespace sluice {

/// Wrapped text that can be selected with mouse and keyboard.
QLabel* text_label(const QString& accessible_name);

/// The same, bold, and as narrow as need be: the name of a model may be one very long word.
QLabel* heading_label(const QString& accessible_name);

/// A name that may go on on another line of a label, however long it is.
QString breakable(const std::string& name);

/// Puts `widget` into `area`, which it fills; without a frame, and no stop of the Tab key.
void put_into(QScrollArea* area, QWidget* widget);

/// A row: the words, which may be hidden, and at its end the buttons.
QWidget* words_and_buttons(QLabel* words, const QList<QPushButton*>& buttons);

/// As high as its widget needs at its width where there is room, else it scrolls, vertically only.
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

/// Its words in the colour of what waits or is short, in light and dark, as its page has it.
void colour_as_warning(QLabel* label, QWidget* page);

/// A tooltip of these lines, each wrapped where it is long.
QString wrapped_tooltip(const QString& lines);

/// With a large letter.
QString capitalized(QString sentence);

/// The first sentences, a line each, and how many more there are; all of them as a tooltip.
void show_sentences(QLabel* label, const QStringList& sentences, int most);

}  // namespace sluice
