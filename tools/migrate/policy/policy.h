/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When to stop precopying: pure functions of what was measured and of limits.
 */
#ifndef XENFERRY_POLICY_H
#define XENFERRY_POLICY_H

#include <stdint.h>

/* The first three have the values of XGS_POLICY_*. */
enum policy_answer {
	POLICY_ABORT    = -1,
	POLICY_CONTINUE = 0,
	POLICY_STOP     = 1,	/* send what waits, then suspend and send what is left */
	POLICY_STOP_NOW = 2,	/* suspend now: what waits would be dirty again by the time it is sent */
};

/* What a caller's own policy is asked with. */
struct policy_stats {
	unsigned round;		/* rounds finished */
	uint64_t written;	/* pages sent so far */
	int64_t  dirty;		/* pages to send now, -1 if not known yet */
};

/* ---- stock's rule ------------------------------------------------------- */

/* Five rounds, or fewer than 50 dirty pages. */
enum policy_answer policy_decide_stock(const struct policy_stats *stats);

/* ---- ours --------------------------------------------------------------- */

/* What to do with a guest that dirties memory faster than it can be sent. */
enum policy_when_stuck {
	POLICY_PAUSE,		/* suspend it, however long the pause */
	POLICY_THROTTLE,	/* give it less and less CPU time, then suspend it */
	POLICY_GIVE_UP,
};

struct policy_limits {
	double max_pause_ms;	/* the pause to aim at */
	unsigned max_rounds;	/* 0: no limit */
	double max_time_s;	/* 0: no limit */
	enum policy_when_stuck when_stuck;
};
extern const struct policy_limits policy_default_limits;

/* Rounds in a row without headway that make a guest stuck. */
#define POLICY_STUCK_ROUNDS 2
/* A pause without a page to send: suspend, state, start. */
#define POLICY_FIXED_MS 100
/* So few pages are sent in the pause whatever was measured. */
#define POLICY_FEW_DIRTY 50

/* As long as sending what waits takes longer, and a round makes it less, there are further rounds. */
#define POLICY_WORTH_MS 10

struct policy_measured {
	unsigned round;		/* rounds finished */
	int64_t dirty;		/* pages to send now, -1 if not known yet */
	double elapsed_s;	/* since the first page */
	double send_rate;	/* pages a second, 0 if not known */
	double dirty_rate;	/* pages a second the guest dirties, 0 if not known */
	double scan_ms;		/* comparing all of memory once, in each round and in the pause; 0 with log-dirty */
	double verify_ms;	/* sending all of it again in the pause; 0 if that isn't wanted */
	unsigned stuck;		/* rounds in a row without headway, see policy_stuck */
	unsigned cap;		/* percent of its CPU time the guest has, 100: all */
};

enum policy_reason {
	POLICY_NOT_YET,
	POLICY_SHORT_PAUSE,	/* the pause will be as short as wanted */
	POLICY_IS_STUCK,
	POLICY_MAX_ROUNDS,
	POLICY_MAX_TIME,
	POLICY_NO_SHORTER,	/* longer than wanted for what isn't the dirty pages' doing, and that stays so */
	POLICY_CALLER,		/* the caller's own policy said so */
};
const char *policy_reason_name(enum policy_reason reason);

struct policy_verdict {
	enum policy_answer answer;
	enum policy_reason reason;
	double pause_ms;	/* were it suspended now; -1 if not known */
	unsigned cap;		/* what the guest shall have from now on */
};

struct policy_verdict policy_decide(const struct policy_measured *m, const struct policy_limits *limits);

/* How many rounds in a row were without headway, after one that sent `sent` pages and found `dirty`. */
unsigned policy_stuck(unsigned before, uint64_t sent, uint64_t dirty);

/* The next step down of the throttle: percent, the same when there is none. */
unsigned policy_next_cap(unsigned cap);

#endif
