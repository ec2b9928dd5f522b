/* SPDX-License-Identifier: GPL-2.0-only */
/* The environment of a boot: results/KERNEL/BOOT_ID.env.json, per invocation of run.sh. */
#ifndef COMPARE_ENVFILE_H
#define COMPARE_ENVFILE_H

#include "compare/input.h"

/*
 * Reads and validates; NULL with the error recorded, or with *missing set where the file is not
 * there. The caller releases the object with json_decref().
 */
json_t *envfile_read(const char *path, const char *boot, bool *missing, struct input_error *error);
/* The decoded text of one: for envfile_read() and the fuzzer. Takes the reference to root. */
json_t *envfile_check(const struct input *in, json_t *root, const char *boot);

/* Of one invocation; NULL where it is not there. Borrowed. */
json_t *envfile_match(json_t *env, const char *invocation);
json_t *envfile_info(json_t *env, const char *invocation);

#endif
