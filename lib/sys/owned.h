/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the suite changes on a box, and the way back.
 *
 * Every change is one entry of a kind: the kind knows how to undo it from the entry alone. own()
 * is called before the change is made, so an undo must accept "not done yet". Entries are undone
 * in reverse order, by owned_release() when a run ends, or by owned_recover() at the next start
 * when the process was killed: entries of kinds that outlive a process are journalled in
 * RUNDIR/journal.jsonl (RUNDIR: $BEFORE_AFTER_RUN_DIR or /run/before-after, on tmpfs, so that a
 * reboot forgets the journal together with the state it describes; where it is not, entries of
 * another boot are dropped without being undone).
 *
 * One process tree holds RUNDIR/lock at a time; the lock is a flock() that dies with its holders.
 * "pid 1234, NAME" in it says who took it, and ", ending" behind that that it is about to let go.
 */
#ifndef SYS_OWNED_H
#define SYS_OWNED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct undo_kind {
	const char *name;
	bool outlives; /* survives the death of the process: journalled */
	/* Undoes what the entry says. True: done, or nothing to do. False: `why` says why not. */
	bool (*undo)(const json_t *entry, char *why, size_t size);
};

/*
 * Takes the lock (or finds that a parent, run.sh, holds it for us) and opens the journal.
 * A holder that is ending, or was killed and leaves processes that are, is waited for up to 10 s.
 * Broken when another instance holds it or RUNDIR cannot be used.
 */
void owned_open(void);

/* From here on we only give back what we own: who starts next waits for us. */
void owned_ending(void);

/*
 * Undoes what a killed instance left. Returns the number of entries undone; broken with the
 * entry and the reason when one cannot be undone. Prints one "#" line an entry to stderr.
 */
int owned_recover(void);

/* Takes the reference to `entry`. Call it before the change. */
void own(const struct undo_kind *kind, json_t *entry);

/* Undoes the newest entry. */
bool owned_release_last(char *why, size_t size);
/* Undoes all; on failures goes on, keeps the journal and leaves the first reason in `why`. */
bool owned_release(char *why, size_t size);
/* Forgets the newest entry without undoing it: what it names turned out to be somebody else's. */
void owned_forget_last(void);

/* Writes RUNDIR/NAME into buf. */
void owned_path(char *buf, size_t size, const char *name);

#endif
