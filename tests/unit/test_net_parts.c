/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the network transport that are arithmetic or parsing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/net/advice.h"
#include "transport/net/codec.h"
#include "transport/net/frame.h"
#include "transport/net/hello.h"
#include "transport/net/pace.h"
#include "transport/net/peers.h"
#include "transport/peer_note.h"

static struct xf_error e;

static void fresh(void)
{
	e = (struct xf_error){ 0 };
}

/* ---- frames ---------------------------------------------------------------- */

static void frame_refused(const struct xf_frame *f, const char *sentence)
{
	uint8_t head[XF_FRAME_HEAD];
	struct xf_frame got;

	fresh();
	xf_frame_encode(f, head);
	assert_int_equal(xf_frame_decode(head, 1u << XF_CODEC_NONE | 1u << XF_CODEC_ZSTD, &got, &e), -EPROTO);
	assert_non_null(strstr(e.text, sentence));
}

static void test_frames(void **state)
{
	const struct xf_frame good[] = {
		{ XF_FRAME_DATA, XF_CODEC_NONE, 0, 1, 1, 7 },
		{ XF_FRAME_DATA, XF_CODEC_NONE, 1, XF_BLOCK, XF_BLOCK, UINT64_MAX },
		{ XF_FRAME_DATA, XF_CODEC_ZSTD, 0, 1, XF_BLOCK, 0 },
		{ XF_FRAME_EOF, 0, 1, 0, 0, 3 },
		{ XF_FRAME_EXIT, 0, 0, 0, 0x109, 4 },
		{ XF_FRAME_PING, 0, 0, 0, 0, 0 },
		{ XF_FRAME_BYE, 0, 0, 0, 0, 0 },
	};
	uint8_t head[XF_FRAME_HEAD];
	struct xf_frame got;
	(void)state;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		fresh();
		xf_frame_encode(&good[i], head);
		assert_int_equal(xf_frame_decode(head, 5, &got, &e), 0);
		assert_int_equal(got.type, good[i].type);
		assert_int_equal(got.wire_len, good[i].wire_len);
		assert_int_equal(got.raw_len, good[i].raw_len);
		assert_true(got.seq == good[i].seq);
	}
	frame_refused(&(struct xf_frame){ .type = 0 }, "type 0");
	frame_refused(&(struct xf_frame){ .type = 6 }, "type 6");
	frame_refused(&(struct xf_frame){ .type = XF_FRAME_EOF, .channel = 2 }, "channel 2");
	frame_refused(&(struct xf_frame){ .type = XF_FRAME_DATA, .wire_len = 0, .raw_len = 0 }, "0 bytes");
	frame_refused(&(struct xf_frame){ .type = XF_FRAME_DATA, .wire_len = XF_BLOCK + 1,
					  .raw_len = XF_BLOCK + 1 }, "expected 1 to");
	frame_refused(&(struct xf_frame){ .type = XF_FRAME_DATA, .wire_len = 5, .raw_len = 6 }, "as many");
	frame_refused(&(struct xf_frame){ .type = XF_FRAME_DATA, .codec = XF_CODEC_ZSTD, .wire_len = 6,
					  .raw_len = 6 }, "fewer");
	frame_refused(&(struct xf_frame){ .type = XF_FRAME_DATA, .codec = XF_CODEC_ZSTD, .wire_len = 0,
					  .raw_len = 6 }, "fewer");
	frame_refused(&(struct xf_frame){ .type = XF_FRAME_DATA, .codec = XF_CODEC_LZ4, .wire_len = 3,
					  .raw_len = 6 }, "codec 1");
	frame_refused(&(struct xf_frame){ .type = XF_FRAME_DATA, .codec = 200, .wire_len = 3, .raw_len = 6 },
		      "codec 200");
	frame_refused(&(struct xf_frame){ .type = XF_FRAME_PING, .wire_len = 4 }, "with contents");
	frame_refused(&(struct xf_frame){ .type = XF_FRAME_BYE, .seq = 4 }, "with contents");
}

static void test_reserved_bytes(void **state)
{
	const struct xf_frame f = { .type = XF_FRAME_PING };
	uint8_t head[XF_FRAME_HEAD];
	struct xf_frame got;
	(void)state;

	for (size_t at = 3; at < 16; at += 9) {
		fresh();
		xf_frame_encode(&f, head);
		head[at] = 1;
		assert_int_equal(xf_frame_decode(head, 1, &got, &e), -EPROTO);
		assert_non_null(strstr(e.text, "reserved"));
	}
}

