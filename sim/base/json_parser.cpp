#include "sim/base/json_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/base/json_text.h"

namespace sluice {
namespace {

constexpr std::size_t kDeepestNesting = 64;  ///< more than in any config

nlohmann::json& add_new(nlohmann::json& object, std::string key, nlohmann::json value) {
    return object.emplace(std::move(key), std::move(value)).first.value();
}
nlohmann::ordered_json& add_new(nlohmann::ordered_json& object, std::string key,
                                nlohmann::ordered_json value) {
    return append_entry(object, std::move(key), std::move(value));
}

/// Builds the value while the text is parsed. Refuses what no file here has: deep nesting, before
/// any recursion, and a key that an object gives twice, of which all but one would be lost.
template <typename Json>
class Builder : public nlohmann::json_sax<Json> {
  public:
    Builder(std::string_view text, const std::string& file) : text_(text), file_(file) {}
    Json take() { return std::move(root_); }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(std::int64_t value) override { return add(value); }
    bool number_unsigned(std::uint64_t value) override { return add(value); }
    bool number_float(double value, const std::string&) override { return add(value); }
    bool string(std::string& value) override { return add(std::move(value)); }
    bool binary(typename Json::binary_t& value) override { return add(std::move(value)); }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(std::string& name) override {
        if (!open_.back().keys.insert(name).second)
            throw InputError(fmt::format("{}: {} is given twice in one object; keep one of them",
                                         file_, shown_json(name)));
        key_ = std::move(name);
        return true;
    }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& error) override {
        if (dynamic_cast<const nlohmann::detail::parse_error*>(&error) == nullptr)
            throw InputError(
                fmt::format("{}: a number is too large to be read; correct the file", file_));
        const std::size_t end = std::min(position, text_.size());
        const auto line = std::ranges::count(text_.substr(0, end), '\n') + 1;
        const char* const what = position > text_.size()
                                     ? "the text ends too early: is the file truncated?"
                                     : "unexpected character";
        throw InputError(fmt::format("{}: line {}: not valid JSON ({}); correct the file there",
                                     file_, line, what));
    }

  private:
    struct Open {
        Json* value;
        std::unordered_set<std::string> keys;  ///< of an object
    };

    Json& place(Json value) {
        if (open_.empty()) return root_ = std::move(value);
        Json& parent = *open_.back().value;
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return parent.back();
        }
        return add_new(parent, std::move(key_), std::move(value));
    }
    bool add(Json value) {
        place(std::move(value));
        return true;
    }
    bool open(Json value) {
        if (open_.size() == kDeepestNesting)
            throw InputError(fmt::format("{}: nested deeper than {} levels, expected a flat config",
                                         file_, kDeepestNesting));
        open_.push_back({&place(std::move(value)), {}});
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    const std::string_view text_;
    const std::string& file_;
    Json root_;
    std::vector<Open> open_;  ///< from the outermost inwards
    std::string key_;         ///< of the next value
};

template <typename Json>
Json parse_as(std::string_view text, const std::string& file) {
    Builder<Json> builder(text, file);
    Json::sax_parse(text, &builder);
    return builder.take();
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& file) {
    return parse_as<nlohmann::json>(text, file);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& file) {
    return parse_as<nlohmann::ordered_json>(text, file);
}

nlohmann::ordered_json& append_entry(nlohmann::ordered_json& object, std::string key,
                                     nlohmann::ordered_json value) {
    // An ordered map is a vector of its entries; its own functions search all of them first.
    using Map = nlohmann::ordered_json::object_t;
    std::vector<Map::value_type>& entries = object.get_ref<Map&>();
    return entries.emplace_back(std::move(key), std::move(value)).second;
}

std::string shown_json(const nlohmann::json& value) {
    if (value.is_object() && value.contains(kFloat) && value[kFloat].is_string())
        return value[kFloat].get<std::string>();
    std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    constexpr std::size_t kLongestShown = 60;
    if (text.size() > kLongestShown) text = text.substr(0, kLongestShown) + "...";
    return text;
}

}  // namespace sluice
