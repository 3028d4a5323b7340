// How many configurations a second does a sweep settle, and how good is advice?
#pragma once

#include <cstdint>

/// Prints the rate of a sweep of some 10,000 configurations beside a loop of predict(), as a ratio.
/// Precondition: nothing has been simulated in this process.
void bench_search();

/// Prints how far advice is below the best of simulating every combination, for so many pairs of a
/// model and a machine on which it fits. Ten minutes for 200 pairs.
void bench_advice(std::int64_t batch, std::size_t pairs);
