// The fields of the start page.
#pragma once

#include <QWidget>
#include <map>

#include "planner-gui/window/start_question.h"

namespace sluice {

class FieldRow;

class StartForm : public QWidget {
    Q_OBJECT
  public:
    explicit StartForm(QWidget* parent = nullptr);

    /// The row of one of asked_run_fields().
    FieldRow* row(const std::string& field) const { return rows_.at(field); }
    StartFields fields() const;
    void setFields(const StartFields& fields);
    /// As on a first start.
    const StartFields& standard() const { return standard_; }
    /// Empty if a field is wrong; its row then says so.
    std::optional<RunQuestion> question();

  Q_SIGNALS:
    void edited();
    /// The Return key.
    void entered();

  private:
    FieldRow* addRow(const std::string& field, const QString& label, int kind,
                     const QStringList& choices, const QString& value, const QString& help);

    std::map<std::string, FieldRow*> rows_;
    StartFields standard_;
};

}  // namespace sluice
