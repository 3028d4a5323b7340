// One field of the form: its label, an editor, and beneath it the sentence that says what is wrong.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QWidget>
#include <vector>

namespace sluice {

/// The editor leaves the shortcuts of undo and redo to its window, as every key is an edit of the
/// scenario: Qt's editors would take them for a history of their own, which is empty as soon as
/// another field was typed into.
void leave_undo_to_window(QWidget* editor);

class FieldRow : public QWidget {
    Q_OBJECT
  public:
    enum class Kind {
        text,    ///< a line
        choice,  ///< one of the choices
        search   ///< a line that offers the choices that contain what is typed
    };
    /// `field` as in InputError; `choices` of choice and search.
    FieldRow(const QString& field, const QString& label, Kind kind, const QStringList& choices = {},
             QWidget* parent = nullptr);

    QString field() const { return field_; }
    QString label() const;
    QString text() const;
    /// Without edited(); the cursor stays where the text is the same.
    void setText(const QString& text);
    /// Shown while it is empty: the default.
    void setPlaceholder(const QString& text);
    void setUnit(const QString& unit);
    void setHelp(const QString& help);
    /// A sentence beneath the editor; empty: nothing is wrong.
    void setMistake(const QString& sentence);
    QString mistake() const { return mistake_->text(); }
    /// A button or so at the end of the editor's line.
    void addBeside(QWidget* widget);
    QWidget* editor() const { return editor_; }

  Q_SIGNALS:
    void edited();

  private:
    QLineEdit* line() const;

    QString field_;
    QLabel* label_;
    QLabel* unit_;
    QLabel* mistake_;
    QWidget* editor_;
    QLayout* beside_;
};

}  // namespace sluice
