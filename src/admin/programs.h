#pragma once
/* Where our other programs are. */
#include "base/arena.h"

/* NULL: nowhere. */
const char *find_launcher(struct arena *a);
const char *find_rota_out(struct arena *a);
