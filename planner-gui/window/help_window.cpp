#include "planner-gui/window/help_window.h"

#include <QTabWidget>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "sim/base/embedded_files.h"

namespace sluice {

HelpWindow::HelpWindow(QWidget* parent) : QDialog(parent), pages_(new QTabWidget(this)) {
    constexpr int kCharacters = 90, kLines = 36;
    setWindowTitle(tr("Help"));
    auto* const column = new QVBoxLayout(this);
    column->addWidget(pages_);
    for (const EmbeddedFile& file : embedded_help()) {
        auto* const page = new QTextBrowser(pages_);
        page->setObjectName(QString::fromUtf8(file.name));
        page->setMarkdown(QString::fromUtf8(file.text));
        page->setOpenLinks(false);  // pages of docs are not files of the program
        const bool tour = file.name == "tour";
        page->setAccessibleName(tour ? tr("Tour") : tr("Words"));
        pages_->addTab(page, page->accessibleName());
    }
    resize(kCharacters * fontMetrics().averageCharWidth(), kLines * fontMetrics().height());
}

void HelpWindow::openPage(const QString& name) {
    pages_->setCurrentWidget(pages_->findChild<QTextBrowser*>(name));
    show();
    raise();
    activateWindow();
}

}  // namespace sluice
