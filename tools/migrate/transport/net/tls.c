/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TLS 1.3 by GnuTLS, both sides with a key that the other one has the pin of. */
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/net/link_io.h"

/* AES first: where a processor has it, it is several times faster than the rest. */
static const char priorities[] =
	"NONE:+VERS-TLS1.3:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:+AEAD:+COMP-NULL:+CTYPE-X509:"
	"+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:"
	"+SIGN-EDDSA-ED25519:+SIGN-ECDSA-SECP256R1-SHA256:+SIGN-ECDSA-SECP384R1-SHA384:"
	"+SIGN-RSA-PSS-RSAE-SHA256:+SIGN-RSA-PSS-RSAE-SHA384:+SIGN-RSA-PSS-SHA256:+SIGN-RSA-PSS-SHA384";

struct xf_identity {
	gnutls_certificate_credentials_t credentials;
	uint8_t pin[XF_PIN];
};

struct checking {	/* during a handshake */
	const uint8_t *pin;
	const struct xf_peers *peers;
	uint8_t found[XF_PIN];
	int has_found;
};

/* ---- this host's key ------------------------------------------------------ */

static int key_is_private(const char *key, struct xf_error *e)
{
	struct stat st;

	if (stat(key, &st))
		return xf_error_set(e, -errno, "Opening the key %s failed (%s): expected this host's private"
				    " key; see xenferry-listen(1) for how to make one.", key, strerror(errno));
	if (st.st_mode & 077)
		return xf_error_set(e, -EACCES, "Found the key %s with mode %03o, expected one that only its"
				    " owner may read; make a new one, as others may have read it, and"
				    " chmod 600 it.", key, (unsigned)st.st_mode & 0777);
	return 0;
}

static int pin_of(gnutls_x509_crt_t certificate, uint8_t pin[XF_PIN])
{
	size_t len = XF_PIN;

	return gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA256, pin, &len) < 0 ||
	       len != XF_PIN ? -EINVAL : 0;
}

/* GnuTLS doesn't look at that for every kind of key. */
static int belong_together(const struct xf_identity *id)
{
	gnutls_x509_privkey_t key;
	uint8_t pin[XF_PIN];
	size_t len = sizeof(pin);
	int ret;

	if (gnutls_certificate_get_x509_key(id->credentials, 0, &key) < 0)
		return 0;
	ret = gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, pin, &len);
	gnutls_x509_privkey_deinit(key);
	return ret >= 0 && len == sizeof(pin) && !memcmp(pin, id->pin, sizeof(pin));
}

static int load(struct xf_identity *id, const char *certificate, const char *key, struct xf_error *e)
{
	gnutls_x509_crt_t *chain = NULL;
	unsigned n = 0;
	int ret;

	ret = gnutls_certificate_allocate_credentials(&id->credentials);
	if (ret < 0)
		return xf_error_set(e, -ENOMEM, "Setting up TLS failed (%s).", gnutls_strerror(ret));
	ret = gnutls_certificate_set_x509_key_file(id->credentials, certificate, key, GNUTLS_X509_FMT_PEM);
	if (ret < 0)
		return xf_error_set(e, -EINVAL, "Reading the certificate %s and its key %s failed (%s):"
				    " expected two PEM files that belong together; see xenferry-listen(1).",
				    certificate, key, gnutls_strerror(ret));
	ret = gnutls_certificate_get_x509_crt(id->credentials, 0, &chain, &n);
	if (ret < 0 || !n || pin_of(chain[0], id->pin))
		ret = xf_error_set(e, -EINVAL, "Found no public key in the certificate %s.", certificate);
	else if (!belong_together(id))
		ret = xf_error_set(e, -EINVAL, "Found another public key in the certificate %s than that of the"
				   " key %s, expected two that belong together; make the certificate anew.",
				   certificate, key);
	for (unsigned i = 0; i < n; i++)
		gnutls_x509_crt_deinit(chain[i]);
	gnutls_free(chain);
	return ret < 0 ? -EINVAL : 0;
}

