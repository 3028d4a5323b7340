// One field of the form: its label, an editor, and below it the sentence that says what is wrong.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QWidget>
#include <utility>
#include <vector>

namespace sluice {

class FieldRow : public QWidget {
    Q_OBJECT
  public:
    enum class Kind {
        text,    ///< a line of text
        choice,  ///< one of the choices
        search   ///< a line that offers the choices that contain the typed text
    };
    /// `field` as in InputError; `choices` for choice and search.
    FieldRow(const QString& field, const QString& label, Kind kind, const QStringList& choices = {},
             QWidget* parent = nullptr);

    QString field() const { return field_; }
    QString label() const;
    QString text() const;
    /// Does not emit edited(); the cursor stays if the text is the same.
    void setText(const QString& text);
    /// Other choices of a search, each with the line that the list shows for it. The text stays.
    void setChoices(const std::vector<std::pair<QString, QString>>& choices);
    /// Shown while the field is empty: the default.
    void setPlaceholder(const QString& text);
    void setUnit(const QString& unit);
    /// Shown in place of the unit beside a 0, and while the field is empty: "the whole batch".
    void setZero(const QString& words);
    void setHelp(const QString& help);
    /// Shows the help below the editor, too.
    void showHelp(bool on);
    /// A sentence below the editor; empty: nothing is wrong.
    void setMistake(const QString& sentence);
    QString mistake() const { return mistake_->text(); }
    /// A button at the end of the editor's line.
    void addBeside(QWidget* widget);
    QWidget* editor() const { return editor_; }

  Q_SIGNALS:
    void edited();

  private:
    QLineEdit* line() const;
    void showUnit();

    QString field_;
    QString unit_words_, zero_;
    QLabel* label_;
    QLabel* unit_;
    QLabel *mistake_, *help_;
    QWidget* editor_;
    QLayout* beside_;
    std::vector<std::pair<QString, QString>> choices_;  ///< of setChoices()
};

}  // namespace sluice
