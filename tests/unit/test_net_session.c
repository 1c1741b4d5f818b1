/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole sessions: what goes in comes out at the other side, and every end is carried over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "netjob.h"

#define INPUT (1u << 20)

static uint8_t input[INPUT];

/* Zeroes, something like text, and noise in turn. */
static int make_input(void **state)
{
	uint32_t x = 1;
	(void)state;

	for (size_t i = 0; i < INPUT; i++) {
		x = x * 1664525 + 1013904223;
		input[i] = (i >> 14) % 3 == 0 ? 0 : (i >> 14) % 3 == 1 ? (uint8_t)"guest memory "[x % 13] : (uint8_t)(x >> 24);
	}
	return 0;
}

/* What cksum says of the input, by cksum itself. */
static const char *sum(void)
{
	static char text[64];
	FILE *f;

	if (text[0])
		return text;
	f = fopen("/tmp/xf-net-input", "w");
	assert_non_null(f);
	assert_int_equal(fwrite(input, 1, INPUT, f), INPUT);
	fclose(f);
	f = popen("cksum </tmp/xf-net-input", "r");
	assert_non_null(fgets(text, sizeof(text), f));
	pclose(f);
	unlink("/tmp/xf-net-input");
	return text;
}

static struct netjob job(const char *script)
{
	return (struct netjob){ .script = script, .input = input, .input_len = INPUT, .codec = XF_ADVICE_AUTO };
}

static void assert_went_well(const struct netjob *j, int status)
{
	if (j->client.ret || j->server.ret)
		fail_msg("client %d \"%s\", server %d \"%s\"", j->client.ret, j->client.error.text, j->server.ret,
			 j->server.error.text);
	assert_int_equal(j->client.result.has_status, 1);
	assert_int_equal(j->client.result.status, status);
}

static void carry(int tls, unsigned lanes, int codec)
{
	struct netjob j = job("cksum; echo diagnostics >&2; exit 7");

	j.tls = tls;
	j.lanes = lanes;
	j.codec = codec;
	netjob_run(&j);
	assert_went_well(&j, 7);
	assert_string_equal(j.out, sum());
	assert_string_equal(j.err, "diagnostics\n");
	assert_int_equal(j.client.result.raw_sent, INPUT);
	assert_int_equal(j.server.result.raw_received, INPUT);
	assert_true(j.client.result.wire_sent == j.server.result.wire_received);
	if (codec > XF_CODEC_NONE) {
		assert_true(j.client.result.blocks[codec] > 0);
		assert_true(j.client.result.wire_sent < INPUT / 10 * 7);
	}
}

static void test_plain(void **state)
{
	(void)state;
	carry(0, 1, XF_CODEC_NONE);
	carry(0, 3, XF_ADVICE_AUTO);
}

static void test_tls(void **state)
{
	(void)state;
	carry(1, 1, XF_CODEC_NONE);
	carry(1, 1, XF_ADVICE_AUTO);
}

static void test_codecs(void **state)
{
	(void)state;
	carry(1, 1, XF_CODEC_LZ4);
	carry(1, 1, XF_CODEC_ZSTD);
}

static void test_parallel(void **state)
{
	struct netjob j = job("head -c 50000000 | wc -c");
	(void)state;

	carry(1, 4, XF_CODEC_NONE);
	carry(1, 2, XF_CODEC_ZSTD);
	carry(1, XF_LANES_MAX, XF_ADVICE_AUTO);
	/* Many times the window. */
	j.endless = 1;
	j.lanes = 4;
	netjob_run(&j);
	assert_went_well(&j, 0);
	assert_string_equal(j.out, "50000000\n");
}

/* Either direction ends on its own. */
static void test_half_close(void **state)
{
	struct netjob j = job("exec 1>&-; cksum >&2");
	(void)state;

	j.tls = 1;
	netjob_run(&j);
	assert_went_well(&j, 0);
	assert_string_equal(j.out, "");
	assert_string_equal(j.err, sum());
	j = job("cat >/dev/null; echo after the end of input");
	netjob_run(&j);
	assert_went_well(&j, 0);
	assert_string_equal(j.out, "after the end of input\n");
}

