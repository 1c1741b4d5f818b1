/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * makekey KEY CERTIFICATE: what certtool would make by the manual page's
 * recipe, where there is no certtool: a key and a certificate signed by it.
 */
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void check(int ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "makekey: %s: %s\n", what, gnutls_strerror(ret));
	exit(1);
}

static void save(const char *path, const gnutls_datum_t *d)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, d->data, d->size) != (ssize_t)d->size || close(fd)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static const unsigned char serial = 1;
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;
	gnutls_datum_t pem;

	if (argc != 3)
		return 2;
	check(gnutls_x509_privkey_init(&key), "key");
	check(gnutls_x509_privkey_generate(key, GNUTLS_PK_EDDSA_ED25519, 256, 0), "generate");
	check(gnutls_x509_crt_init(&crt), "certificate");
	check(gnutls_x509_crt_set_version(crt, 3), "version");
	check(gnutls_x509_crt_set_serial(crt, &serial, 1), "serial");
	check(gnutls_x509_crt_set_dn(crt, "CN=xenferry", NULL), "name");
	check(gnutls_x509_crt_set_activation_time(crt, 0), "begin");
	/* Dates don't count, and a test may run on a machine without a clock. */
	check(gnutls_x509_crt_set_expiration_time(crt, time(NULL) + 86400), "end");
	check(gnutls_x509_crt_set_key(crt, key), "set key");
	check(gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA512, 0), "sign");
	check(gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &pem), "export");
	save(argv[1], &pem);
	gnutls_free(pem.data);
	check(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &pem), "export");
	save(argv[2], &pem);
	gnutls_free(pem.data);
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(key);
	return 0;
}
