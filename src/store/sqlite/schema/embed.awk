# Makes a C file of the migrations: awk -f embed.awk 0001.sql 0002.sql ... > schema.c
BEGIN {
	print "/* Made by src/store/sqlite/schema/embed.awk. */"
	print "#include \"store/sqlite/schema.h\"\n"
	print "const char *const schema_sql[] = {"
}
FNR == 1 && NR > 1 { print "\t," }
{
	gsub(/\\/, "\\\\\\\\")
	gsub(/"/, "\\\"")
	print "\t\"" $0 "\\n\""
}
END {
	print "};"
	print "const unsigned schema_version = sizeof schema_sql / sizeof *schema_sql;"
}
