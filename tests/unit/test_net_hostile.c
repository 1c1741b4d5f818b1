/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a network does: cut, stalled, altered. Never a hang, never a wrong byte taken for right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "netjob.h"
#include "transport/net/frame.h"

#define INPUT (1u << 18)

static uint8_t input[INPUT];
static char right[64];	/* what the command says when it got all of it */

static struct netjob job(void)
{
	return (struct netjob){ .script = "cksum", .input = input, .input_len = INPUT, .codec = XF_CODEC_NONE };
}

static int learn_right(void **state)
{
	struct netjob j = job();
	uint32_t x = 7;
	(void)state;

	for (size_t i = 0; i < INPUT; i++)
		input[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
	netjob_run(&j);
	strcpy(right, j.out);
	return j.client.ret || !right[0];
}

/* Both sides say that it failed and why; the command has ended by itself. */
static void assert_failed(const struct netjob *j, size_t at)
{
	if (j->client.ret >= 0 || j->server.ret >= 0)
		fail_msg("at byte %zu: client %d \"%s\", server %d \"%s\", command \"%s\"", at, j->client.ret,
			 j->client.error.text, j->server.ret, j->server.error.text, j->out);
	assert_true(j->client.error.text[0] && j->server.error.text[0]);
	assert_false(j->client.result.has_status);
	assert_true(j->exited || j->server.result.raw_received == 0);
}

static void misfortune(enum mischief what, int tls, unsigned lanes, const size_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct netjob j = job();

		j.what = what;
		j.tls = tls;
		j.lanes = lanes;
		j.after = at[i];
		j.time_out_ms = what == STALL ? 150 : what == CUT ? 0 : 1000;
		j.keep_alive_ms = 30;
		netjob_run(&j);
		/* With several connections the others may have carried it all before that; the caller need not hear of it. */
		if (lanes > 1 && !j.server.ret) {
			if (!j.client.ret)
				assert_string_equal(j.out, right);
			continue;
		}
		assert_failed(&j, at[i]);
		if (what == STALL)
			assert_true(j.client.ret == -ETIMEDOUT || j.server.ret == -ETIMEDOUT);
		/* In a handshake it may look like a long record, for which somebody waits until the time-out. */
		if ((what == ALTER || what == REPEAT) && j.client.ret != -EPROTO && j.server.ret != -EPROTO &&
		    at[i] > 4096)
			fail_msg("at byte %zu: client \"%s\", server \"%s\"", at[i], j.client.error.text,
				 j.server.error.text);
	}
}

/* Before the first byte, in a head, between frames, in contents, in a handshake, towards the end. */
static const size_t points[] = { 0, 23, 24, 700, 2000, 65536, INPUT - 100 };
#define POINTS (sizeof(points) / sizeof(points[0]))

static void test_cut(void **state)
{
	(void)state;
	misfortune(CUT, 0, 1, points, POINTS);
	misfortune(CUT, 1, 1, points, POINTS);
	misfortune(CUT, 1, 3, points + 3, 2);
}

/* On the way back, where there are few bytes, at each of them: without the status it is no success. */
static void test_cut_backwards(void **state)
{
	struct netjob j = job();
	size_t whole;
	(void)state;

	j.keep_alive_ms = 10000;
	netjob_run(&j);
	assert_int_equal(j.client.ret, 0);
	whole = j.passed[1] - XF_FRAME_HEAD;	/* without BYE, which nobody needs */
	for (size_t at = 0; at < whole; at += 9) {
		j = job();
		j.keep_alive_ms = 10000;
		j.what = CUT;
		j.backwards = 1;
		j.after = at;
		netjob_run(&j);
		assert_true(j.client.ret < 0);
		assert_false(j.client.result.has_status);
	}
}

static void test_stall(void **state)
{
	static const size_t at[] = { 0, 24, 100000 };
	(void)state;

	misfortune(STALL, 0, 1, at, 3);
	misfortune(STALL, 1, 1, at, 3);
	misfortune(STALL, 1, 2, at + 1, 1);
}

static void test_altered(void **state)
{
	static const size_t at[] = { 100, 700, 5000, 200000 };
	(void)state;

	misfortune(ALTER, 1, 1, at, 4);
	misfortune(REPEAT, 1, 1, at, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_cut_backwards),
		cmocka_unit_test(test_stall),
		cmocka_unit_test(test_altered),
	};

	return cmocka_run_group_tests(tests, learn_right, NULL);
}
