#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/answers/search/find.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

struct NamedSought {
    Sought sought;
    const char* name;
    const char* asked;
    const char* unit;
};
constexpr std::array kSought = {
    NamedSought{Sought::batch, "batch", "largest batch", "sequences"},
    NamedSought{Sought::sequence, "seq", "longest sequence", "tokens"},
    NamedSought{Sought::layers, "layers", "most layers", "layers"},
    NamedSought{Sought::model, "model", "largest model", "parameters"},
    NamedSought{Sought::host_memory, "host-memory", "least host memory", "gb"},
    NamedSought{Sought::device_memory, "hbm", "least device memory", "gb"},
    NamedSought{Sought::link, "link", "slowest link", "times_the_link"},
    NamedSought{Sought::cores, "cores", "fewest cores", "cores"},
};

const NamedSought& named(Sought sought) {
    return *std::find_if(kSought.begin(), kSought.end(),
                         [&](const NamedSought& one) { return one.sought == sought; });
}

}  // namespace

const char* sought_name(Sought sought) { return named(sought).name; }

const char* sought_question(Sought sought) { return named(sought).asked; }

const char* sought_unit(Sought sought) { return named(sought).unit; }

Sought parse_sought(const std::string& name) {
    std::vector<std::string> names;
    for (const NamedSought& one : kSought) {
        if (name == one.name) return one.sought;
        names.emplace_back(one.name);
    }
    names.emplace_back("machine");
    throw InputError(fmt::format("--find is \"{}\", expected one of {}{}", name,
                                 fmt::join(names, ", "), did_you_mean(name, names)));
}

bool FindAnswer::speed_within_band() const {
    if (query.tokens_per_s <= 0) return false;
    const auto holds = [&](const FindSide& side) {
        const Banded speed = side.report.speed();
        return side.fits() && speed.low < query.tokens_per_s && speed.high > query.tokens_per_s;
    };
    return (best && holds(*best)) || (other && holds(*other));
}

}  // namespace sluice
