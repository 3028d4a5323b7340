// Which fields of the start page name nothing that exists?
#pragma once

#include <QString>
#include <string>

namespace sluice {

/// A sentence if the text names no model, else empty.
QString model_mistake(const std::string& text);
/// A sentence if the text names no machine; empty if it does, or is empty.
QString machine_mistake(const std::string& text);

}  // namespace sluice
