#include "calibrate/fit/contention_fit.h"
