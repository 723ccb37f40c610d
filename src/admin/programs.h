#pragma once
/* The paths of the other programs of rota. */
#include "base/arena.h"

/* NULL: not installed. */
const char *find_launcher(struct arena *a);
const char *find_rota_out(struct arena *a);
