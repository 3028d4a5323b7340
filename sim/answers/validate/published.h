// Which results have others published: a step of some system on some machine, or the reason why it
// is not compared?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/answers/validate/validation.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// A quantity of published speed: seconds of a step, tokens/s of all GPUs, 6PT TFLOPS of one GPU,
/// or seconds of MegaTrain's forward and backward without the later phases.
struct PublishedSpeed {
    const char* key;    ///< in the file, with the unit
    const char* title;  ///< for people
    bool is_time;       ///< less is faster
    double (*of)(const Prediction&);
    std::string (*text)(double);
};

struct PublishedRow {
    std::string id;
    std::string file;
    std::string system;  ///< as its publisher calls it
    std::string source;  ///< where it was read
    /// A reason; empty: the row is compared, and the following members are set.
    std::string not_compared;
    std::string published;  ///< the published result of a row that is not compared, in words
    bool contradicts_itself = false;  ///< its source; the reason says how

    std::string machine;  ///< a name of the library, with a host memory size if wanted
    std::vector<std::pair<std::string, double>> machine_numbers;  ///< what-if values
    std::string model_name;
    ModelSpec model;
    TrainingSpec training;
    const PublishedSpeed* speed_kind = nullptr;  ///< null: not published
    double speed = 0;                            ///< in the unit of its kind
    Bytes device = 0;                            ///< largest allocation in a step; 0: not published
    Bytes host = 0;                              ///< resident after a step; 0: not published
    std::optional<bool> fits;                    ///< whether it ran at all
    std::string assumed;      ///< assumptions where the source says nothing; may be empty
    std::string explanation;  ///< of an error beyond kExplainedBeyond; may be empty
};

/// Whether the file is a table of published rows.
bool holds_published_rows(const std::string& path);

/// All rows of the files, and of the tables in folders, in order. Throws InputError.
std::vector<PublishedRow> read_published_rows(const std::vector<std::string>& paths);

// How far are predictions from published results, and is each large error explained?

/// A larger error requires an explanation.
inline constexpr double kExplainedBeyond = 0.15;
/// A summary counts the speeds within it.
inline constexpr double kNear = 0.10;

struct PublishedComparison {
    PublishedRow row;
    Prediction predicted;
    double predicted_speed = 0;  ///< in the unit of row.speed
    Bytes predicted_device = 0, predicted_host = 0;
    bool predicted_fits = true;

    /// Predicted over published, less 1; the inverse for times, so that faster is above 0.
    std::optional<double> speed_error() const;
    std::optional<double> device_error() const { return bytes_error(predicted_device, row.device); }
    std::optional<double> host_error() const { return bytes_error(predicted_host, row.host); }
    /// The largest absolute value of the three errors; 0 if none is published.
    double largest_error() const;
    /// Whether the published speed lies in the predicted 5 to 95%; empty if no speed is published.
    std::optional<bool> speed_in_band() const;
    bool fit_is_wrong() const { return row.fits && *row.fits != predicted_fits; }
    bool needs_explanation() const { return largest_error() > kExplainedBeyond || fit_is_wrong(); }
};

struct PublishedTable {
    std::vector<PublishedComparison> compared;
    std::vector<PublishedRow> not_compared;
    ErrorSummary speed, device, host;
    int speeds_near = 0;                     ///< speeds within kNear
    int speeds_in_band = 0;                  ///< in the predicted 5 to 95%
    double band_width = 0;                   ///< median of these bands: 95% less 5%, over the step
    int fits_published = 0, fits_right = 0;  ///< rows that say whether it fits
};

/// Throws InputError if a row's settings are not valid; the message names file and row.
PublishedTable compare_published(std::vector<PublishedRow> rows);

/// One sentence for each row that is off by more than kExplainedBeyond and has no explanation.
std::vector<std::string> unexplained(const PublishedTable& table);

}  // namespace sluice
