/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where root writes although others can write there too. On the way to a directory a symbolic link is
 * followed only where nobody but root and we could have put it: in a directory of root's or ours that
 * others cannot write or, as /tmp, can only add to. All is done on descriptors, a component at a time,
 * so that nothing that is exchanged meanwhile leads elsewhere.
 */
#ifndef SYS_PLACE_H
#define SYS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * An O_PATH descriptor of the directory; with `make`, what is missing of it is made (0755). -1 with
 * errno; ELOOP: a link that is not to be trusted, or too many.
 */
int place_open(const char *dir, bool make);

/* The same of the directory of a file, whose last component is left in `name`. */
int place_of(const char *file, bool make, const char **name);

/* What errno says, ELOOP in words. */
const char *place_error(int error);

/*
 * Whether nobody but root and us can exchange what is in the directory, nor a directory above it.
 * False: `why` names the one that another user can write.
 */
bool place_private(const char *dir, char *why, size_t size);

#endif
