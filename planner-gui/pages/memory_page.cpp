#include "planner-gui/pages/memory_page.h"

#include <QBuffer>
#include <QEvent>
#include <QLabel>
#include <QScrollArea>
#include <QSvgGenerator>
#include <QVBoxLayout>

#include "planner-gui/pages/memory_view.h"

namespace sluice {
namespace {

constexpr double kSvgWidth = 1200, kSvgHeight = 700;

QString text(const std::string& words) { return QString::fromStdString(words); }

QLabel* words_label(QWidget* parent, const QString& name) {
    auto* const label = new QLabel(parent);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setAccessibleName(name);
    return label;
}

}  // namespace

MemoryPage::MemoryPage(QWidget* parent)
    : QWidget(parent),
      heading_(words_label(this, tr("Plan"))),
      shortage_(words_label(this, tr("Shortage"))),
      view_(new MemoryView(this)) {
    QFont bold = heading_->font();
    bold.setBold(true);
    heading_->setFont(bold);
    auto* const scroll = new QScrollArea(this);
    scroll->setWidget(view_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* const column = new QVBoxLayout(this);
    column->addWidget(heading_);
    column->addWidget(shortage_);
    column->addWidget(scroll, 1);
    refresh();
}

void MemoryPage::setReport(std::shared_ptr<const StepReport> report) {
    report_ = std::move(report);
    refresh();
}

void MemoryPage::setByteUnits(ByteUnits units) { view_->set_byte_units(units); }

void MemoryPage::refresh() {
    view_->set_report(report_);
    shortage_->setVisible(report_ && !report_->fit.fits());
    if (!report_) {
        heading_->setText(tr("No prediction yet"));
        return;
    }
    heading_->setText(tr("%1 on %2: %3")
                          .arg(text(report_->model_name), text(report_->machine_name),
                               report_->fit.fits() ? tr("fits") : tr("does not fit")));
    QStringList words;
    for (const std::string& sentence : shortages(*report_)) words += text(sentence);
    shortage_->setText(words.join(QLatin1Char('\n')));
}

void MemoryPage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange) return;
    QPalette warning = palette();
    warning.setColor(QPalette::WindowText, Palette(palette()).waiting());
    shortage_->setPalette(warning);
}

QByteArray MemoryPage::svg() const {
    if (!report_) return {};
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setResolution(96);
    QFont font(QStringLiteral("sans-serif"));
    font.setPixelSize(13);
    const Palette light = Palette::light();
    const MemoryPainter picture(view_->picture(), light, view_->units(), font, &generator);
    const MemoryLayout layout = picture.layout(kSvgWidth, kSvgHeight);
    const QRectF all(0, 0, kSvgWidth, layout.height);
    generator.setSize(all.size().toSize());
    generator.setViewBox(all);
    generator.setTitle(heading_->text());
    QPainter painter(&generator);
    painter.fillRect(all, Qt::white);
    picture.paint(painter, layout, std::nullopt);
    painter.end();
    return bytes;
}

QString MemoryPage::csv() const { return report_ ? memory_csv(*report_) : QString(); }

}  // namespace sluice
