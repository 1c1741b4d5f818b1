/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strangers, wrong keys, and peers that lie in their frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netjob.h"
#include "transport/net/codec.h"
#include "transport/net/frame.h"

static struct netjob job(void)
{
	return (struct netjob){ .script = "cat >/dev/null", .input = (const uint8_t *)"input", .input_len = 5,
				.codec = XF_CODEC_NONE };
}

/* ---- keys ---------------------------------------------------------------------- */

struct handshake {
	int fd, ret, told;
	struct xf_error error, told_error;
	int client, own, expected;
	const char *peer;
	struct xf_link link;
	pthread_t thread;
};

static void *shake(void *arg)
{
	struct handshake *h = arg;
	struct xf_peers peers = { 0 };
	uint8_t byte = 1;

	assert_int_equal(xf_link_open(&h->link, h->fd, &h->error), 0);
	xf_link_deadline(&h->link, 20000);
	assert_int_equal(xf_peers_add(&peers, h->peer, &h->error), 0);
	h->ret = h->client ? xf_link_tls_client(&h->link, netjob_identity(h->own),
						xf_identity_pin(netjob_identity(h->expected)), &h->error)
			   : xf_link_tls_server(&h->link, netjob_identity(h->own), &peers, &h->error);
	/* With TLS 1.3 the calling side learns by its first read what the other one thinks of it. */
	if (!h->ret)
		h->told = h->client ? xf_link_read(&h->link, &byte, 1, &h->told_error)
				    : xf_link_write(&h->link, &byte, 1, &h->told_error);
	xf_peers_free(&peers);
	if (h->ret)
		xf_link_cut(&h->link);
	return NULL;
}

static void shake_hands(struct handshake *c, struct handshake *s)
{
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	netjob_identity(0);
	netjob_tcp(fd);
	c->fd = fd[0];
	s->fd = fd[1];
	c->client = 1;
	pthread_create(&c->thread, NULL, shake, c);
	pthread_create(&s->thread, NULL, shake, s);
	pthread_join(c->thread, NULL);
	pthread_join(s->thread, NULL);
	xf_link_close(&c->link);
	xf_link_close(&s->link);
}

static const char *line(int identity)
{
	static char text[2][128];
	char pin[XF_PIN_TEXT];

	snprintf(text[identity], sizeof(text[0]), "host %s",
		 xf_pin_text(xf_identity_pin(netjob_identity(identity)), pin));
	return text[identity];
}

static void test_keys(void **state)
{
	struct handshake c = { .own = 0, .expected = 1, .peer = line(0) }, s = { .own = 1, .peer = line(0) };
	(void)state;

	shake_hands(&c, &s);
	assert_int_equal(c.ret | s.ret | c.told | s.told, 0);
	/* The called side has another key than the caller expects. */
	c = (struct handshake){ .own = 0, .expected = 0, .peer = line(0) };
	s = (struct handshake){ .own = 1, .peer = line(0) };
	shake_hands(&c, &s);
	assert_int_equal(c.ret, -EACCES);
	assert_non_null(strstr(c.error.text, "it is another host that answers"));
	assert_int_equal(s.ret, -EACCES);
	assert_non_null(strstr(s.error.text, "doesn't accept this host's key"));
	/* The caller is nobody's peer. */
	c = (struct handshake){ .own = 0, .expected = 1, .peer = line(0) };
	s = (struct handshake){ .own = 1, .peer = line(1) };
	shake_hands(&c, &s);
	assert_int_equal(s.ret, -EACCES);
	assert_non_null(strstr(s.error.text, "expected that of a peer"));
	assert_true(c.ret == -EACCES || c.told == -EACCES);
	assert_non_null(strstr(c.ret ? c.error.text : c.told_error.text, "doesn't accept this host's key"));
}

