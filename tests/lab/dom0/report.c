// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * lab-report TYPE NAME [TEXT]: sends one frame to the host over the channel (the second serial port).
 * Without TEXT the payload is standard input. A frame is
 *     0x01 TYPE ' ' NAME ' ' LENGTH ' ' CRC32 '\n' PAYLOAD '\n'
 * LENGTH in decimal, CRC32 (IEEE, of the payload) in hexadecimal. Whoever reads looks for 0x01 and believes nothing
 * that does not fit, so a damaged frame costs that frame only.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <termios.h>
#include <unistd.h>

#define PORT "/dev/ttyS1"
#define LIMIT (4u << 20)

static uint32_t crc32(const unsigned char *data, size_t size)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < size; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static size_t read_all(unsigned char *data)
{
	size_t size = 0;
	ssize_t n;

	while (size < LIMIT && (n = read(0, data + size, LIMIT - size)) > 0)
		size += (size_t)n;
	return size;
}

static int open_port(void)
{
	struct termios raw;
	int fd = open(PORT, O_WRONLY | O_NOCTTY);

	if (fd < 0 || flock(fd, LOCK_EX) < 0 || tcgetattr(fd, &raw) < 0)
		return -1;
	cfmakeraw(&raw);
	cfsetspeed(&raw, B115200);
	raw.c_cflag |= CLOCAL;
	return tcsetattr(fd, TCSANOW, &raw) < 0 ? -1 : fd;
}

static int send_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = write(fd, at, size);

		if (n <= 0)
			return -1;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned char *data;
	char head[512];
	size_t size;
	int fd, n;

	if (argc < 3 || argc > 4 || strlen(argv[1]) + strlen(argv[2]) > 400) {
		fprintf(stderr, "usage: lab-report TYPE NAME [TEXT]\n");
		return 2;
	}
	if (argc == 4) {
		data = (unsigned char *)argv[3];
		size = strlen(argv[3]);
	} else {
		data = malloc(LIMIT);
		if (!data)
			return 1;
		size = read_all(data);
	}
	n = snprintf(head, sizeof(head), "\001%s %s %zu %08x\n", argv[1], argv[2], size, crc32(data, size));
	fd = open_port();
	if (fd < 0 || send_all(fd, head, (size_t)n) || send_all(fd, data, size) || send_all(fd, "\n", 1) ||
	    tcdrain(fd) < 0) {
		perror("lab-report: " PORT);
		return 1;
	}
	return 0;
}
