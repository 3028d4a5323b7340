#!/usr/bin/env bash
# in_a_window.sh PROGRAM ARGS...: runs a test program in a real window of a virtual screen. Exit
# status 77, which ctest takes for "skipped", where there is no xvfb-run.
set -euo pipefail

if ! command -v xvfb-run >/dev/null; then
    echo "skipped: xvfb-run is not installed (apt-get install xvfb xauth)" >&2
    exit 77
fi
exec xvfb-run -a -s "-screen 0 1600x1000x24" env QT_QPA_PLATFORM=xcb "$@"
