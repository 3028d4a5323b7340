"""The profile of a machine whose host has more of what a calibrated one has: one of its GPUs trains.

    python3 host_of_several.py PROFILE ADAM_MEASUREMENTS TIMES MEMORY_GB OUT

Vendors sell such hosts as multiples of one: two GPUs with 32 CPUs and 256 GiB, four with 64 and 512. The optimizer's rates by
threads of `sluice-calibrate --only adam` are taken for as many threads more and as much faster, up to the host memory that four
GPUs' hosts gave: 155 GB/s. Everything else stays as calibrated.
"""

import json
import sys

MOST_BYTES_PER_S = 155e9


def scaled(points, state_bytes, times):
    traffic = 2 + 2 * state_bytes
    most = MOST_BYTES_PER_S / traffic / 1e9
    more = [[threads * times, min(rate * times, most)] for threads, rate, *_ in points]
    return ([points[0][:2]] if times > 1 else []) + more


def main(profile_path, adam_path, times, memory_gb, out):
    times = int(times)
    profile = json.load(open(profile_path))
    host = profile["host"]
    measured = next(table for case in json.load(open(adam_path))["cases"] for table in case["tables"] if table["name"] == "adam")
    for state_bytes in (12, 8, 6, 5, 4):
        points = sorted(row[1:] for row in measured["rows"] if row[0] == state_bytes)
        name = "adam_gparams_per_s_by_threads" if state_bytes == 12 else f"adam_{state_bytes}_byte_gparams_per_s_by_threads"
        host[name] = {"columns": ["threads", "gparams_per_s"], "points": scaled(points, state_bytes, times),
                      "method": "estimated", "source": "calibration", "date": "2026-11-25",
                      "note": f"{times} times the threads and the rate that a host of one GPU had, up to 155 GB/s"}
    for name, value in (("cores", host["cores"]["value"] * times), ("memory_capacity_gb", float(memory_gb))):
        host[name] = {"value": value, "method": "estimated", "source": "calibration", "date": "2026-11-25"}
    profile["name"] = f"NVIDIA H200, one of {times} of a host with {host['cores']['value']} CPUs and {memory_gb} GB"
    json.dump(profile, open(out, "w"))


main(*sys.argv[1:])
