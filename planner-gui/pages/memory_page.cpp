#include "planner-gui/pages/memory_page.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include "planner-gui/pages/memory_view.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/painted_picture.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

constexpr double kFileWidth = 1200, kFileHeight = 700;

QString text(const std::string& words) { return QString::fromStdString(words); }

}  // namespace

MemoryPage::MemoryPage(QWidget* parent)
    : QWidget(parent),
      heading_(heading_label(tr("Plan"))),
      shortage_(text_label(tr("Shortage"))),
      view_(new MemoryView(this)) {
    auto* const scroll = new QScrollArea(this);
    put_into(scroll, view_);
    auto* const column = new QVBoxLayout(this);
    column->addWidget(heading_);
    column->addWidget(shortage_);
    column->addWidget(scroll, 1);
    colour_as_warning(shortage_, this);
    refresh();
}

void MemoryPage::setReport(std::shared_ptr<const TimedPlan> report) {
    report_ = std::move(report);
    refresh();
}

void MemoryPage::setByteUnits(ByteUnits units) {
    view_->set_byte_units(units);
    refresh();
}

void MemoryPage::refresh() {
    view_->set_report(report_);
    shortage_->setVisible(report_ && !report_->plan.fit.fits());
    if (!report_) {
        heading_->setText(tr("No prediction: the form says what is missing or wrong"));
        return;
    }
    heading_->setText(tr("%1 on %2: %3")
                          .arg(breakable(report_->asked.model_name),
                               text(report_->asked.machine_name),
                               report_->plan.fit.fits() ? tr("fits") : tr("does not fit")));
    QStringList words;
    for (const std::string& sentence : shortages(report_->plan, bytes_text(view_->units())))
        words += text(sentence);
    shortage_->setText(words.join(QLatin1Char('\n')));
}

PaintedPicture MemoryPage::painted() const {
    const auto painter_for = [this](const QPaintDevice* device, const QFont& font) {
        static const Palette kLight = Palette::light();
        return MemoryPainter(view_->picture(), kLight, view_->units(), font, device);
    };
    return {heading_->text(), kFileWidth,
            [painter_for](const QPaintDevice* device, const QFont& font) {
                return painter_for(device, font).layout(kFileWidth, kFileHeight).height;
            },
            [painter_for](QPainter& painter, const QFont& font) {
                const MemoryPainter picture = painter_for(painter.device(), font);
                picture.paint(painter, picture.layout(kFileWidth, kFileHeight), std::nullopt);
            }};
}

QByteArray MemoryPage::svg() const { return report_ ? svg_of(painted()) : QByteArray(); }

QString MemoryPage::csv() const { return report_ ? memory_csv(*report_) : QString(); }

}  // namespace sluice
