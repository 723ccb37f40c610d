#pragma once
/* backup and restore: both work on the files themselves, the one beside a daemon, the other in its absence.
 */
#include "op/op.h"

enum err op_backup(struct op_call *call);
enum err op_restore(struct op_call *call);