/* A command that ends, or stops to read, while there is input: as over ssh, it has its say. */
static void test_early_end(void **state)
{
	struct netjob j = job("head -c 1000 | wc -c; exit 3");
	(void)state;

	j.endless = 1;
	j.tls = 1;
	netjob_run(&j);
	assert_went_well(&j, 3);
	assert_string_equal(j.out, "1000\n");
	j = job("exec 0<&-; echo no input wanted; exit 4");
	j.endless = 1;
	j.lanes = 3;
	netjob_run(&j);
	assert_went_well(&j, 4);
	assert_string_equal(j.out, "no input wanted\n");
	j = job("echo at once; exit 5");
	j.hold_input = 1;
	j.input_len = 0;
	netjob_run(&j);
	assert_went_well(&j, 5);
	assert_string_equal(j.out, "at once\n");
}

/* What a command leaves behind holds its pipes, and nobody waits for it. */
static void test_daemon_left(void **state)
{
	struct netjob j = job("sleep 1000 & echo $!; exit 0");
	(void)state;

	j.endless = 1;
	netjob_run(&j);
	assert_went_well(&j, 0);
	assert_true(atoi(j.out) > 1);
	kill(atoi(j.out), SIGKILL);
}

static void test_signal(void **state)
{
	struct netjob j = job("kill -9 $$");
	(void)state;

	netjob_run(&j);
	assert_went_well(&j, 0x100 | SIGKILL);
}

/* Whoever called has gone: the command sees the end of its input, and that is all. */
static void test_caller_gone(void **state)
{
	struct netjob j = job("yes");
	(void)state;

	j.close_output = 1;
	j.hold_input = 1;
	netjob_run(&j);
	assert_int_equal(j.client.ret, -EPIPE);
	assert_non_null(strstr(j.client.error.text, "whoever started this has gone"));
	assert_true(j.server.ret == -ENODATA || j.server.ret == -ECONNRESET);
	assert_true(WIFSIGNALED(j.status) || WIFEXITED(j.status));
}

/* A command that is busy with something else for several time-outs isn't taken for dead, nor is who waits for it. */
static void test_slow_reader(void **state)
{
	struct netjob j = job("sleep 2; cksum");
	(void)state;

	j.tls = 1;
	j.lanes = 2;
	j.time_out_ms = 1000;
	j.keep_alive_ms = 20;
	netjob_run(&j);
	assert_went_well(&j, 0);
	assert_string_equal(j.out, sum());
	j = job("cat; sleep 2; echo done");
	j.input_len = 0;
	j.time_out_ms = 1000;
	j.keep_alive_ms = 20;
	netjob_run(&j);
	assert_went_well(&j, 0);
	assert_string_equal(j.out, "done\n");
}

static uint64_t *napped_ms;	/* by any process */

/* Nobody really waits. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *nap, struct timespec *left)
{
	(void)clock, (void)flags, (void)left;
	if (napped_ms)
		__atomic_fetch_add(napped_ms, (uint64_t)nap->tv_sec * 1000 + (uint64_t)nap->tv_nsec / 1000000,
				   __ATOMIC_RELAXED);
	return 0;
}

/* A MiB at 64 KiB/s: the limit counts what goes over all connections together, and everything still arrives. */
static void test_bandwidth(void **state)
{
	struct netjob j = job("cksum");
	(void)state;

	napped_ms = mmap(NULL, sizeof(*napped_ms), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(napped_ms, MAP_FAILED);
	j.bandwidth = 64u << 10;
	j.codec = XF_CODEC_NONE;
	j.lanes = 3;
	j.tls = 1;
	netjob_run(&j);
	assert_went_well(&j, 0);
	assert_string_equal(j.out, sum());
	assert_true(*napped_ms > 8000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_tls),
		cmocka_unit_test(test_codecs),
		cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_half_close),
		cmocka_unit_test(test_early_end),
		cmocka_unit_test(test_daemon_left),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_caller_gone),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_bandwidth),
	};

	return cmocka_run_group_tests(tests, make_input, NULL);
}
