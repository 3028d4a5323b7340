#include "planner-gui/window/pages.h"

namespace sluice {

Pages::Pages(ScenarioStack& stack, PlannerSession& session, QWidget* parent)
    : QTabWidget(parent), stack_(stack), session_(session) {
    setDocumentMode(true);
}

void Pages::setPrediction(const std::shared_ptr<const Prediction>& prediction) {
    prediction_ = prediction;
}

void Pages::setByteUnits(ByteUnits) {}

QByteArray Pages::svg() const { return {}; }

QString Pages::csv() const { return {}; }

QString Pages::name() const { return QStringLiteral("page"); }

void Pages::showMachines() {}

}  // namespace sluice
