#pragma once
/* The paths of the other programs of rota. */
#include "base/arena.h"

/* NULL: not installed. */
const char *find_launcher(struct arena *a);
const char *find_rota_out(struct arena *a);
/* This program itself, at the path where it was started; a newer one may be there by now. */
const char *find_rota(struct arena *a);
