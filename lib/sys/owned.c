// SPDX-License-Identifier: GPL-2.0-only
#include "sys/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sys/boot.h"
#include "sys/end.h"
#include "sys/io.h"
#include "sys/kinds.h"

#define OWNED_MAX 64

struct owned {
	const struct undo_kind *kind;
	json_t *entry;
	off_t offset; /* where its journal line begins; -1: not journalled */
};

static struct owned stack[OWNED_MAX];
static int depth;
static int journal = -1, held = -1; /* held: the lock, where it is ours and not a parent's */

static const char *run_dir(void)
{
	const char *dir = getenv("BEFORE_AFTER_RUN_DIR");

	return dir && *dir ? dir : "/run/before-after";
}

void owned_path(char *buf, size_t size, const char *name)
{
	snprintf(buf, size, "%s/%s", run_dir(), name);
}

/* The directory must be ours and closed to others: what stands in it is executed as undo. */
static int open_run_dir(void)
{
	struct stat st;
	int fd;

	if (mkdir(run_dir(), 0700) && errno != EEXIST)
		run_broken("%s: cannot be made: %s", run_dir(), strerror(errno));
	fd = io_open(run_dir(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd < 0)
		run_broken("%s: cannot be opened: %s", run_dir(), strerror(errno));
	if (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 022))
		run_broken("%s: wanted a directory of uid %u that nobody else can write, "
			   "found uid %u mode %04o",
			   run_dir(), geteuid(), st.st_uid, st.st_mode & 07777);
	return fd;
}

/* run.sh holds the lock on an inherited descriptor and says which. */
static bool parent_holds_lock(int lock)
{
	const char *inherited = getenv("BEFORE_AFTER_LOCK_FD");
	struct stat ours, theirs;
	int fd = inherited ? atoi(inherited) : -1;

	return fd > 2 && !fstat(lock, &ours) && !fstat(fd, &theirs) &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino &&
	       io_lock(fd, LOCK_EX | LOCK_NB);
}

static const char ending[] = ", ending";
/* For a holder that is ending: 10 s, in looks of 20 ms. */
static const struct timespec look = {.tv_nsec = 20000000};
enum { LOOKS = 500 };

static void read_holder(int lock, char *who, size_t size)
{
	ssize_t got = pread(lock, who, size - 1, 0);

	who[got > 0 ? got : 0] = '\0';
	who[strcspn(who, "\n")] = '\0';
}

/* It says so itself, or it is dead: killed, and what it had started is still going away. */
static bool is_ending(const char *who)
{
	size_t len = strlen(who), tail = strlen(ending);
	char path[64];
	int pid;

	if (len > tail && !strcmp(who + len - tail, ending))
		return true;
	if (sscanf(who, "pid %d,", &pid) != 1)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid); /* a zombie has none */
	return access(path, F_OK) && errno == ENOENT;
}

static void take_lock(int dir)
{
	int lock = io_openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
	char who[128] = "";
	int looks;

	if (lock < 0)
		run_broken("%s/lock: %s", run_dir(), strerror(errno));
	if (parent_holds_lock(lock)) {
		close(lock);
		return;
	}
	for (looks = 0; !io_lock(lock, LOCK_EX | LOCK_NB); looks++) {
		bool wait;

		if (errno != EWOULDBLOCK)
			run_broken("%s/lock: cannot be locked: %s", run_dir(), strerror(errno));
		read_holder(lock, who, sizeof(who));
		wait = is_ending(who);
		if (!wait || looks == LOOKS)
			run_broken("%s/lock: another before-after holds this box: %s%s", run_dir(),
				   *who ? who : "unknown", wait ? " for more than 10 s" : "");
		nanosleep(&look, NULL);
	}
	snprintf(who, sizeof(who), "pid %d, %s\n", getpid(), program_invocation_short_name);
	if (!io_truncate(lock, 0) || !io_pwrite(lock, who, strlen(who), 0))
		run_broken("%s/lock: cannot be written: %s", run_dir(), strerror(errno));
	held = lock; /* Kept open until the process ends. */
}

void owned_ending(void)
{
	char who[160];

	if (held < 0)
		return;
	/* Longer than what it replaces. Where it cannot be written, the next start is answered at once. */
	snprintf(who, sizeof(who), "pid %d, %s%s\n", getpid(), program_invocation_short_name,
		 ending);
	io_pwrite(held, who, strlen(who), 0);
}

