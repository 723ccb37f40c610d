/* The program: the command line, with the verbs that work on the data directory. */
#include "cli/main.h"
#include "admin/verbs.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv, admin_verbs);
}
