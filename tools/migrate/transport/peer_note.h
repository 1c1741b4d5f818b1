/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the two programs that carry a stream have told each other, for the
 * program that writes or reads it. The reader is started by the carrier and
 * finds the note in its environment. The writer isn't: both are started by a
 * third one, so the carrier leaves the note in a file named after the pipe
 * between them.
 */
#ifndef XENFERRY_PEER_NOTE_H
#define XENFERRY_PEER_NOTE_H

#include <stddef.h>
#include <stdint.h>

#define XF_PEER_VARIABLE "XENFERRY_PEER"
#define XF_PEER_NOTE	 128u

/* What the receiving side promises. */
enum {
	/* A page that it is told to allocate and gets no contents for is zero, however its Xen was booted. */
	XF_FEATURE_ZEROED_ALLOC = 1 << 0,
};

/* Those that this version's engine keeps when it receives. */
#define XF_FEATURES_OF_ENGINE XF_FEATURE_ZEROED_ALLOC

struct xf_peer_note {
	char version[32];	/* of the other side's xenferry */
	uint64_t features;
};

/* "version=0.1.0 features=0x1"; returns text. */
const char *xf_peer_note_text(const struct xf_peer_note *n, char text[XF_PEER_NOTE]);
/* -EINVAL where it is no such text. */
int xf_peer_note_parse(const char *text, struct xf_peer_note *n);

/*
 * What is known of the other end of fd: by the environment, else by the file
 * that whoever reads from the pipe left. -ENOENT: nothing, so it may be anybody.
 */
int xf_peer_find(int fd, struct xf_peer_note *n);

/* For the carrier, whose descriptor 0 the pipe must be. path gets the file's name, "" on error. */
int  xf_peer_leave_note(const struct xf_peer_note *n, char *path, size_t room);
void xf_peer_remove_note(const char *path);

#endif
