// How near have predictions been? The tables of hwprofiles/history.md, built into the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Absolute errors, predicted over measured less 1.
struct ErrorPair {
    double mean_percent = 0, worst_percent = 0;
};

/// Held-out runs of the trainer on one calibrated machine: a row of a table.
struct TrackRecord {
    std::string date, profile, runs;
    ErrorPair tokens_per_s, device, host;
    double tau = 0;           ///< Kendall's, of the order by tokens/s
    double band_percent = 0;  ///< of the steps within the predicted 5 to 95%
};

/// Rows of the tables whose first column is "date". Throws InternalError where a column is missing
/// or holds something else: the file is ours.
std::vector<TrackRecord> read_track_records(std::string_view markdown);

/// Of the file that is built in.
std::vector<TrackRecord> track_records();

/// One sentence.
std::string track_record_words(const TrackRecord& record);

}  // namespace sluice
