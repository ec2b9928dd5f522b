// SPDX-License-Identifier: GPL-2.0-only
#include "sys/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include "sys/command.h"
#include "sys/end.h"
#include "sys/kinds.h"
#include "sys/vmstat.h"

#define ZRAM "/sys/class/zram-control"

static const char file_prefix[] = "before-after-swap-";

int64_t swap_used(void)
