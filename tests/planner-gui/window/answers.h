// Answers to questions and file dialogs that open next.
#pragma once

#include <QApplication>
#include <QCompleter>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QListView>
#include <QMessageBox>
#include <QPushButton>
#include <QTest>
#include <QTimer>
#include <utility>

namespace sluice::test {

/// Calls `answer` with each modal widget that is open, until it says that it has answered. Deleted
/// with its answer or the program.
template <typename Answer>
QTimer* poll_modal(Answer answer) {
    auto* const poll = new QTimer(qApp);
    QObject::connect(poll, &QTimer::timeout, poll, [poll, answer]() mutable {
        QWidget* const open = QApplication::activeModalWidget();
        if (open == nullptr || !answer(open)) return;
        poll->stop();  // it is deleted only by an outer event loop
        poll->deleteLater();
    });
    poll->start(10);
    return poll;
}

/// Presses a button of the question that opens next.
inline void answer_next(QMessageBox::StandardButton button) {
    poll_modal([button](QWidget* open) {
        auto* const box = qobject_cast<QMessageBox*>(open);
        if (box == nullptr || box->button(button) == nullptr) return false;
        QTest::mouseClick(box->button(button), Qt::LeftButton);
        return true;
    });
}

/// The same, by a part of the button's text.
inline void answer_next(const QString& text) {
    poll_modal([text](QWidget* open) {
        auto* const box = qobject_cast<QMessageBox*>(open);
        if (box == nullptr) return false;
        for (QAbstractButton* const button : box->buttons())
            if (button->text().remove(QLatin1Char('&')).contains(text)) {
                QTest::mouseClick(button, Qt::LeftButton);
                return true;
            }
        return false;
    });
}

/// Gives the file dialog that opens next this name, as a person does.
class FileAnswer {
  public:
    explicit FileAnswer(const QString& file)
        : poll_(poll_modal([this, file](QWidget* open) { return answer(open, file); })) {}
    ~FileAnswer() {
        if (!given_) delete poll_;
    }
    FileAnswer(const FileAnswer&) = delete;
    FileAnswer& operator=(const FileAnswer&) = delete;

    bool given() const { return given_; }

  private:
    bool answer(QWidget* open, const QString& file) {
        auto* const dialog = qobject_cast<QFileDialog*>(open);
        if (dialog == nullptr) return false;
        auto* const name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        auto* const buttons = dialog->findChild<QDialogButtonBox*>();
        if (name == nullptr || buttons == nullptr) {
            dialog->reject();
            return false;
        }
        // Its folder is not typed: the dialog would complete its parts as it finds them.
        if (!std::exchange(has_folder_, true)) dialog->setDirectory(QFileInfo(file).path());
        name->selectAll();
        QTest::keyClicks(name, QFileInfo(file).fileName());
        if (name->completer() != nullptr) name->completer()->popup()->hide();
        QAbstractButton* accept = nullptr;
        for (QAbstractButton* const button : buttons->buttons())
            if (buttons->buttonRole(button) == QDialogButtonBox::AcceptRole) accept = button;
        // A name that was selected before comes back once the folder has been read.
        if (dialog->selectedFiles() != QStringList{file}) return false;
        if (accept == nullptr || !accept->isEnabled()) return false;
        QTest::mouseClick(accept, Qt::LeftButton);
        given_ = dialog->result() == QDialog::Accepted;
        return given_;
    }

    bool has_folder_ = false;
    bool given_ = false;
    QTimer* poll_;  // last: it uses the others
};

}  // namespace sluice::test
