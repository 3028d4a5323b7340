// Which prices did providers quote to the user? Read from a CSV file, such as a table of bids.
#pragma once

#include <string>
#include <vector>

#include "sim/specs/scenario/price.h"

namespace sluice {

/// A price of `gpus` GPUs with their part of the host.
struct Quote {
    std::string machine;  ///< id of its profile
    std::string provider, date;
    double gpus = 1;
    double usd_per_hour = 0;  ///< of all; 0 for a purchase
    double usd = 0;           ///< of all; 0 for a rent
    std::string file;
    int line = 0;
};

/// A CSV file whose first line names the columns, in any order: machine, provider, date, gpus, and
/// usd_per_hour or usd or both; each line gives one of the two. Cells with commas stand in double
/// quotes. Throws InputError: file, line, column, value, expectation.
std::vector<Quote> read_quotes(const std::string& file);

/// The prices of a profile and the quotes for its machine: rents as offers; purchases
/// replace the price of the profile's system.
PriceList price_list(const MachineProfile& profile, const std::vector<Quote>& quotes);

/// Machines of the library for which a price or a quote is known, sorted. The others are test
/// machines, old ones, and those that have no public price.
std::vector<std::string> priced_machines(const std::vector<Quote>& quotes = {});

}  // namespace sluice
