/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cmd_migrate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRIVCMD "/dev/xen/privcmd"

static int find_xl(char *to, size_t room)
{
	const char *path = getenv("PATH");
	char dirs[4096];

	snprintf(dirs, sizeof(dirs), "%s", path ? path : "");
	for (char *rest = dirs, *dir; (dir = strsep(&rest, ":"));) {
		if (!*dir)
			continue;
		if ((size_t)snprintf(to, room, "%s/xl", dir) < room && !access(to, X_OK))
			return 0;
	}
	return -ENOENT;
}

int migrate_check_here(struct migrate_setup *s)
{
	const char *privcmd = getenv("XENFERRY_PRIVCMD"), *helper = getenv("XENFERRY_HELPER");

	if (geteuid())
		return cmd_fail("migrate", MIGRATE_CANNOT, "Found user id %d, expected root, whom alone"
				" Xen lets move domains; run it with sudo.", (int)geteuid());
	privcmd = privcmd ? privcmd : PRIVCMD;
	if (access(privcmd, R_OK | W_OK))
		return cmd_fail("migrate", MIGRATE_CANNOT, "Opening %s failed (%s): expected the device of"
				" a Xen Dom0; boot this host under Xen and load the module xen-privcmd.",
				privcmd, strerror(errno));
	if (find_xl(s->xl, sizeof(s->xl)))
		return cmd_fail("migrate", MIGRATE_CANNOT, "Found no xl in PATH, expected Xen's toolstack;"
				" install it (Debian: xen-utils), or put /usr/sbin in PATH.");
	helper = helper ? helper : XENFERRY_HELPER;
	if ((size_t)snprintf(s->helper, sizeof(s->helper), "%s", helper) >= sizeof(s->helper) ||
	    access(helper, X_OK))
		return cmd_fail("migrate", MIGRATE_CANNOT, "Found no program %s (%s), expected xenferry's"
				" save helper; install xenferry completely, or name it in"
				" XENFERRY_HELPER.", helper, strerror(errno));
	return 0;
}

/* xl's line from its end: name, id, memory, vcpus, state, time; the name may hold spaces. */
static int parse_line(char *line, struct migrate_domain *d)
{
	char *word[5], *end;

	for (int i = 4; i >= 0; i--) {
		size_t len = strlen(line);

		while (len && strchr(" \t\r", line[len - 1]))
			line[--len] = '\0';
		while (len && !strchr(" \t", line[len - 1]))
			len--;
		word[i] = line + len;
		if (!len || !*word[i])
			return -EPROTO;
		line[len - 1] = '\0';
	}
	for (size_t len = strlen(line); len && strchr(" \t", line[len - 1]);)
		line[--len] = '\0';
	d->id = (uint32_t)strtoul(word[0], &end, 10);
	if (*end || end == word[0])
		return -EPROTO;
	d->mib = strtoull(word[1], NULL, 10);
	snprintf(d->state, sizeof(d->state), "%s", word[3]);
	snprintf(d->name, sizeof(d->name), "%s", line);
	return 0;
}

int migrate_query(const char *xl, const char *domain, struct migrate_domain *d)
{
	char *argv[] = { ARG(xl), ARG("list"), ARG(domain), NULL };
	struct captured c;
	char *line;
	int ret;

	ret = process_capture(argv, &c);
	if (ret)
		return ret;
	if (c.status)
		return strstr(c.err, "invalid domain identifier") ||
		       strstr(c.err, "does not exist") ? -ESRCH : -EIO;
	line = strchr(c.out, '\n');	/* behind the headings */
	if (!line || !line[1])
		return -ESRCH;
	line++;
	line[strcspn(line, "\n")] = '\0';
	return parse_line(line, d);
}