static void test_key_files(void **state)
{
	char dir[] = "/tmp/xf-key-XXXXXX", key[64], certificate[64], other[64], command[512];
	struct xf_identity *id = NULL;
	struct xf_error e = { 0 };
	(void)state;

	assert_non_null(mkdtemp(dir));
	snprintf(key, sizeof(key), "%s/key", dir);
	snprintf(certificate, sizeof(certificate), "%s/cert", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	assert_int_equal(xf_identity_load(&id, certificate, key, &e), -ENOENT);
	snprintf(command, sizeof(command), "%s %s %s && %s %s %s", getenv("MAKEKEY"), other, certificate,
		 getenv("MAKEKEY"), key, certificate);
	assert_int_equal(system(command), 0);
	e.code = 0;
	assert_int_equal(xf_identity_load(&id, certificate, key, &e), 0);
	xf_identity_free(id);
	/* Not its key; no key at all; a key that others can read. */
	assert_int_equal(xf_identity_load(&id, certificate, other, &e), -EINVAL);
	assert_non_null(strstr(e.text, "that belong together"));
	e.code = 0;
	assert_int_equal(truncate(other, 40), 0);
	assert_int_equal(xf_identity_load(&id, certificate, other, &e), -EINVAL);
	e.code = 0;
	snprintf(command, sizeof(command), "chmod 640 %s", key);
	assert_int_equal(system(command), 0);
	assert_int_equal(xf_identity_load(&id, certificate, key, &e), -EACCES);
	assert_non_null(strstr(e.text, "mode 640"));
	unlink(key);
	unlink(other);
	unlink(certificate);
	assert_int_equal(rmdir(dir), 0);
}

static void test_no_tls(void **state)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: host\r\n\r\n";
	struct netjob j = job();
	(void)state;

	j.tls = 1;
	netjob_raw(&j, 1, http, sizeof(http) - 1, 0);
	assert_int_equal(j.server.ret, -EPROTO);
	assert_non_null(strstr(j.server.error.text, "no TLS 1.3"));
	assert_int_equal(j.exited, 0);
	j = job();
	j.tls = 1;
	netjob_raw(&j, 0, http, sizeof(http) - 1, 0);
	assert_int_equal(j.client.ret, -EPROTO);
	/* A caller that says nothing at all. */
	j = job();
	j.tls = 1;
	j.time_out_ms = 100;
	netjob_raw(&j, 1, NULL, 0, 1);
	assert_int_equal(j.server.ret, -ETIMEDOUT);
}

/* ---- frames of a peer that lies ------------------------------------------------------- */

struct bytes {
	uint8_t data[1 << 16];
	size_t len;
};

static void add(struct bytes *b, struct xf_frame f, const void *contents)
{
	xf_frame_encode(&f, b->data + b->len);
	b->len += XF_FRAME_HEAD;
	if (contents)
		memcpy(b->data + b->len, contents, f.wire_len);
	b->len += contents ? f.wire_len : 0;
}

static void add_data(struct bytes *b, uint64_t seq, const char *text)
{
	const uint32_t len = (uint32_t)strlen(text);

	add(b, (struct xf_frame){ .type = XF_FRAME_DATA, .wire_len = len, .raw_len = len, .seq = seq }, text);
}

static void add_mark(struct bytes *b, uint8_t type, uint64_t seq)
{
	add(b, (struct xf_frame){ .type = type, .seq = seq }, NULL);
}

static void server_refuses(const struct bytes *b, const char *sentence)
{
	struct netjob j = job();

	j.script = "cat >/dev/null";
	netjob_raw(&j, 1, b->data, b->len, 1);
	assert_int_equal(j.server.ret, -EPROTO);
	if (!strstr(j.server.error.text, sentence))
		fail_msg("expected \"%s\", found \"%s\"", sentence, j.server.error.text);
	assert_true(j.exited);
}

static void client_refuses(const struct bytes *b, const char *sentence)
{
	struct netjob j = job();

	netjob_raw(&j, 0, b->data, b->len, 1);
	assert_int_equal(j.client.ret, -EPROTO);
	if (!strstr(j.client.error.text, sentence))
		fail_msg("expected \"%s\", found \"%s\"", sentence, j.client.error.text);
	assert_false(j.client.result.has_status);
}

