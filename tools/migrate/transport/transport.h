/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A transport moves bytes, all of them or an error: short reads and writes and
 * interruptions stop here. It knows nothing of records.
 *
 * Errors are negative errnos. The end of the input is -ENODATA, never mixed up
 * with a device's error; a peer that went away while we write is -EPIPE (the
 * program ignores SIGPIPE).
 */
#ifndef XENFERRY_TRANSPORT_H
#define XENFERRY_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct xf_transport;

struct xf_transport_ops {
	/* As readv and writev, but with -errno; 0 from readv is the end. */
	ssize_t (*readv)(struct xf_transport *t, const struct iovec *iov, int n);
	ssize_t (*writev)(struct xf_transport *t, const struct iovec *iov, int n);
};

struct xf_transport {
	const struct xf_transport_ops *ops;
	uint64_t bytes_read;	/* moved so far, also of calls that failed half-way */
	uint64_t bytes_written;
};

/* *got, if not NULL, gets how many bytes arrived, also on error. */
int xf_transport_read(struct xf_transport *t, void *buf, size_t len, size_t *got);
int xf_transport_readv(struct xf_transport *t, const struct iovec *iov, size_t n, size_t *got);
int xf_transport_write(struct xf_transport *t, const void *buf, size_t len);
/* The array may be as long as it likes; neighbours that touch are joined. */
int xf_transport_writev(struct xf_transport *t, const struct iovec *iov, size_t n);

/* ---- over a descriptor, blocking or not; the descriptor stays the caller's ---- */

struct xf_transport_fd {
	struct xf_transport base;
	int fd;
};
void xf_transport_fd_init(struct xf_transport_fd *t, int fd);

/* ---- over another one, the first bytes of which can be looked at ahead ---- */

struct xf_transport_peek {
	struct xf_transport base;	/* counts what was read through it */
	struct xf_transport *inner;
	uint8_t head[8];
	size_t have;			/* bytes of head that arrived */
	size_t at;
};
/* Reads the head; on error (-ENODATA: fewer bytes came) what did come can still be read. */
int xf_transport_peek_init(struct xf_transport_peek *t, struct xf_transport *inner);

/* ---- in memory, for tests ----------------------------------------------- */

struct xf_transport_mem {
	struct xf_transport base;
	uint8_t *data;		/* what was written, or is to be read */
	size_t size;
	size_t room;
	size_t at;		/* next byte to read */
	size_t step;		/* at most so many bytes a call, 0: no limit */
	size_t write_limit;	/* after so many bytes -EPIPE, 0: no limit */
};
/* Starts with a copy of len bytes (0: empty). -ENOMEM. */
int  xf_transport_mem_init(struct xf_transport_mem *t, const void *data, size_t len);
void xf_transport_mem_free(struct xf_transport_mem *t);

#endif
