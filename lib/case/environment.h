/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BOOT_ID.env.json beside BOOT_ID.jsonl: what the box was at an invocation. `match` must agree
 * between before and after, `info` is for the reader. What a guest cannot know of its machine
 * comes from the file that $BEFORE_AFTER_ENGINE_INFO names ({"match":{},"info":{}}), which wins.
 */
#ifndef CASE_ENVIRONMENT_H
#define CASE_ENVIRONMENT_H

/* Adds the invocation to the file beside `records`, by rename, unless it is there already. */
void environment_write(const char *records, const char *invocation);

#endif