int migrate_check_domain(const struct migrate_options *o, struct migrate_setup *s)
{
	int ret = migrate_query(s->xl, o->domain, &s->domain);

	if (ret == -ESRCH)
		return cmd_fail("migrate", MIGRATE_NO_DOMAIN, "Found no domain \"%s\", expected the name"
				" or number of a running one; \"xl list\" shows them.", o->domain);
	if (ret)
		return cmd_fail("migrate", MIGRATE_CANNOT, "Asking \"xl list %s\" failed (%s): expected a"
				" line about the domain; run it by hand and see what xl says.",
				o->domain, strerror(-ret));
	if (!s->domain.id)
		return cmd_fail("migrate", MIGRATE_NO_DOMAIN, "Found Dom0 under \"%s\", expected a guest;"
				" Dom0 itself can't be moved.", o->domain);
	return 0;
}

static int is_local(const char *host)
{
	const char *at = strrchr(host, '@');

	host = at ? at + 1 : host;
	return !strcmp(host, "localhost") || !strcmp(host, "127.0.0.1") || !strcmp(host, "::1");
}

int migrate_rune(const struct migrate_options *o, char *rune, size_t room)
{
	int n = snprintf(rune, room, "exec %s ", o->ssh);

	return n < 0 || (size_t)n >= room ? -ENOSPC : process_quote(rune, room, o->host);
}

/* "[.../]xenferry connect [OPTIONS]" */
static int is_connect(const char *ssh)
{
	size_t len;

	ssh += strspn(ssh, " ");
	len = strcspn(ssh, " ");
	if (len < 8 || memcmp(ssh + len - 8, "xenferry", 8) || (len > 8 && ssh[len - 9] != '/'))
		return 0;
	ssh += len;
	ssh += strspn(ssh, " ");
	return strcspn(ssh, " ") == 7 && !memcmp(ssh, "connect", 7);
}

/*
 * Asks with words that need no quoting, so that it doesn't matter through how
 * many shells they go: "test -x HELPER" answers 0 or 1, ssh itself 255.
 */
int migrate_check_host(const struct migrate_options *o, struct migrate_setup *s)
{
	char rune[1024] = "";
	char *argv[] = { ARG("sh"), ARG("-c"), rune, NULL };
	struct captured c;
	size_t at;
	int ret;

	s->local = is_local(o->host);
	/* A listener runs xl migrate-receive and nothing else; the two of them agree on who receives. */
	s->over_connect = is_connect(o->ssh);
	if (s->over_connect)
		return o->stock_receiver ?
		       cmd_misuse("migrate", "found --stock-receiver with \"%s\", expected one of them (\"engine = stock\""
				  " in /etc/xenferry.conf of %s has the same effect)", o->ssh, o->host) : 0;
	ret = migrate_rune(o, rune, sizeof(rune));
	at = strlen(rune);
	if (ret || (size_t)snprintf(rune + at, sizeof(rune) - at, " test -x %s",
				    s->local ? s->helper : XENFERRY_HELPER) >= sizeof(rune) - at)
		return cmd_misuse("migrate", "found a host and ssh command of over 1000 bytes, expected"
				  " shorter ones");
	ret = process_capture(argv, &c);
	if (ret)
		return cmd_fail("migrate", MIGRATE_CANNOT, "Starting a shell failed (%s): expected it to"
				" reach %s; free some memory.", strerror(-ret), o->host);
	if (c.status > 1)
		return cmd_fail("migrate", MIGRATE_NO_HOST, "Reaching %s with \"%s\" failed (exit status"
				" %d, \"%s\"): expected an answer; see that \"%s %s true\" works without"
				" a question.", o->host, o->ssh, c.status, process_last_line(c.err),
				o->ssh, o->host);
	s->receiver_ours = !c.status && !o->stock_receiver;
	if (c.status && !o->stock_receiver && !o->quiet)
		fprintf(stderr, "xenferry is not installed on %s: the stock engine receives there.\n",
			o->host);
	return 0;
}

int migrate_runs_as_before(const struct migrate_domain *before, const struct migrate_domain *now)
{
	/* paused, shut down (which is what suspended looks like), crashed, dying */
	for (const char *stopped = "pscd"; *stopped; stopped++)
		if (strchr(now->state, *stopped) && !strchr(before->state, *stopped))
			return 0;
	return 1;
}
