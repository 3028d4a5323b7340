// How near have predictions been? The records of validation/history.json, built into the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Absolute errors, predicted over measured less 1.
struct ErrorPair {
    double mean_percent = 0, worst_percent = 0;
};

/// Held-out runs of the trainer on one calibrated machine.
struct TrackRecord {
    std::string date, profile, runs;
    ErrorPair tokens_per_s, device, host;
    double tau = 0;           ///< Kendall's, of the order by tokens/s
    double band_percent = 0;  ///< of the steps within the predicted 5 to 95%
};

/// Throws InputError where a field is missing or holds something else.
std::vector<TrackRecord> read_track_records(std::string_view json);

/// The records of the file that is built in.
std::vector<TrackRecord> track_records();

/// One sentence.
std::string track_record_words(const TrackRecord& record);

}  // namespace sluice