/* ---- greetings --------------------------------------------------------------- */

static struct xf_hello hello(void)
{
	struct xf_hello h = { .version_min = 1, .version_max = 1, .lanes = 2, .lane = 1, .codecs = 7,
			      .time_out_ms = 30000, .features = 0x8000000000000001, .software = "0.1.0~rc1" };

	xf_hello_add_word(&h, "xl");
	xf_hello_add_word(&h, "");
	xf_hello_add_word(&h, "migrate-receive");
	memset(h.token, 0xa5, sizeof(h.token));
	return h;
}

static void test_hello(void **state)
{
	uint8_t bytes[XF_HELLO_HEAD + XF_HELLO_WORDS];
	struct xf_hello h = hello(), got;
	const char *word = NULL;
	size_t len, tail;
	(void)state;

	fresh();
	len = xf_hello_encode(&h, bytes);
	assert_int_equal(xf_hello_tail(bytes, &tail, &e), 0);
	assert_int_equal(len, XF_HELLO_HEAD + tail);
	assert_int_equal(xf_hello_decode(bytes, len, &got, &e), 0);
	assert_true(got.features == h.features);
	assert_string_equal(got.software, "0.1.0~rc1");
	assert_memory_equal(got.token, h.token, XF_TOKEN);
	assert_string_equal(word = xf_hello_word(&got, word), "xl");
	assert_string_equal(word = xf_hello_word(&got, word), "");
	assert_string_equal(word = xf_hello_word(&got, word), "migrate-receive");
	assert_null(xf_hello_word(&got, word));
	/* Every length but the right one. */
	for (size_t cut = 0; cut < len; cut++) {
		fresh();
		assert_int_equal(xf_hello_decode(bytes, cut, &got, &e), -EPROTO);
	}
}

static void hello_refused(struct xf_hello h, const char *sentence)
{
	uint8_t bytes[XF_HELLO_HEAD + XF_HELLO_WORDS];
	struct xf_hello got;

	fresh();
	assert_int_equal(xf_hello_decode(bytes, xf_hello_encode(&h, bytes), &got, &e), -EPROTO);
	assert_non_null(strstr(e.text, sentence));
}

static void test_hello_refused(void **state)
{
	uint8_t bytes[XF_HELLO_HEAD + XF_HELLO_WORDS];
	struct xf_hello h = hello();
	size_t tail;
	(void)state;

	h.version_min = 2;
	hello_refused(h, "versions 2 to 1");
	h = hello();
	h.lanes = 17;
	hello_refused(h, "connection 1 of 17");
	h.lanes = 1;
	hello_refused(h, "connection 1 of 1");
	h = hello();
	h.time_out_ms = 0;
	hello_refused(h, "a time-out of 0 ms");
	h = hello();
	h.words[h.words_len - 1] = 'x';
	hello_refused(h, "words that don't end");
	h = hello();
	strcpy(h.software, "0.1\n");
	hello_refused(h, "byte 0x0a");
	h = hello();
	xf_hello_encode(&h, bytes);
	bytes[0]++;
	fresh();
	assert_int_equal(xf_hello_tail(bytes, &tail, &e), -EPROTO);
	bytes[0]--;
	bytes[15] = 0xff;	/* the tail's length */
	fresh();
	assert_int_equal(xf_hello_tail(bytes, &tail, &e), -EPROTO);
	while (!xf_hello_add_word(&h, "0123456789"))
		assert_true(h.words_len <= XF_HELLO_WORDS);
	assert_int_equal(xf_hello_add_word(&h, "0123456789"), -E2BIG);
}

static void test_versions(void **state)
{
	struct xf_hello h = { .version_min = 1, .version_max = 9, .software = "9.0" };
	uint16_t version;
	(void)state;

	fresh();
	assert_int_equal(xf_hello_version(&h, &version, &e), 0);
	assert_int_equal(version, XF_PROTOCOL_MAX);
	h.version_min = XF_PROTOCOL_MAX + 1;
	assert_int_equal(xf_hello_version(&h, &version, &e), -EPROTONOSUPPORT);
	assert_non_null(strstr(e.text, "xenferry 9.0) speaks versions 2 to 9"));
}

