// The window of help: a tour, and what the words mean.
#pragma once

#include <QDialog>

class QTabWidget;

namespace sluice {

class HelpWindow : public QDialog {
    Q_OBJECT
  public:
    explicit HelpWindow(QWidget* parent);
    /// Shows the page of docs with that name: "tour", "glossary".
    void openPage(const QString& name);

  private:
    QTabWidget* pages_;
};

}  // namespace sluice
