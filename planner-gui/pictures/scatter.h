// Where does each measured run lie in the picture of predicted over measured tokens/s?
#pragma once

#include <QFontMetricsF>
#include <QLineF>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <vector>

#include "sim/answers/validate/validation.h"

namespace sluice {

/// Pixels.
struct ScatterPoint {
    QPointF at;
    int run = 0;    ///< of the validation
    int group = 0;  ///< place in group_names()
};

struct ScatterTick {
    double x = 0, y = 0;  ///< of the same value on both axes
    QString text;
    // False: there is no room for its name on that axis.
    bool named_below = true, named_left = true;
};

struct ScatterLayout {
    QRectF plot;  ///< both axes go from the same value to the same, logarithmically
    std::vector<ScatterPoint> points;
    std::vector<ScatterTick> ticks;
    QLineF exact;         ///< predicted is measured
    QLineF above, below;  ///< 5% more and less
    double radius = 0;
};

/// Precondition: the validation has a run.
ScatterLayout place_scatter(const Validation& validation, const QRectF& area,
                            const QFontMetricsF& font);

/// The run whose point is nearest, at most two radii away; -1: none.
int run_at(const ScatterLayout& layout, QPointF point);

/// Name, measured, predicted and their difference, a line each.
QString run_tooltip(const RunComparison& run);

/// "28 runs: tokens/s off by 2.1% in the mean, most +6.0% (14b ...); 24 of 28 steps in the band".
QString validation_sentence(const Validation& validation);

}  // namespace sluice
