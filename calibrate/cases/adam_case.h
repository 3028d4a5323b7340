// Which thread counts is the optimizer measured with?
#pragma once

#include <vector>

namespace sluice {

/// About ten from 1 to `most`, evenly spread, with few threads and the last core (the other lanes'
/// threads want one) in more detail. Precondition: most >= 1.
std::vector<int> optimizer_thread_counts(int most);

/// A quarter, half, three quarters and all of `most`, and 1.
std::vector<int> few_optimizer_thread_counts(int most);

}  // namespace sluice
