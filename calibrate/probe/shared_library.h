// Where are the functions of a library that may be absent? Loaded at run time, so that one program
// runs with and without it.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>

namespace sluice {

class SharedLibrary {
  public:
    /// The first of these names that the system finds; null if it finds none.
    static std::unique_ptr<SharedLibrary> open(std::initializer_list<const char*> names) {
        for (const char* name : names)
            if (void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL))
                return std::unique_ptr<SharedLibrary>(new SharedLibrary(handle, name));
        return nullptr;
    }

    /// Throws std::runtime_error if the library lacks it.
    template <typename Function>
    void find(const char* name, Function*& function) const {
        void* const address = dlsym(handle_, name);
        if (address == nullptr) throw std::runtime_error(name_ + " has no function " + name);
        function = reinterpret_cast<Function*>(address);
    }

  private:
    // The libraries end with the process: drivers do not like to be unloaded.
    SharedLibrary(void* handle, const char* name) : handle_(handle), name_(name) {}

    void* handle_;
    std::string name_;
};

}  // namespace sluice