static void test_preamble(void **state)
{
	struct xf_preamble p = { .lane = 3 }, got;
	uint8_t bytes[XF_PREAMBLE];
	(void)state;

	memset(p.token, 0x5a, sizeof(p.token));
	xf_preamble_encode(&p, bytes);
	fresh();
	assert_int_equal(xf_preamble_decode(bytes, &got, &e), 0);
	assert_int_equal(got.lane, 3);
	assert_memory_equal(got.token, p.token, XF_TOKEN);
	for (size_t at = 0; at < 16; at++) {
		uint8_t bad[XF_PREAMBLE];

		memcpy(bad, bytes, sizeof(bad));
		bad[at] ^= 0x40;	/* magic, version, lane (then 67), zeroes */
		fresh();
		assert_int_equal(xf_preamble_decode(bad, &got, &e), -EPROTO);
	}
}

/* ---- codecs -------------------------------------------------------------------- */

static void test_codecs(void **state)
{
	static uint8_t from[XF_BLOCK], made[XF_BLOCK], back[XF_BLOCK];
	struct xf_codec_state *s;
	(void)state;

	assert_int_equal(xf_codec_open(&s), 0);
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i / 100);
	for (int c = XF_CODEC_LZ4; c < XF_CODECS; c++) {
		size_t len = xf_codec_compress(s, (enum xf_codec)c, made, from, sizeof(from));

		assert_in_range(len, 1, sizeof(from) / 10);
		assert_int_equal(xf_codec_expand(s, (enum xf_codec)c, back, sizeof(back), made, len), 0);
		assert_memory_equal(back, from, sizeof(from));
		/* Another length than it says, cut short, and garbage. */
		assert_int_equal(xf_codec_expand(s, (enum xf_codec)c, back, sizeof(back) - 1, made, len), -EPROTO);
		for (size_t cut = 0; cut < len; cut += 7)
			assert_int_equal(xf_codec_expand(s, (enum xf_codec)c, back, sizeof(back), made, cut),
					 -EPROTO);
		for (size_t i = 0; i < len; i++)
			made[i] = (uint8_t)(i * 101 + 7);
		assert_int_equal(xf_codec_expand(s, (enum xf_codec)c, back, sizeof(back), made, len), -EPROTO);
		assert_int_equal(xf_codec_by_name(xf_codec_name((enum xf_codec)c)), c);
	}
	assert_int_equal(xf_codec_by_name("gzip"), -EINVAL);
	xf_codec_close(s);
}

/* What doesn't get smaller is left alone. */
static void test_incompressible(void **state)
{
	static uint8_t from[8192], made[8192];
	struct xf_codec_state *s;
	uint32_t x = 1;
	(void)state;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
	assert_int_equal(xf_codec_open(&s), 0);
	for (int c = 0; c < XF_CODECS; c++)
		assert_int_equal(xf_codec_compress(s, (enum xf_codec)c, made, from, sizeof(from)), 0);
	assert_int_equal(xf_codec_compress(s, XF_CODEC_ZSTD, made, from, 1), 0);
	xf_codec_close(s);
}

/* ---- the bandwidth limit ----------------------------------------------------------- */

static void test_pace(void **state)
{
	struct xf_pace p = { .rate = 1000000 };
	uint64_t now = 5000000000u, sent = 0;
	(void)state;

	/* Whoever waits as told sends at the rate, plus what a pause may save: 100 ms. */
	while (sent < 10000000) {
		now += xf_pace_take(&p, 16384, now);
		sent += 16384;
	}
	assert_in_range(now - 5000000000u, (sent - 16384) * 1000 - 100000000, sent * 1000);
	/* A long pause saves no more than that. */
	now += 3600 * 1000000000ull;
	assert_int_equal(xf_pace_take(&p, 100000, now), 0);
	assert_int_equal(xf_pace_take(&p, 1, now), 0);
	assert_int_equal(xf_pace_take(&p, 1, now), 1000);
	/* Several senders share it: it is the sum that counts. */
	p = (struct xf_pace){ .rate = 65536 };
	assert_int_equal(xf_pace_take(&p, 65536, 100000000), 0);
	assert_int_equal(xf_pace_take(&p, 65536, 100000000), 900000000);
	assert_int_equal(xf_pace_take(&p, 65536, 100000000), 1900000000);
	p = (struct xf_pace){ .rate = 0 };
	assert_int_equal(xf_pace_take(&p, UINT32_MAX, 1), 0);
}

