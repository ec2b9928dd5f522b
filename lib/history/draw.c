// SPDX-License-Identifier: GPL-2.0-only
#include "history/draw.h"

#include "history/plots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where gnuplot writes; one index is made at a time. */
#define NEW ".plots.new"

static int failed(const char *file, const char *wanted, struct input_error *error)
{
	struct input in = {.file = file, .error = error};

	return input_fail(&in, NULL, wanted, strerror(errno));
}

/* What a kill left of an earlier one: our own pictures and nothing else. */
static void clear(struct arena *arena, const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (length > 4 && !strcmp(entry->d_name + length - 4, ".svg"))
			unlink(arena_printf(arena, "%s/%s", directory, entry->d_name));
	}
	if (dir)
		closedir(dir);
}

static int make_directory(const char *path, struct input_error *error)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		return failed(path, "a directory that can be made", error);
	return 0;
}

/* The child: its script on fd 0, its messages on our stderr; 127 without the program. */
static void run_gnuplot(const char *directory, int script)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (chdir(directory) || dup2(script, STDIN_FILENO) < 0 || null < 0 ||
	    dup2(null, STDOUT_FILENO) < 0)
		_exit(126);
	signal(SIGPIPE, SIG_DFL);
	/* Bytes pass as they are; a locale would change numbers and dates. */
	setenv("LC_ALL", "C", 1);
	execlp("gnuplot", "gnuplot", "-", (char *)NULL);
	_exit(errno == ENOENT ? 127 : 126);
}

static void write_script(struct arena *arena, const struct trends *trends, FILE *out)
{
	for (size_t i = 0; i < trends->count; i++)
		plot_script(arena, trends, &trends->items[i], NEW, out);
}

/* 0, 1 without gnuplot, or -1. */
static int plot_all(struct arena *arena, const struct trends *trends, const char *directory,
		    struct input_error *error)
{
	int fds[2], status;
	FILE *script;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC))
		return failed("gnuplot", "a pipe to it", error);
	fflush(NULL);
	child = fork();
	if (!child)
		run_gnuplot(directory, fds[0]);
	close(fds[0]);
	script = child < 0 ? NULL : fdopen(fds[1], "w");
	if (!script) {
		close(fds[1]);
		failed("gnuplot", "a process for it", error);
	} else {
		/* A gnuplot that is gone is told by its status. */
		signal(SIGPIPE, SIG_IGN);
		write_script(arena, trends, script);
		fclose(script);
		signal(SIGPIPE, SIG_DFL);
	}
	if (child < 0)
		return -1;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (error->text[0])
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return 1;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		struct input in = {.file = "gnuplot", .error = error};

		return input_failf(&in, NULL, "exit 0", "status %d",
				   WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	}
	return 0;
}

int draw_trends(struct arena *arena, const struct trends *trends, const char *directory,
		struct input_error *error)
{
	const char *new = arena_printf(arena, "%s/" NEW, directory);
	const char *plots = arena_printf(arena, "%s/plots", directory);
	int result;

	if (!trends->count)
		return 0;
	if (make_directory(new, error) < 0 || make_directory(plots, error) < 0)
		return -1;
	clear(arena, new);
	result = plot_all(arena, trends, directory, error);
	for (size_t i = 0; !result && i < trends->count; i++) {
		const char *name = trends->items[i].name;
		const char *from = arena_printf(arena, "%s/%s.svg", new, name);

		if (rename(from, arena_printf(arena, "%s/%s.svg", plots, name)))
			result = failed(from, "a picture from gnuplot", error);
	}
	clear(arena, new);
	rmdir(new);
	return result;
}