int xf_identity_load(struct xf_identity **out, const char *certificate, const char *key, struct xf_error *e)
{
	struct xf_identity *id;
	int ret;

	ret = key_is_private(key, e);
	if (ret)
		return ret;
	id = calloc(1, sizeof(*id));
	if (!id)
		return xf_error_set(e, -ENOMEM, "There is no memory for this host's key.");
	ret = load(id, certificate, key, e);
	if (ret) {
		xf_identity_free(id);
		return ret;
	}
	*out = id;
	return 0;
}

void xf_identity_free(struct xf_identity *id)
{
	if (!id)
		return;
	if (id->credentials)
		gnutls_certificate_free_credentials(id->credentials);
	free(id);
}

const uint8_t *xf_identity_pin(const struct xf_identity *id)
{
	return id->pin;
}

/* ---- the other side's ------------------------------------------------------- */

/* Called by GnuTLS in the handshake: anything but 0 ends it. Dates and names in a certificate don't count. */
static int verify(gnutls_session_t session)
{
	struct checking *c = gnutls_session_get_ptr(session);
	unsigned n = 0;
	const gnutls_datum_t *list = gnutls_certificate_get_peers(session, &n);
	gnutls_x509_crt_t certificate;
	int ret = GNUTLS_E_CERTIFICATE_ERROR;

	if (!list || !n || gnutls_x509_crt_init(&certificate) < 0)
		return GNUTLS_E_CERTIFICATE_ERROR;
	if (gnutls_x509_crt_import(certificate, &list[0], GNUTLS_X509_FMT_DER) >= 0 &&
	    !pin_of(certificate, c->found)) {
		c->has_found = 1;
		if (c->pin ? !memcmp(c->pin, c->found, XF_PIN) : xf_peers_by_pin(c->peers, c->found) != NULL)
			ret = 0;
	}
	gnutls_x509_crt_deinit(certificate);
	return ret;
}

static ssize_t pull(gnutls_transport_ptr_t to, void *buf, size_t len)
{
	struct xf_link *l = to;
	ssize_t n = xf_link_some(l, buf, len);

	if (n >= 0)
		return n;
	l->read_errno = (int)n;
	errno = EIO;
	return -1;
}

static int pull_timeout(gnutls_transport_ptr_t to, unsigned ms)
{
	struct xf_link *l = to;

	if (l->ahead_at < l->ahead_len)
		return 1;
	return xf_link_wait(l, 1 /* POLLIN */, ms ? ms : 1) ? 0 : 1;
}

static ssize_t push(gnutls_transport_ptr_t to, const void *buf, size_t len)
{
	ssize_t n = xf_link_send(to, buf, len);

	if (n >= 0)
		return n;
	errno = (int)-n;
	return -1;
}

static int refused_here(const struct checking *c, struct xf_error *e)
{
	char found[XF_PIN_TEXT], expected[XF_PIN_TEXT];

	if (!c->has_found)
		return xf_error_set(e, -EACCES, "The other side showed no certificate, expected one of a peer.");
	if (!c->pin)
		return xf_error_set(e, -EACCES, "Found the key %s, expected that of a peer; add a line \"peer ="
				    " NAME %s\" to the configuration here, if that host may come in.",
				    xf_pin_text(c->found, found), found);
	return xf_error_set(e, -EACCES, "Found the key %s, expected %s: it is another host that answers, or it"
			    " has a new key; compare with \"xenferry listen --pin\" there.",
			    xf_pin_text(c->found, found), xf_pin_text(c->pin, expected));
}

static ssize_t failed(struct xf_link *l, ssize_t ret, struct xf_error *e)
{
	if (ret == GNUTLS_E_PULL_ERROR && l->read_errno)
		return l->read_errno;
	if (ret == GNUTLS_E_PREMATURE_TERMINATION)
		return -ENODATA;
	if (ret == GNUTLS_E_PUSH_ERROR)
		return -EPIPE;
	if (ret == GNUTLS_E_FATAL_ALERT_RECEIVED) {
		gnutls_alert_description_t alert = gnutls_alert_get(l->tls);

		if (alert == GNUTLS_A_BAD_CERTIFICATE || alert == GNUTLS_A_CERTIFICATE_UNKNOWN ||
		    alert == GNUTLS_A_ACCESS_DENIED || alert == GNUTLS_A_CERTIFICATE_REQUIRED)
			return xf_error_set(e, -EACCES, "The other side doesn't accept this host's key (alert"
					    " \"%s\"); add a line \"peer = NAME PIN\" to the configuration"
					    " there, PIN being what \"xenferry listen --pin\" prints here.",
					    gnutls_alert_get_name(alert));
		return xf_error_set(e, -EPROTO, "The other side ended TLS with alert \"%s\"; see its log.",
				    gnutls_alert_get_name(alert));
	}
	return xf_error_set(e, -EPROTO, "What came is no TLS 1.3 as expected (%s); something else talks there,"
			    " or the bytes were altered on the way.", gnutls_strerror((int)ret));
}

