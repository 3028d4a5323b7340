// How is an option declared on a field of TrainingSpec, or of a struct of a schedule's own options?
#pragma once

#include <initializer_list>
#include <type_traits>
#include <utility>

#include "sim/specs/scenario/training_spec.h"

namespace sluice {

namespace declared {

template <typename Field, typename Owner>
Field field_of(Field Owner::*);
template <typename Field, typename Owner>
Owner owner_of(Field Owner::*);

template <auto Member>
using FieldOf = decltype(field_of(Member));
template <auto Member>
using OwnerOf = decltype(owner_of(Member));

template <auto Member, typename Spec>
auto& member_of(Spec& spec) {
    if constexpr (std::is_same_v<OwnerOf<Member>, TrainingSpec>)
        return spec.*Member;
    else
        return spec.own.template of<OwnerOf<Member>>().*Member;
}

}  // namespace declared

/// The place of an option in lists; one of a schedule or of a kind of home precedes another.
struct Listed {
    OptionGroup group;
    const char* before = "";
};

/// A whole number. `help`: empty where `brief` says all.
template <auto Member>
Option number_option(Listed place, const char* field, const char* unit, double low, double high,
                     std::string brief, std::string help = {}) {
    if (help.empty()) help = brief;
    return {place.group,
            field,
            unit,
            low,
            high,
            {},
            std::move(brief),
            std::move(help),
            [](const TrainingSpec& spec) {
                return static_cast<double>(declared::member_of<Member>(spec));
            },
            [](TrainingSpec& spec, double value) {
                declared::member_of<Member>(spec) = static_cast<declared::FieldOf<Member>>(value);
            },
            place.before};
}

/// One of an enum's values, which are all from 0 on.
template <auto Member>
Option choice_option(
    Listed place, const char* field,
    std::initializer_list<std::pair<const char*, declared::FieldOf<Member>>> choices,
    std::string brief, std::string help = {}) {
    Option out = number_option<Member>(place, field, "", 0, static_cast<double>(choices.size()) - 1,
                                       std::move(brief), std::move(help));
    for (const auto& [name, value] : choices)
        out.choices.push_back({name, static_cast<int>(value)});
    return out;
}

/// A set of members, each a bit, of which it has at least one.
template <auto Member>
Option members_option(Listed place, const char* field, std::vector<Choice> members,
                      std::string brief, std::string help = {}) {
    int all = 0;
    for (const Choice& member : members) all |= member.value;
    Option out = number_option<Member>(place, field, "", 1, all, std::move(brief), std::move(help));
    out.members = std::move(members);
    out.value_name = "LIST";
    return out;
}

template <auto Member>
Option memory_option(Listed place, const char* field, std::string brief) {
    constexpr double kLargest = 1e15;
    Option out = number_option<Member>(place, field, "bytes", 0, kLargest, std::move(brief));
    out.is_memory = true;
    return out;
}

}  // namespace sluice
