#pragma once
/* The migrations of src/store/sqlite/schema as text: schema_sql[n] migrates a database from version n to n
 * + 1. The build makes schema.c out of the .sql files by schema/embed.awk. */

extern const char *const schema_sql[];
extern const unsigned schema_version; /* the version that this program reads and writes */