void owned_open(void)
{
	int dir = open_run_dir();

	take_lock(dir);
	journal = io_openat(dir, "journal.jsonl", O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
	if (journal < 0)
		run_broken("%s/journal.jsonl: %s", run_dir(), strerror(errno));
	close(dir);
}

static off_t journal_append(const struct undo_kind *kind, json_t *entry)
{
	off_t offset = lseek(journal, 0, SEEK_END);
	char *text, *line;
	int len;

	json_object_set_new(entry, "kind", json_string(kind->name));
	json_object_set_new(entry, "boot", json_string(boot_id()));
	text = json_dumps(entry, JSON_COMPACT);
	if (offset < 0 || !text || (len = asprintf(&line, "%s\n", text)) < 0)
		run_broken("%s/journal.jsonl: cannot be written: %s", run_dir(), strerror(errno));
	if (!io_pwrite(journal, line, (size_t)len, offset)) {
		int err = errno;

		if (!io_truncate(journal, offset))
			err = errno;
		run_broken("%s/journal.jsonl: cannot be written: %s", run_dir(), strerror(err));
	}
	free(text);
	free(line);
	return offset;
}

void own(const struct undo_kind *kind, json_t *entry)
{
	if (!entry)
		run_broken("%s: out of memory for a journal entry", kind->name);
	if (depth == OWNED_MAX)
		run_broken("%s: more than %d owned resources", kind->name, OWNED_MAX);
	if (kind->outlives && journal < 0)
		run_broken("%s: a case that changes the box must need root", kind->name);
	stack[depth].kind = kind;
	stack[depth].entry = entry;
	stack[depth].offset = kind->outlives ? journal_append(kind, entry) : -1;
	depth++;
}

/* An entry whose undo failed stays in the journal, and so do all before it. */
static bool release(struct owned *o, bool keep, char *why, size_t size)
{
	bool ok = o->kind->undo(o->entry, why, size);

	if (ok && !keep && o->offset >= 0 && !io_truncate(journal, o->offset)) {
		snprintf(why, size, "journal: %s", strerror(errno));
		ok = false;
	}
	json_decref(o->entry);
	return ok;
}

bool owned_release_last(char *why, size_t size)
{
	return depth == 0 || release(&stack[--depth], false, why, size);
}

bool owned_release(char *why, size_t size)
{
	char next[256] = "";
	bool ok = true;

	while (depth > 0) {
		bool this =
			release(&stack[--depth], !ok, ok ? why : next, ok ? size : sizeof(next));

		ok = ok && this;
	}
	return ok;
}

void owned_forget_last(void)
{
	struct owned *o = &stack[--depth];

	if (o->offset >= 0 && !io_truncate(journal, o->offset))
		run_broken("%s/journal.jsonl: %s", run_dir(), strerror(errno));
	json_decref(o->entry);
}

/*
 * Reads the journal into the stack. A torn last line was never acted upon: it is dropped, and so
 * is what another boot wrote (a run directory on disk): the names in it are somebody else's by now.
 */
static void load_journal(void)
{
	FILE *f = fdopen(dup(journal), "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	off_t offset = 0;

	if (!f)
		run_broken("%s/journal.jsonl: %s", run_dir(), strerror(errno));
	rewind(f);
	while ((len = getline(&line, &cap, f)) > 0 && line[len - 1] == '\n') {
		json_t *entry = json_loads(line, 0, NULL);
		const struct undo_kind *kind =
			undo_kind_find(json_string_value(json_object_get(entry, "kind")));
		const char *boot = json_string_value(json_object_get(entry, "boot"));

		if (boot && strcmp(boot, boot_id())) {
			json_decref(entry);
			offset += len;
			continue;
		}
		if (!kind || depth == OWNED_MAX)
			run_broken(
				"%s/journal.jsonl: wanted an entry of a known kind, found %.100s",
				run_dir(), line);
		stack[depth++] = (struct owned){kind, entry, offset};
		offset += len;
	}
	free(line);
	fclose(f);
}

int owned_recover(void)
{
	char why[256] = "";
	int found;

	if (journal < 0)
		return 0;
	load_journal();
	found = depth;
	while (depth > 0) {
		char *text = json_dumps(stack[depth - 1].entry, JSON_COMPACT);

		fprintf(stderr, "# undoing what a killed run left: %s\n", text);
		if (!release(&stack[--depth], false, why, sizeof(why)))
			run_broken("%s/journal.jsonl: %s cannot be undone: %s", run_dir(), text,
				   why);
		free(text);
	}
	if (!io_truncate(journal, 0))
		run_broken("%s/journal.jsonl: %s", run_dir(), strerror(errno));
	return found;
}
