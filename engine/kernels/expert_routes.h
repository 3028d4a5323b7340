// Which experts has each token, and where are its copies among rows that are sorted by expert?
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice {

/// The choice of experts for a block of tokens, on the device. A token has a copy for each of its
/// experts; the copies of one expert are consecutive rows, in the order of their tokens.
struct ExpertRoutes {
    std::int64_t tokens = 0;
    std::int64_t experts = 0;
    std::int64_t of_token = 0;       ///< experts of a token
    std::int32_t* expert = nullptr;  ///< (tokens, of_token), the best one first
    float* weight = nullptr;         ///< (tokens, of_token): by which its output counts
    std::int32_t* row = nullptr;     ///< (tokens, of_token): the row of that copy
    std::int32_t* copy = nullptr;    ///< (rows): token x of_token + which of its experts
    std::int32_t* ends = nullptr;    ///< (experts): where the rows of each end
    std::int64_t rows() const { return tokens * of_token; }
};

/// Rows of the expert that has the most over the mean of all; `routes` are the host's.
inline double busiest_over_mean(const ExpertRoutes& routes) {
    std::int32_t most = 0, begin = 0;
    for (std::int64_t expert = 0; expert < routes.experts; ++expert) {
        most = std::max(most, routes.ends[expert] - begin);
        begin = routes.ends[expert];
    }
    return static_cast<double>(most) * static_cast<double>(routes.experts) /
           static_cast<double>(routes.rows());
}

}  // namespace sluice
