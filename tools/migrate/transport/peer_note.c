/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transport/peer_note.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN_DIR "/run/xenferry"

/* Elsewhere in tests. */
static const char *run_dir(void)
{
	const char *dir = getenv("XENFERRY_RUN");

	return dir && *dir ? dir : RUN_DIR;
}

static int note_path(int fd, char *path, size_t room, struct stat *st)
{
	int n;

	if (fstat(fd, st))
		return -errno;
	if (!S_ISFIFO(st->st_mode))
		return -ENOENT;
	n = snprintf(path, room, "%s/pipe-%" PRIu64, run_dir(), (uint64_t)st->st_ino);
	return n < 0 || (size_t)n >= room ? -ENAMETOOLONG : 0;
}

const char *xf_peer_note_text(const struct xf_peer_note *n, char text[XF_PEER_NOTE])
{
	snprintf(text, XF_PEER_NOTE, "version=%s features=0x%" PRIx64, n->version, n->features);
	return text;
}

int xf_peer_note_parse(const char *text, struct xf_peer_note *n)
{
	struct xf_peer_note found = { .features = 0 };
	int end = -1;

	if (sscanf(text, "version=%31[0-9a-z.+~-] features=0x%" SCNx64 "%n", found.version, &found.features,
		   &end) != 2 || text[end])
		return -EINVAL;
	*n = found;
	return 0;
}

/* Numbers of pipes come again: the process that left the note must be there and have this one. */
static int is_its_input(int pid, const struct stat *pipe)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/0", pid);
	return !stat(path, &st) && st.st_dev == pipe->st_dev && st.st_ino == pipe->st_ino;
}

static int read_note(const char *path, const struct stat *pipe, struct xf_peer_note *n)
{
	char text[XF_PEER_NOTE + 32];
	struct stat st;
	ssize_t got;
	int pid, at = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -ENOENT;
	got = read(fd, text, sizeof(text) - 1);
	/* Only what one of us wrote counts. */
	if (fstat(fd, &st) || st.st_uid != geteuid() || !S_ISREG(st.st_mode) || got < 0)
		got = 0;
	close(fd);
	text[got] = '\0';
	if (sscanf(text, "pid=%d %n", &pid, &at) != 1 || !at || !is_its_input(pid, pipe))
		return -ENOENT;
	return xf_peer_note_parse(text + at, n) ? -ENOENT : 0;
}

int xf_peer_find(int fd, struct xf_peer_note *n)
{
	const char *told = getenv(XF_PEER_VARIABLE);
	char path[256];
	struct stat pipe;
	int ret;

	if (told && *told)
		return xf_peer_note_parse(told, n) ? -ENOENT : 0;
	ret = note_path(fd, path, sizeof(path), &pipe);
	return ret ? -ENOENT : read_note(path, &pipe, n);
}

int xf_peer_leave_note(const struct xf_peer_note *n, char *path, size_t room)
{
	char text[XF_PEER_NOTE];
	struct stat pipe;
	int ret = note_path(STDIN_FILENO, path, room, &pipe), fd;

	if (!ret && mkdir(run_dir(), 0755) && errno != EEXIST)
		ret = -errno;
	if (ret) {
		*path = '\0';
		return ret;
	}
	unlink(path);	/* of a process that was killed and had a pipe of the same number */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || dprintf(fd, "pid=%d %s", (int)getpid(), xf_peer_note_text(n, text)) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	if (ret)
		*path = '\0';
	return ret;
}

void xf_peer_remove_note(const char *path)
{
	if (*path)
		unlink(path);
}
