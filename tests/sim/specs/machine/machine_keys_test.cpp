// Is a key that no prediction knows refused where predictions read, and free elsewhere?
#include <algorithm>

#include "tests/sim/specs/machine/small_profile.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

using nlohmann::json;

json with(const char* pointer, const json& value) {
    json profile = small_profile();
    profile[json::json_pointer(pointer)] = value;
    return profile;
}

}  // namespace

TEST_CASE("machine keys: a key that no prediction knows is refused where predictions read",
          "[machine]") {
    struct Mistake {
        const char* pointer;
        json value;
        std::vector<const char*> parts;
    };
    const json number = measured_number(50);
    const std::vector<Mistake> mistakes = {
        {"/link/host_to_devise_gb_per_s",
         number,
         {"link: unknown key \"host_to_devise_gb_per_s\"",
          "did you mean \"host_to_device_gb_per_s\"?"}},
        {"/gpu/tops", number, {"gpu: unknown key \"tops\""}},
        {"/kernels/lanch_us", number, {"kernels: unknown", "did you mean \"launch_us\"?"}},
        {"/host/work/zeros_gb_per_s",
         number,
         {"host.work: unknown key", "did you mean \"zero_gb_per_s\"?"}},
        {"/host/works/zero_gb_per_s", number, {"host: unknown", "did you mean \"work\"?"}},
        {"/host/nmae", "a text", {"host: unknown key \"nmae\"", "did you mean \"name\"?"}},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.pointer);
        const std::string message =
            input_error_of([&] { parse_profile(with(mistake.pointer, mistake.value)); });
        CHECK_THAT(message, ContainsSubstring("my/machine.json: "));
        for (const char* part : mistake.parts) CHECK_THAT(message, ContainsSubstring(part));
    }
}

TEST_CASE("machine keys: a known key with something else under it is refused", "[machine]") {
    struct Mistake {
        const char* pointer;
        json value;
        const char* part;
    };
    const char* const curve = "/link/curve/host_to_device_gb_per_s_by_bytes";
    const std::vector<Mistake> mistakes = {
        {"/link/curve", measured_number(50), "link.curve: unknown key"},
        {curve, measured_number(50), "link.curve.host_to_device_gb_per_s_by_bytes: unknown key"},
        {curve, 3, "host_to_device_gb_per_s_by_bytes is 3, expected an object with points"},
        {"/host/name", measured_number(50), "host.name is {"},
        {"/kernels/launch_us", "fast",
         "kernels.launch_us is \"fast\", expected an object with value"},
        {"/kernels/launch_us", json::object(), "kernels.launch_us.value is missing"},
        {"/kernels/launch_us", measured_points({{1, 2}}), "kernels.launch_us: unknown key"},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.pointer);
        CHECK_THAT(
            input_error_of([&] { parse_profile(with(mistake.pointer, mistake.value)); }),
            ContainsSubstring(std::string("my/machine.json: ")) && ContainsSubstring(mistake.part));
    }
}

TEST_CASE("machine keys: below other, and in sections no prediction reads, keys are free",
          "[machine]") {
    for (const char* path :
         {"gpu.other.mine_gb", "link.other.a.b_gb_per_s", "host.work.other.mine_gb_per_s",
          "storage.mine_gb", "network.mine", "gpu_interconnect.mine", "price.mine", "power.mine"}) {
        CAPTURE(path);
        std::string pointer = std::string("/") + path;
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        const MachineProfile profile = parse_profile(with(pointer.c_str(), measured_number(50)));
        CHECK(profile.find(path) != nullptr);
    }
}

}  // namespace sluice
