/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a peer may have run here: xl migrate-receive, as xl itself asks for it. */
#include <errno.h>
#include <string.h>

#include "cmd_transport.h"

/*
 * Of xl itself: carriage returns in its progress, time stamps, verbosity. Of
 * migrate-receive: no console or daemon (-e, -F), debug, paused. Not -r, --colo
 * and their scripts: a checkpointed stream never ends, and a script is a command.
 */
static int is_xl_option(const char *word)
{
	if (!strcmp(word, "-t") || !strcmp(word, "-T"))
		return 1;
	return word[0] == '-' && word[1] == 'v' && strspn(word + 1, "v") == strlen(word + 1) &&
	       strlen(word) <= 8;
}

static int is_receive_option(const char *word)
{
	return !strcmp(word, "-e") || !strcmp(word, "-F") || !strcmp(word, "-d") || !strcmp(word, "-p");
}

static int refuse(const char *found, struct xf_error *e)
{
	char shown[64];
	size_t n = 0;

	/* It goes to a log: printable. */
	for (; *found && n < sizeof(shown) - 1; found++)
		shown[n++] = *found >= ' ' && *found <= '~' ? *found : '?';
	shown[n] = '\0';
	return xf_error_set(e, -EPERM, "found \"%s\" in the command, expected \"xl [-t] [-T] [-v...]"
			    " migrate-receive [-e] [-F] [-d] [-p]\" and nothing else.", shown);
}

int listen_command_allowed(const struct xf_hello *h, struct xf_error *e)
{
	const char *word = xf_hello_word(h, NULL);

	if (!word || strcmp(word, "xl"))
		return refuse(word ? word : "", e);
	do
		word = xf_hello_word(h, word);
	while (word && is_xl_option(word));
	if (!word || strcmp(word, "migrate-receive"))
		return refuse(word ? word : "xl", e);
	while ((word = xf_hello_word(h, word)))
		if (!is_receive_option(word))
			return refuse(word, e);
	return 0;
}
