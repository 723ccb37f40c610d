#pragma once
/* The store of one node: the file rota.db of the data directory. */
#include "store/kind.h"

extern const struct store_kind sqlite_kind;