static void test_lies_to_server(void **state)
{
	struct bytes b = { .len = 0 };
	(void)state;

	add_data(&b, 0, "once");
	add_data(&b, 0, "twice");
	server_refuses(&b, "Frame 0 came twice");
	b.len = 0;
	add_data(&b, 1, "ahead");
	add_data(&b, 1, "ahead again");
	server_refuses(&b, "Frame 1 came twice");
	b.len = 0;
	add_mark(&b, XF_FRAME_EOF, 0);
	add_data(&b, 1, "behind the end");
	server_refuses(&b, "after its end");
	b.len = 0;
	add_mark(&b, XF_FRAME_EOF, 0);
	add_mark(&b, XF_FRAME_EOF, 1);
	server_refuses(&b, "ended twice");
	b.len = 0;
	add_mark(&b, XF_FRAME_EXIT, 0);
	server_refuses(&b, "the command runs here");
	b.len = 0;
	add(&b, (struct xf_frame){ .type = XF_FRAME_DATA, .codec = XF_CODEC_ZSTD, .wire_len = 8, .raw_len = 9 },
	    "no zstd!");
	server_refuses(&b, "don't expand (zstd) to the 9 bytes");
	b.len = 0;
	add(&b, (struct xf_frame){ .type = XF_FRAME_DATA, .codec = XF_CODEC_LZ4, .wire_len = 8, .raw_len = XF_BLOCK },
	    "no lz4!!");
	server_refuses(&b, "don't expand (lz4)");
	b.len = 0;
	add_mark(&b, 9, 0);
	server_refuses(&b, "type 9");
}

static void test_lies_to_client(void **state)
{
	struct bytes b = { .len = 0 };
	(void)state;

	add_mark(&b, XF_FRAME_BYE, 0);
	client_refuses(&b, "goodbye before the command's end");
	/* The status without what comes before it. */
	b.len = 0;
	add_mark(&b, XF_FRAME_EXIT, 1);
	add_mark(&b, XF_FRAME_BYE, 0);
	client_refuses(&b, "goodbye before the command's end");
	b.len = 0;
	add_data(&b, 0, "once");
	add_data(&b, 0, "twice");
	client_refuses(&b, "came twice");
	b.len = 0;
	memset(b.data, 0xff, 100);
	b.len = 100;
	client_refuses(&b, "type 255");
}

/* Ahead of the window with nobody left to bring what is due: nothing to wait for. */
static void test_far_ahead(void **state)
{
	struct bytes b = { .len = 0 };
	(void)state;

	add_data(&b, UINT64_MAX, "far");
	server_refuses(&b, "expected number 0");
	b.len = 0;
	for (unsigned i = 1; i < 30; i++)
		add_data(&b, i, "all but the first");
	server_refuses(&b, "expected number 0");
}

/* A stream that is right but for a few bytes: whatever comes of it, it comes to an end. */
static void test_mutations(void **state)
{
	struct bytes good = { .len = 0 };
	static uint8_t zeroes[4096], packed[4096];
	struct xf_codec_state *codec;
	uint32_t x = 3, made;
	unsigned refused = 0;
	(void)state;

	assert_int_equal(xf_codec_open(&codec), 0);
	made = (uint32_t)xf_codec_compress(codec, XF_CODEC_ZSTD, packed, zeroes, sizeof(zeroes));
	xf_codec_close(codec);
	add_data(&good, 0, "some data");
	add(&good, (struct xf_frame){ .type = XF_FRAME_DATA, .codec = XF_CODEC_ZSTD, .wire_len = made,
				      .raw_len = sizeof(zeroes), .seq = 1 }, packed);
	add_mark(&good, XF_FRAME_PING, 0);
	add_data(&good, 2, "more");
	add_mark(&good, XF_FRAME_EOF, 3);
	for (unsigned i = 0; i < 25; i++) {
		struct bytes b = good;
		struct netjob j = job();

		for (unsigned n = 1 + i % 3; n; n--) {
			x = x * 1664525 + 1013904223;
			b.data[(x >> 8) % b.len] = (uint8_t)(x >> 24);
		}
		j.script = "cat >/dev/null";
		j.time_out_ms = 1000;
		netjob_raw(&j, 1, b.data, b.len, 0);
		refused += j.server.ret < 0;
	}
	assert_in_range(refused, 12, 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_key_files),
		cmocka_unit_test(test_no_tls),
		cmocka_unit_test(test_lies_to_server),
		cmocka_unit_test(test_lies_to_client),
		cmocka_unit_test(test_far_ahead),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
