#include "planner-gui/pages/prediction_page.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/picture_view.h"
#include "sim/plan/step.h"

namespace sluice {

PredictionPage::PredictionPage(Shown shown, QWidget* parent)
    : Page(parent),
      shown_(std::move(shown)),
      heading_(heading_label(tr("Plan"))),
      shortage_(text_label(tr("Shortage"))),
      view_(new PictureView(shown_.name, this)) {
    auto* const scroll = new QScrollArea(this);
    put_into(scroll, view_);
    auto* const column = new QVBoxLayout(this);
    column->addWidget(heading_);
    column->addWidget(shortage_);
    column->addWidget(scroll, 1);
    colour_as_warning(shortage_, this);
    refresh();
}

void PredictionPage::setReport(std::shared_ptr<const TimedPlan> report) {
    report_ = std::move(report);
    refresh();
}

void PredictionPage::setByteUnits(ByteUnits units) {
    units_ = units;
    refresh();
}

void PredictionPage::refresh() {
    if (report_)
        view_->setPicture(
            [picture = shown_.picture, report = report_,
             units = units_](const PictureSpace& space) { return picture(*report, units, space); });
    else
        view_->setPicture({});
    shortage_->setVisible(report_ && !report_->plan.fit.fits());
    if (!report_) {
        heading_->setText(tr("No prediction: the form says what is missing or wrong"));
        return;
    }
    heading_->setText(tr("%1 on %2: %3")
                          .arg(breakable(report_->asked.model_name),
                               qtext(report_->asked.machine_name),
                               report_->plan.fit.fits() ? tr("fits") : tr("does not fit")));
    QStringList words;
    for (const std::string& sentence : shortages(report_->plan, bytes_text(units_)))
        words += qtext(sentence);
    shortage_->setText(words.join(QLatin1Char('\n')));
}

QByteArray PredictionPage::svg() const { return view_->svg(); }

QString PredictionPage::csv() const {
    return report_ ? qtext(to_csv(shown_.table(*report_))) : QString();
}

}  // namespace sluice
