#pragma once
/* The migrations of src/store/sqlite/schema, compiled in: schema_sql[n] brings a database from version n to n
 * + 1. The C file is made of them by schema/embed.awk when the program is built. */

extern const char *const schema_sql[];
extern const unsigned schema_version; /* what this program reads and writes */
