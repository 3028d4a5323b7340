// How did the numbers of a run change, from its first step on? As many points as a page can show,
// however long the run is.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/picture.h"

namespace sluice {

/// Means of as many values each as keep the points few.
class ThinnedSeries {
  public:
    void add(double step, double value);
    /// x: the mean step, y: the mean value of each group; the last one may be smaller.
    std::vector<Point> points() const;
    /// Values in a point.
    std::int64_t values_per_point() const { return group_; }

  private:
    struct Group {
        double steps = 0, values = 0;
        std::int64_t count = 0;
        Point mean() const;
    };
    std::vector<Group> groups_;
    std::int64_t group_ = 1;  ///< values of a whole one
};

class RunHistory {
  public:
    struct Series {
        std::string key;  ///< of RecordedNumber
        ThinnedSeries values;
    };

    /// An object as step_json() gives it; steps ascend.
    void add(const nlohmann::ordered_json& step);
    /// Adds the steps up to `last` of a file that has such an object a line. Where steps are there
    /// twice, as after a kill, the later lines count. Lines that are no such object are passed
    /// over.
    void read_log(const std::string& path, std::int64_t last);

    /// Without points if no step had such a number.
    ThinnedSeries series(const std::string& key) const;

  private:
    std::vector<Series> series_;
};

}  // namespace sluice