/* ---- peers ------------------------------------------------------------------------------ */

#define PIN "sha256:00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"

static void test_peers(void **state)
{
	struct xf_peers p = { 0 };
	uint8_t pin[XF_PIN];
	char text[XF_PIN_TEXT];
	(void)state;

	fresh();
	assert_int_equal(xf_peers_add(&p, "host1 " PIN, &e), 0);
	assert_int_equal(xf_peers_add(&p, "host2\t" PIN "  192.0.2.7:99 ", &e), 0);
	assert_int_equal(xf_peers_add(&p, "host3 plain [::1]:77", &e), 0);
	assert_int_equal(xf_peers_add(&p, "host4 plain 2001:db8::1", &e), 0);
	assert_string_equal(xf_peers_by_name(&p, "host1")->address, "host1");
	assert_string_equal(xf_peers_by_name(&p, "host1")->port, "");
	assert_string_equal(xf_peers_by_name(&p, "host2")->address, "192.0.2.7");
	assert_string_equal(xf_peers_by_name(&p, "host2")->port, "99");
	assert_string_equal(xf_peers_by_name(&p, "host3")->address, "::1");
	assert_string_equal(xf_peers_by_name(&p, "host4")->address, "2001:db8::1");
	assert_null(xf_peers_by_name(&p, "host"));
	memcpy(pin, p.peer[0].pin, XF_PIN);
	assert_int_equal(pin[15], 0xff);
	assert_ptr_equal(xf_peers_by_pin(&p, pin), &p.peer[0]);
	assert_string_equal(xf_pin_text(pin, text),
			    "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
	pin[31] ^= 1;
	assert_null(xf_peers_by_pin(&p, pin));
	/* A plain one has no key: all zeroes are nobody's. */
	memset(pin, 0, sizeof(pin));
	assert_null(xf_peers_by_pin(&p, pin));
	assert_ptr_equal(xf_peers_by_address(&p, "::1"), &p.peer[2]);
	/* One with a key isn't let in by its address. */
	assert_null(xf_peers_by_address(&p, "192.0.2.7"));
	xf_peers_free(&p);
}

static void peer_refused(const char *line, const char *sentence)
{
	struct xf_peers p = { 0 };

	fresh();
	assert_int_equal(xf_peers_add(&p, "twice " PIN, &e), 0);
	assert_int_equal(xf_peers_add(&p, line, &e), -EINVAL);
	assert_non_null(strstr(e.text, sentence));
	assert_int_equal(p.n, 1);
	xf_peers_free(&p);
}

static void test_peers_refused(void **state)
{
	char longer[300];
	(void)state;

	peer_refused("", "fewer than two words");
	peer_refused("host1", "fewer than two words");
	peer_refused("host1 " PIN " a b", "more than three words");
	peer_refused("host1 sha256:0011", "as the pin of peer host1");
	peer_refused("host1 " PIN "0", "as the pin");
	peer_refused("host1 md5:00112233445566778899aabbccddeeff", "as the pin");
	peer_refused("host1 sha256:g0112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF", "as the pin");
	peer_refused("host1 " PIN " host:", "as the address");
	peer_refused("host1 " PIN " :9", "as the address");
	peer_refused("host1 " PIN " [::1", "as the address");
	peer_refused("host1 " PIN " host:123456789", "as the address");
	peer_refused("twice plain", "peer twice twice");
	memset(longer, 'h', sizeof(longer) - 1);
	strcpy(longer + 200, " plain");
	peer_refused(longer, "a peer's name of 200 bytes");
}

/* ---- the note for the engine --------------------------------------------------------------- */

static void test_note(void **state)
{
	struct xf_peer_note n = { .version = "1.2.3", .features = 0xff00000000000001 }, got;
	char text[XF_PEER_NOTE], dir[] = "/tmp/xf-note-XXXXXX", path[300];
	int pipes[2], other[2], saved = dup(0);
	(void)state;

	assert_int_equal(xf_peer_note_parse(xf_peer_note_text(&n, text), &got), 0);
	assert_string_equal(got.version, n.version);
	assert_true(got.features == n.features);
	assert_int_equal(xf_peer_note_parse("", &got), -EINVAL);
	assert_int_equal(xf_peer_note_parse("version=1 features=0x1 more", &got), -EINVAL);
	assert_int_equal(xf_peer_note_parse("version= features=0x1", &got), -EINVAL);
	assert_non_null(mkdtemp(dir));
	setenv("XENFERRY_RUN", dir, 1);
	unsetenv(XF_PEER_VARIABLE);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(pipe(other), 0);
	assert_int_equal(dup2(pipes[0], 0), 0);
	assert_int_equal(xf_peer_find(pipes[1], &got), -ENOENT);
	assert_int_equal(xf_peer_leave_note(&n, path, sizeof(path)), 0);
	memset(&got, 0, sizeof(got));
	assert_int_equal(xf_peer_find(pipes[1], &got), 0);
	assert_true(got.features == n.features);
	/* Another pipe, no pipe, and one whose carrier has gone while its note stayed. */
	assert_int_equal(xf_peer_find(other[1], &got), -ENOENT);
	assert_int_equal(xf_peer_find(-1, &got), -ENOENT);
	assert_int_equal(dup2(other[0], 0), 0);
	assert_int_equal(xf_peer_find(pipes[1], &got), -ENOENT);
	xf_peer_remove_note(path);
	/* The environment goes first. */
	setenv(XF_PEER_VARIABLE, "version=9 features=0x4", 1);
	assert_int_equal(xf_peer_find(pipes[1], &got), 0);
	assert_true(got.features == 4);
	setenv(XF_PEER_VARIABLE, "nonsense", 1);
	assert_int_equal(xf_peer_find(pipes[1], &got), -ENOENT);
	unsetenv(XF_PEER_VARIABLE);
	dup2(saved, 0);
	close(saved);
	for (int i = 0; i < 2; i++) {
		close(pipes[i]);
		close(other[i]);
	}
	assert_int_equal(rmdir(dir), 0);
}

/* ---- advice: a link and a compressor that exist in numbers only ------------------------------ */

struct world {
	double link;			/* ns a byte on the wire */
	double compress[XF_CODECS];	/* ns a byte of contents */
	double expand[XF_CODECS];	/* the same at the receiver */
	double ratio[XF_CODECS];
};

/* Compressing, sending and expanding overlap: the slowest of them is what a byte costs. */
static double cost(const struct world *w, enum xf_codec c)
{
	double most = w->link * w->ratio[c];

	if (w->compress[c] > most)
		most = w->compress[c];
	return w->expand[c] > most ? w->expand[c] : most;
}

/* Sends mib MiB; returns the ns it took. */
static double play(struct xf_advice *a, const struct world *w, unsigned mib, uint64_t used[XF_CODECS])
{
	double ns = 0;

	for (uint64_t blocks = (uint64_t)mib * (1u << 20) / XF_BLOCK; blocks; blocks--) {
		enum xf_codec c;

		if (xf_advice_wants_sample(a))
			for (int i = 1; i < XF_CODECS; i++) {
				uint64_t t = (uint64_t)(w->compress[i] * XF_ADVICE_PIECE);

				xf_advice_sample(a, (enum xf_codec)i, XF_ADVICE_PIECE,
						 (uint32_t)(XF_ADVICE_PIECE * w->ratio[i]), t);
				ns += (double)t;
			}
		c = xf_advice_codec(a);
		used[c]++;
		ns += cost(w, c) * XF_BLOCK;
		xf_advice_sent(a, XF_BLOCK, (uint64_t)(cost(w, c) * XF_BLOCK));
	}
	return ns;
}

#define GBIT 8.0	/* ns a byte */

static const struct world gigabit = {
	GBIT, { 0, 2, 3 }, { 0, 1, 2 }, { 1, 0.5, 0.35 },
};

static void test_advice_slow_link(void **state)
{
	struct xf_advice a;
	uint64_t used[XF_CODECS] = { 0 };
	double ns;
	(void)state;

	xf_advice_init(&a, XF_ADVICE_AUTO, 7, 1);
	ns = play(&a, &gigabit, 2048, used);
	assert_true(used[XF_CODEC_ZSTD] > 7 * (used[XF_CODEC_NONE] + used[XF_CODEC_LZ4]));
	assert_true(ns < 0.6 * GBIT * 2048 * (1u << 20));
}

/* A link that is faster than any compressor: hardly a block is compressed, and nothing is lost. */
static void test_advice_fast_link(void **state)
{
	struct world w = gigabit;
	struct xf_advice a;
	uint64_t used[XF_CODECS] = { 0 };
	double ns;
	(void)state;

	w.link = 0.5;
	xf_advice_init(&a, XF_ADVICE_AUTO, 7, 1);
	ns = play(&a, &w, 4096, used);
	assert_int_equal(used[XF_CODEC_LZ4] + used[XF_CODEC_ZSTD], 0);
	assert_true(ns < 1.01 * 0.5 * 4096 * (1u << 20));
}

/* Nothing to gain: random contents. */
static void test_advice_random(void **state)
{
	struct world w = gigabit;
	struct xf_advice a;
	uint64_t used[XF_CODECS] = { 0 };
	(void)state;

	w.ratio[XF_CODEC_LZ4] = w.ratio[XF_CODEC_ZSTD] = 1;
	xf_advice_init(&a, XF_ADVICE_AUTO, 7, 1);
	assert_true(play(&a, &w, 4096, used) < 1.01 * GBIT * 4096 * (1u << 20));
	assert_int_equal(used[XF_CODEC_LZ4] + used[XF_CODEC_ZSTD], 0);
}

/* It promises much at this end but the receiver can't keep up: tried, left, and tried ever more seldom. */
static void test_advice_slow_receiver(void **state)
{
	struct world w = gigabit;
	struct xf_advice a;
	uint64_t used[XF_CODECS] = { 0 };
	double ns;
	(void)state;

	w.expand[XF_CODEC_LZ4] = w.expand[XF_CODEC_ZSTD] = 2 * GBIT;
	xf_advice_init(&a, XF_ADVICE_AUTO, 7, 1);
	ns = play(&a, &w, 16384, used);
	assert_true(used[XF_CODEC_LZ4] + used[XF_CODEC_ZSTD] > 0);
	assert_true(ns < 1.05 * GBIT * 16384 * (1u << 20));
}

/* What is sent changes, and the link does: so does the choice, in both directions. */
static void test_advice_changes(void **state)
{
	struct world w = gigabit;
	struct xf_advice a;
	uint64_t used[XF_CODECS] = { 0 }, then[XF_CODECS] = { 0 }, at_last[XF_CODECS] = { 0 };
	(void)state;

	xf_advice_init(&a, XF_ADVICE_AUTO, 7, 1);
	play(&a, &w, 1024, used);
	assert_true(used[XF_CODEC_ZSTD] > used[XF_CODEC_NONE]);
	w.ratio[XF_CODEC_LZ4] = w.ratio[XF_CODEC_ZSTD] = 1;
	play(&a, &w, 1024, then);
	assert_true(then[XF_CODEC_NONE] > 7 * then[XF_CODEC_ZSTD]);
	play(&a, &gigabit, 2048, at_last);
	assert_true(at_last[XF_CODEC_ZSTD] > at_last[XF_CODEC_NONE]);
	assert_true(a.switches >= 3);
}

/* What the other side doesn't understand is never used, and what the user named always is. */
static void test_advice_limits(void **state)
{
	struct xf_advice a;
	uint64_t used[XF_CODECS] = { 0 };
	(void)state;

	xf_advice_init(&a, XF_ADVICE_AUTO, 1u << XF_CODEC_LZ4, 1);
	play(&a, &gigabit, 1024, used);
	assert_int_equal(used[XF_CODEC_ZSTD], 0);
	assert_true(used[XF_CODEC_LZ4] > used[XF_CODEC_NONE]);
	xf_advice_init(&a, XF_CODEC_ZSTD, 1u << XF_CODEC_LZ4, 1);
	assert_int_equal(xf_advice_codec(&a), XF_CODEC_NONE);
	xf_advice_init(&a, XF_CODEC_ZSTD, 7, 1);
	memset(used, 0, sizeof(used));
	play(&a, &gigabit, 1024, used);
	assert_int_equal(used[XF_CODEC_ZSTD], 4096);
	assert_int_equal(a.switches, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_reserved_bytes),
		cmocka_unit_test(test_hello),
		cmocka_unit_test(test_hello_refused),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_preamble),
		cmocka_unit_test(test_codecs),
		cmocka_unit_test(test_incompressible),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_peers_refused),
		cmocka_unit_test(test_note),
		cmocka_unit_test(test_advice_slow_link),
		cmocka_unit_test(test_advice_fast_link),
		cmocka_unit_test(test_advice_random),
		cmocka_unit_test(test_advice_slow_receiver),
		cmocka_unit_test(test_advice_changes),
		cmocka_unit_test(test_advice_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
