#include "sim/answers/search/search_row.h"

#include <bit>
#include <cstring>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

void put_text(std::string& out, const std::string& text) {
    put_number(out, text.size());
    out += text;
}

std::string take_text(std::string_view& in) {
    const std::uint64_t size = take_number(in);
    if (size > in.size()) throw InternalError("search: a message ends too early");
    std::string text(in.substr(0, size));
    in.remove_prefix(size);
    return text;
}

void put_double(std::string& out, double value) {
    put_number(out, std::bit_cast<std::uint64_t>(value));
}
double take_double(std::string_view& in) { return std::bit_cast<double>(take_number(in)); }

}  // namespace

const char* row_state_name(RowState state) {
    switch (state) {
        case RowState::excluded:
            return "excluded";
        case RowState::too_large:
            return "does not fit";
        case RowState::bounded:
            return "bounded";
        case RowState::simulated:
            return "simulated";
    }
    return "";
}

void put_number(std::string& out, std::uint64_t number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    out.append(bytes, sizeof number);
}

std::uint64_t take_number(std::string_view& in) {
    std::uint64_t number = 0;
    if (in.size() < sizeof number) throw InternalError("search: a message ends too early");
    std::memcpy(&number, in.data(), sizeof number);
    in.remove_prefix(sizeof number);
    return number;
}

void put_row(std::string& out, const SearchRow& row) {
    put_number(out, row.index);
    put_number(out, static_cast<std::uint64_t>(row.state));
    put_text(out, row.reason);
    for (const Bytes bytes : {row.device_peak, row.host_peak, row.storage_peak, row.device_short,
                              row.host_short, row.storage_short})
        put_number(out, static_cast<std::uint64_t>(bytes));
    for (const Seconds seconds : {row.at_least, row.step, row.step_low, row.step_high})
        put_double(out, seconds);
    put_text(out, row.bottleneck);
}

SearchRow take_row(std::string_view& in) {
    SearchRow row;
    row.index = take_number(in);
    row.state = static_cast<RowState>(take_number(in));
    row.reason = take_text(in);
    for (Bytes* bytes : {&row.device_peak, &row.host_peak, &row.storage_peak, &row.device_short,
                         &row.host_short, &row.storage_short})
        *bytes = static_cast<Bytes>(take_number(in));
    for (Seconds* seconds : {&row.at_least, &row.step, &row.step_low, &row.step_high})
        *seconds = take_double(in);
    row.bottleneck = take_text(in);
    return row;
}

}  // namespace sluice
