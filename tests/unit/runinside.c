// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runinside.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char out_text[65536], err_text[4096];

static int aside(FILE *file, char path[])
{
	int fd = mkstemp(path), was;

	fflush(file);
	was = dup(fileno(file));
	dup2(fd, fileno(file));
	close(fd);
	return was;
}

static void back(FILE *file, int was, char path[], char *text, size_t size)
{
	FILE *f;
	size_t n;

	fflush(file);
	dup2(was, fileno(file));
	close(was);
	f = fopen(path, "r");
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
	unlink(path);
}

int run_inside(int (*command)(int argc, char **argv), int argc, const char *const args[])
{
	char out_path[] = "/tmp/outXXXXXX", err_path[] = "/tmp/errXXXXXX", *argv[16];
	int out = aside(stdout, out_path), err = aside(stderr, err_path), status;

	for (int i = 0; i <= argc; i++)
		argv[i] = (char *)(uintptr_t)args[i];
	status = command(argc, argv);
	back(stdout, out, out_path, out_text, sizeof(out_text));
	back(stderr, err, err_path, err_text, sizeof(err_text));
	return status;
}
