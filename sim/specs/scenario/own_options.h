// Which options has a schedule alone? It reads and sets them as a struct that its file declares.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <type_traits>
#include <typeinfo>

#include "sim/base/input_error.h"

namespace sluice {

/// The structs of those schedules of which an option was set. Copied as plain bytes, also to other
/// processes of this program.
class OwnOptions {
  public:
    /// As set, or with the defaults of its members.
    template <typename Own>
    const Own& of() const {
        static const Own standard;
        for (const Held& held : all_) {
            if (held.type == nullptr) break;
            if (*held.type == typeid(Own))
                return *std::launder(reinterpret_cast<const Own*>(held.bytes.data()));
        }
        return standard;
    }
    template <typename Own>
    Own& of() {
        static_assert(std::is_trivially_copyable_v<Own> && sizeof(Own) <= kMostBytes);
        for (Held& held : all_) {
            if (held.type == nullptr) {
                held.type = &typeid(Own);
                return *new (held.bytes.data()) Own;
            }
            if (*held.type == typeid(Own))
                return *std::launder(reinterpret_cast<Own*>(held.bytes.data()));
        }
        throw InternalError("own options: more schedules have some than a training has room for");
    }

  private:
    static constexpr std::size_t kMostBytes = 16, kMostSchedules = 8;
    struct Held {
        const std::type_info* type = nullptr;
        alignas(double) std::array<std::byte, kMostBytes> bytes = {};
    };
    std::array<Held, kMostSchedules> all_;  ///< the unused ones are the last
};

}  // namespace sluice
