// How are zones, links, hosts, routes and actors called in both SimGrid 3 and 4?
#pragma once

#include <simgrid/s4u.hpp>
// Not complete without the one before.
#include <simgrid/version.h>

#include <string>
#include <utility>
#include <vector>

namespace sluice::simgrid_names {
namespace sg = simgrid::s4u;

/// Where a resource begins; it is set before it is used.
constexpr double kNoRate = 1;

#if SIMGRID_VERSION_MAJOR >= 4

/// A zone whose routes are given one by one. The engine has a root zone already.
inline sg::NetZone& add_zone(const sg::Engine& engine, const std::string& name) {
    return *engine.get_netzone_root()->add_netzone_full(name);
}
inline sg::Link* add_link(sg::NetZone& zone, const std::string& name) {
    return zone.add_link(name, kNoRate);
}
inline sg::Host* add_host(sg::NetZone& zone, const std::string& name) {
    return zone.add_host(name, kNoRate);
}
/// One way.
inline void add_route(sg::NetZone& zone, const sg::Host& from, const sg::Host& to,
                      const std::vector<sg::LinkInRoute>& links) {
    zone.add_route(&from, &to, links, false);
}
template <typename Work>
void add_actor(const std::string& name, sg::Host* host, Work work) {
    sg::Engine::get_instance()->add_actor(name, host, std::move(work));
}

#else

/// A zone whose routes are given one by one. The first is the root.
inline sg::NetZone& add_zone(const sg::Engine&, const std::string& name) {
    return *sg::create_full_zone(name);
}
inline sg::Link* add_link(sg::NetZone& zone, const std::string& name) {
    return zone.create_link(name, kNoRate);
}
inline sg::Host* add_host(sg::NetZone& zone, const std::string& name) {
    return zone.create_host(name, kNoRate);
}
/// One way.
inline void add_route(sg::NetZone& zone, const sg::Host& from, const sg::Host& to,
                      const std::vector<sg::LinkInRoute>& links) {
    zone.add_route(from.get_netpoint(), to.get_netpoint(), nullptr, nullptr, links, false);
}
template <typename Work>
void add_actor(const std::string& name, sg::Host* host, Work work) {
    sg::Actor::create(name, host, std::move(work));
}

#endif

}  // namespace sluice::simgrid_names
