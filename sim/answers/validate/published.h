// How far are predictions from what others have published, and is each large error explained?
#pragma once

#include "sim/answers/predict/prediction.h"
#include "sim/answers/validate/published_row.h"
#include "sim/answers/validate/validation.h"

namespace sluice {

/// An error larger than this needs an explanation.
inline constexpr double kExplainedBeyond = 0.15;

struct PublishedComparison {
    PublishedRow row;
    Prediction predicted;
    double predicted_speed = 0;  ///< in the unit of row.speed
    Bytes predicted_device = 0, predicted_host = 0;
    bool predicted_fits = true;

    /// Predicted over published, less 1; of times the inverse, so that faster is above 0.
    std::optional<double> speed_error() const;
    std::optional<double> device_error() const;
    std::optional<double> host_error() const;
    /// The largest of the three errors without sign; 0 if none is published.
    double largest_error() const;
    bool fit_is_wrong() const { return row.fits && *row.fits != predicted_fits; }
    bool needs_explanation() const { return largest_error() > kExplainedBeyond || fit_is_wrong(); }
};

struct PublishedTable {
    std::vector<PublishedComparison> compared;
    std::vector<PublishedRow> not_compared;
    ErrorSummary speed, device, host;
    int fits_published = 0, fits_right = 0;  ///< rows that say whether it fits
};

/// Throws InputError where a row's settings do not go together; the message names file and row.
PublishedTable compare_published(std::vector<PublishedRow> rows);

/// A sentence for each row that is off by more than kExplainedBeyond and says nothing of why.
std::vector<std::string> unexplained(const PublishedTable& table);

}  // namespace sluice
