// Rates of AdamW and of plain memory traffic on the host's cores.
//
// Build:  g++ -O3 -march=native -pthread adam_rates.cpp -o adam_rates
// Use:    adam_rates --mode adam --variant split --threads 12 --seconds 4
//         adam_rates --mode dram --kind copy_nt --threads 8 --seconds 1
//         adam_rates --mode touch --gb 16 --threads 16 --pages huge
//         adam_rates --mode check
//         adam_rates --mode serve        (one command a line on standard input)
//
// Every result is one line of JSON on standard output. Times are CLOCK_MONOTONIC,
// so another process can count its own work over the same window.
//
// AdamW variants, with the bytes that one update of one parameter moves:
//   bf16      bf16 parameter read and written, bf16 gradient read,
//             fp32 moments read and written                          22 bytes
//   split     fp32 parameter kept as two 16-bit planes (the upper one is the
//             parameter rounded to bf16), both read and written,
//             bf16 gradient read, fp32 moments read and written      26 bytes
//   split16   as split with bf16 moments, rounded stochastically     18 bytes

#include <iostream>
#include <sstream>

#include "adam_loops.h"

// Compares one step of every variant with the same step in double precision.
static int check() {
    const size_t n = 1 << 16;
    int bad = 0;
    for (const auto& [name, variant] : variants) {
        State s;
        prepare(s, variant, n);
        const bool wide = variant.wide;
        std::vector<double> p(n), g(n), m(n), v(n);
        for (size_t i = 0; i < n; ++i) {
            const uint32_t whole = (uint32_t(s.high.data[i]) << 16) +
                                   (variant.low ? uint32_t(int32_t(int16_t(s.low.data[i]))) : 0u);
            p[i] = float_of(whole);
            g[i] = from_bf16(s.grad.data[i]);
            m[i] = wide ? s.m.data[i] : from_bf16(s.m16.data[i]);
            v[i] = wide ? s.v.data[i] : from_bf16(s.v16.data[i]);
        }
        Hyper h;
        h.lr = 1e-3f;
        h.correction1 = 0.4f;
        h.correction2 = 0.01f;
        __m512i random = _mm512_set_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
        variant.kernel(s, 0, n, h, random);
        double worst_p = 0, worst_m = 0, worst_v = 0, bias = 0;
        for (size_t i = 0; i < n; ++i) {
            const double mi = double(h.beta1) * m[i] + double(1 - h.beta1) * g[i];
            const double vi = double(h.beta2) * v[i] + double(1 - h.beta2) * g[i] * g[i];
            const double x =
                p[i] * double(1 - h.lr * h.decay) -
                double(h.lr / h.correction1) * mi / (std::sqrt(vi / h.correction2) + h.eps);
            const double got_m = wide ? s.m.data[i] : from_bf16(s.m16.data[i]);
            const double got_v = wide ? s.v.data[i] : from_bf16(s.v16.data[i]);
            const uint32_t whole = (uint32_t(s.high.data[i]) << 16) +
                                   (variant.low ? uint32_t(int32_t(int16_t(s.low.data[i]))) : 0u);
            worst_p = std::max(worst_p, std::fabs(float_of(whole) - x) / (std::fabs(x) + 1e-3));
            worst_m = std::max(worst_m, std::fabs(got_m - mi) / (std::fabs(mi) + 1e-3));
            worst_v = std::max(worst_v, std::fabs(got_v - vi) / vi);
            bias += (got_v - vi) / vi / n;
        }
        const double limit_p = variant.low ? 1e-5 : 4e-3, limit_s = wide ? 1e-5 : 8e-3;
        const bool ok =
            worst_p < limit_p && worst_m < limit_s && worst_v < limit_s && std::fabs(bias) < 1e-4;
        printf(
            "{\"check\": \"%s\", \"param_error\": %.2e, \"m_error\": %.2e, \"v_error\": %.2e, "
            "\"v_bias\": %.2e, \"ok\": %s}\n",
            name.c_str(), worst_p, worst_m, worst_v, bias, ok ? "true" : "false");
        bad += !ok;
    }
    return bad;
}

static int serve(State& state, Arrays& arrays, size_t params, size_t chunk) {
    string line;
    while (std::getline(std::cin, line)) {
        std::istringstream in(line);
        string what, name;
        int threads = 1;
        double seconds = 1, warm = 0.3;
        in >> what;
        if (what == "quit") return 0;
        if (what == "prepare") {
            in >> name;
            prepare(state, variants.at(name), params);
            puts("{\"ready\": true}");
            fflush(stdout);
        } else if (what == "adam") {
            in >> name >> threads >> seconds >> warm;
            run_adam(state, name, threads, seconds, warm, params, chunk);
        } else if (what == "dram") {
            in >> name >> threads >> seconds;
            run_dram(arrays, name, threads, seconds);
        } else {
            fprintf(stderr, "unknown command: %s\n", line.c_str());
            return 2;
        }
    }
    return 0;
}

int main(int argc, char** argv) {
    std::map<string, string> option = {
        {"mode", "adam"}, {"variant", "split"}, {"kind", "read"},         {"threads", "1"},
        {"seconds", "2"}, {"warm", "0.3"},      {"params", "1000000000"}, {"chunk", "125000000"},
        {"gb", "8"},      {"pages", "huge"}};
    for (int i = 1; i + 1 < argc; i += 2) {
        const string key = argv[i] + (strncmp(argv[i], "--", 2) ? 0 : 2);
        if (!option.count(key)) {
            fprintf(stderr, "unknown option %s\n", argv[i]);
            return 2;
        }
        option[key] = argv[i + 1];
    }
    const string mode = option["mode"];
    const int threads = atoi(option["threads"].c_str());
    const double seconds = atof(option["seconds"].c_str());
    const size_t params = size_t(atof(option["params"].c_str())) & ~size_t(63);
    const size_t chunk = size_t(atof(option["chunk"].c_str())) & ~size_t(63);
    State state;
    Arrays arrays;
    if (mode == "check") return check();
    if (mode == "serve") return serve(state, arrays, params, chunk);
    if (mode == "touch")
        run_touch(atof(option["gb"].c_str()), threads, option["pages"] == "huge");
    else if (mode == "dram")
        run_dram(arrays, option["kind"], threads, seconds);
    else if (mode == "adam") {
        // Prints a line for every window, so that a background run shows its rate.
        const double window = std::min(seconds, 1.0);
        const double until = now() + seconds;
        prepare(state, variants.at(option["variant"]), params);
        do
            run_adam(state, option["variant"], threads, window, atof(option["warm"].c_str()),
                     params, chunk);
        while (now() < until);
    } else {
        fprintf(stderr, "unknown mode %s\n", mode.c_str());
        return 2;
    }
    return 0;
}
