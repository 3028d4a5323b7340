/* Stands between CUDA's runtime, which is part of sluice-train, and the driver. From the FAIL_AFTERth
   wait for an event on, the wait gives the status FAIL_WITH; if that is 0, a kernel writes to memory
   that is not its own. Loaded by LD_PRELOAD: gpu_fault_test.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int (*Wait)(void* event);
typedef int (*Find)(const char* name, void** function, int version, uint64_t flags, void* status);
typedef void* (*Symbol)(void* library, const char* name);

static Wait driver_wait;
static Find driver_find;
static Symbol real_dlsym;

static int number(const char* variable) { return atoi(getenv(variable)); }

static void launch_a_wrong_kernel(void) {
    static const char* const program =
        ".version 7.8\n.target sm_80\n.address_size 64\n"
        ".visible .entry k() { .reg .u64 a; .reg .u32 v; mov.u64 a, 64; mov.u32 v, 1; "
        "st.global.u32 [a], v; ret; }\n";
    typedef unsigned N;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY), *module = 0, *kernel = 0;
    ((int (*)(void**, const void*))real_dlsym(driver, "cuModuleLoadData"))(&module, program);
    ((int (*)(void**, void*, const char*))real_dlsym(driver, "cuModuleGetFunction"))(&kernel, module,
                                                                                    "k");
    ((int (*)(void*, N, N, N, N, N, N, N, void*, void**, void**))real_dlsym(
        driver, "cuLaunchKernel"))(kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
}

static int wait_or_fail(void* event) {
    static int calls;
    const int call = __sync_add_and_fetch(&calls, 1);
    if (call >= number("FAIL_AFTER") && number("FAIL_WITH") != 0) return number("FAIL_WITH");
    if (call == number("FAIL_AFTER")) launch_a_wrong_kernel();
    return driver_wait(event);
}

static int find(const char* name, void** function, int version, uint64_t flags, void* status) {
    const int result = driver_find(name, function, version, flags, status);
    if (result != 0) return result;
    /* The runtime asks for this function, too, and then asks it for all others. */
    if (strncmp(name, "cuGetProcAddress", 16) == 0) *function = (void*)find;
    if (strcmp(name, "cuEventSynchronize") == 0) {
        driver_wait = (Wait)*function;
        *function = (void*)wait_or_fail;
    }
    return 0;
}

void* dlsym(void* library, const char* name) {
    if (!real_dlsym) real_dlsym = (Symbol)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!real_dlsym) real_dlsym = (Symbol)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    void* const found = real_dlsym(library, name);
    if (!found || strncmp(name, "cuGetProcAddress", 16) != 0) return found;
    driver_find = (Find)found;
    return (void*)find;
}
