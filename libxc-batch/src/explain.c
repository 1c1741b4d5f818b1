/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "xcbatch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "os_xenctrl.h"

static const struct {
	int err;
	const char *sentence;
} sentences[] = {
	{ 0, "No error." },
	{ -ENOENT, "The device /dev/xen/privcmd is not there, or a guest frame is paged out: run this in "
		   "a Xen Dom0 with xen-privcmd loaded (modprobe xen-privcmd), and look at the pager." },
	{ -EACCES, "/dev/xen/privcmd may not be opened by this user: run this as root." },
	{ -EPERM, "Xen or the driver does not let this domain or descriptor act on that domain: run this "
		  "in Dom0 with an unrestricted descriptor." },
	{ -ESRCH, "There is no domain of that number: look at xl list for the right one." },
	{ -EBUSY, "Log-dirty is on already for this domain, where it was expected off: wait for the other "
		  "migration, or take it over if there is none." },
	{ -EOPNOTSUPP, "The hypervisor has no log-dirty for this kind of guest, expected was an HVM or PVH "
		       "guest: use xl save and xl restore instead of a live migration." },
	{ -ENXIO, "One or more guest frames could not be mapped: the error of each frame says why." },
	{ -ESTALE, "Frames of an earlier mapping could not be mapped again over the stock driver: map all "
		   "of those slots afresh." },
	{ -EFAULT, "A virtual page of the guest is not mapped in its page tables, expected was one that is: try "
		   "again when the guest has booted and stands still." },
	{ -ENOTTY, "The stock xen-privcmd driver is loaded, expected was that of xenferry: load it "
		   "(make module_install, then modprobe)." },
};

static int explain_interface(char *buf, size_t size)
{
	unsigned version, expected = os_xenctrl_interface();

	if (os_xenctrl_version(&version) < 0)
		return snprintf(buf, size,
				"The running Xen refuses control interface %u that this library was built "
				"for: install the Xen tools that belong to the running Xen.", expected);
	return snprintf(buf, size,
			"The running Xen is %u.%u and refuses control interface %u that this library was "
			"built for: install the Xen tools that belong to Xen %u.%u, or boot the Xen that "
			"belongs to the tools.", version >> 16, version & 0xffff, expected,
			version >> 16, version & 0xffff);
}

int xcbatch_explain(int err, char *buf, size_t size)
{
	char text[128];

	if (err == -EPROTO)
		return explain_interface(buf, size);
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
		if (sentences[i].err == err)
			return snprintf(buf, size, "%s", sentences[i].sentence);
	return snprintf(buf, size, "The system answered: %s (error %d).",
			strerror_r(-err, text, sizeof(text)), -err);
}
