#include "planner-gui/pages/validation_page.h"

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMimeData>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/picture_table.h"
#include "planner-gui/pictures/answer_words.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {
namespace {

constexpr int kMostNotes = 3;

QStringList local_files(const QMimeData* data) {
    QStringList files;
    for (const QUrl& url : data->urls())
        if (url.isLocalFile()) files << url.toLocalFile();
    return files;
}

}  // namespace

ValidationPage::ValidationPage(QWidget* parent)
    : AnswerPage(parent),
      parts_(new PictureTable(
          PictureTable::Arrangement::beside,
          {tr("Predicted over measured tokens per second"), tr("Measured runs"), {}, {}})),
      words_(text_label(tr("How far predictions are off"))),
      notes_(text_label(tr("Left out"))),
      files_(new QPushButton),
      folder_(new QPushButton(tr("Open &folder..."))) {
    setAccessibleName(tr("Validation"));
    setAcceptDrops(true);
    parts_->picture()->setLeastLines(10, 10);
    parts_->table()->setSortingEnabled(true);
    parts_->table()->sortByColumn(-1, Qt::AscendingOrder);
    files_->setToolTip(tr("Reports of the trainer, or tables of other systems' steps"));
    folder_->setToolTip(tr("All reports of a folder; its name is their group"));
    connect(files_, &QPushButton::clicked, this, &ValidationPage::filesWanted);
    connect(folder_, &QPushButton::clicked, this, &ValidationPage::folderWanted);
    connect(parts_, &PictureTable::adopted, this, &ValidationPage::runActivated);
    auto* const answer = new QWidget;
    auto* const column = new QVBoxLayout(answer);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(parts_, 1);
    column->addWidget(notes_);
    layOut(words_and_buttons(words_, {files_, folder_}), answer,
           {tr("How near are predictions to measured runs?"),
            tr("Open reports that the trainer wrote, or drop them here. They are "
               "compared with predictions for the scenario's machine."),
            tr("The scenario's machine has changed since these runs were compared with "
               "predictions for it.")},
           {words_, answer});
    connect(this, &AnswerPage::requested, this, [this] { compare(compared_); });
    setBusy(false);
    setValidation(nullptr);
}

void ValidationPage::setValidation(std::shared_ptr<const Validation> validation) {
    validation_ = std::move(validation);
    showAnswer(validation_ != nullptr);
    words_->setVisible(validation_ != nullptr);
    const bool runs = validation_ && !validation_->runs.empty();
    parts_->setPicture(runs
                           ? [all = validation_](
                                 const PictureSpace& space) { return scatter_picture(*all, space); }
                           : PictureView::Make());
    if (!validation_) return parts_->setTable({}, units_);
    words_->setText(validation_sentence(*validation_));
    QStringList notes;
    for (const auto* sentences : {&validation_->other_machines, &validation_->left_out})
        for (const std::string& sentence : *sentences) notes << qtext(sentence);
    show_sentences(notes_, notes, kMostNotes);
    notes_->setVisible(!notes.isEmpty());
    showRuns();
}

void ValidationPage::showRuns() {
    parts_->setTable(select(validation_table(*validation_, bytes_text(units_)),
                            {"name", "measured.tokens_per_s", "predicted.tokens_per_s",
                             "throughput_error", "device_error", "host_error"}),
                     units_);
}

void ValidationPage::showBusy() {
    for (QPushButton* const button : {files_, folder_}) button->setEnabled(!isBusy());
    files_->setText(isBusy() ? tr("Comparing ...") : tr("&Open reports..."));
}

void ValidationPage::compare(const QStringList& files) {
    if (files.isEmpty()) return;
    compared_ = files;
    Q_EMIT filesChosen(files);
}

void ValidationPage::setByteUnits(ByteUnits units) {
    units_ = units;
    if (validation_) showRuns();
}

void ValidationPage::dragEnterEvent(QDragEnterEvent* event) {
    if (!local_files(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void ValidationPage::dropEvent(QDropEvent* event) {
    const QStringList files = local_files(event->mimeData());
    if (files.isEmpty()) return;
    event->acceptProposedAction();
    compare(files);
}

QByteArray ValidationPage::svg() const { return parts_->picture()->svg(); }

QString ValidationPage::csv() const {
    return validation_ ? qtext(validation_csv(*validation_)) : QString();
}

}  // namespace sluice