static int start(struct xf_link *l, const struct xf_identity *id, unsigned role)
{
	if (gnutls_init(&l->tls, role | GNUTLS_NO_TICKETS | GNUTLS_NO_SIGNAL) < 0)
		return -ENOMEM;
	if (gnutls_priority_set_direct(l->tls, priorities, NULL) < 0 ||
	    gnutls_credentials_set(l->tls, GNUTLS_CRD_CERTIFICATE, id->credentials) < 0)
		return -EINVAL;
	if (role & GNUTLS_SERVER)
		gnutls_certificate_server_set_request(l->tls, GNUTLS_CERT_REQUIRE);
	gnutls_session_set_verify_function(l->tls, verify);
	gnutls_transport_set_ptr(l->tls, l);
	gnutls_transport_set_pull_function(l->tls, pull);
	gnutls_transport_set_pull_timeout_function(l->tls, pull_timeout);
	gnutls_transport_set_push_function(l->tls, push);
	return 0;
}

static int handshake(struct xf_link *l, const struct xf_identity *id, unsigned role, struct checking *c,
		     struct xf_error *e)
{
	int ret = start(l, id, role);

	if (ret)
		return xf_error_set(e, ret, "Setting up TLS failed (%s).", strerror(-ret));
	gnutls_session_set_ptr(l->tls, c);
	do
		ret = gnutls_handshake(l->tls);
	while (ret == GNUTLS_E_INTERRUPTED || ret == GNUTLS_E_AGAIN ||
	       (ret < 0 && !gnutls_error_is_fatal(ret)));
	gnutls_session_set_ptr(l->tls, NULL);
	if (ret < 0 && ret != GNUTLS_E_FATAL_ALERT_RECEIVED)
		gnutls_alert_send_appropriate(l->tls, ret);
	if (ret == GNUTLS_E_CERTIFICATE_ERROR || ret == GNUTLS_E_CERTIFICATE_REQUIRED ||
	    ret == GNUTLS_E_NO_CERTIFICATE_FOUND)
		return refused_here(c, e);
	if (ret < 0)
		return xf_link_sentence((int)failed(l, ret, e), e);
	memcpy(l->pin, c->found, XF_PIN);
	return 0;
}

int xf_link_tls_client(struct xf_link *l, const struct xf_identity *id, const uint8_t pin[XF_PIN],
		       struct xf_error *e)
{
	struct checking c = { .pin = pin };

	return handshake(l, id, GNUTLS_CLIENT, &c, e);
}

int xf_link_tls_server(struct xf_link *l, const struct xf_identity *id, const struct xf_peers *peers,
		       struct xf_error *e)
{
	struct checking c = { .peers = peers };

	return handshake(l, id, GNUTLS_SERVER, &c, e);
}

/* ---- afterwards ------------------------------------------------------------- */

ssize_t xf_tls_read(struct xf_link *l, void *buf, size_t len, struct xf_error *e)
{
	ssize_t n;

	do
		n = gnutls_record_recv(l->tls, buf, len);
	while (n == GNUTLS_E_INTERRUPTED || n == GNUTLS_E_AGAIN);
	return n < 0 ? failed(l, n, e) : n;
}

ssize_t xf_tls_write(struct xf_link *l, const void *buf, size_t len, struct xf_error *e)
{
	ssize_t n = gnutls_record_send(l->tls, buf, len);

	while (n == GNUTLS_E_INTERRUPTED || n == GNUTLS_E_AGAIN)
		n = gnutls_record_send(l->tls, NULL, 0);	/* what it has already taken */
	return n < 0 ? failed(l, n, e) : n;
}

void xf_tls_end(struct xf_link *l)
{
	gnutls_deinit(l->tls);
	l->tls = NULL;
}
