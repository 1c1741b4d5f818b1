// SPDX-License-Identifier: GPL-2.0-only
/* In the test build only: see xenferry_inject.h. */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>

#include <xen/xenferry_inject.h>

static unsigned int inject_at;
static atomic_t inject_seen = ATOMIC_INIT(0);
static pid_t inject_tgid;

/* The process's own threads and, as it ends, its address space: current is one of them throughout. */
bool inject_fault(void)
{
	if (!READ_ONCE(inject_at) || current->tgid != READ_ONCE(inject_tgid))
		return false;
	return atomic_inc_return(&inject_seen) == READ_ONCE(inject_at);
}

static int arm(const char *text, const struct kernel_param *kp)
{
	WRITE_ONCE(inject_at, 0);
	atomic_set(&inject_seen, 0);
	WRITE_ONCE(inject_tgid, current->tgid);
	return param_set_uint(text, kp);
}

static const struct kernel_param_ops at_ops = {
	.set = arm,
	.get = param_get_uint,
};
module_param_cb(inject_at, &at_ops, &inject_at, 0600);
MODULE_PARM_DESC(inject_at, "Test build: which place fails, counted from the writing of this on");

static int tell_seen(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%d\n", atomic_read(&inject_seen));
}

static const struct kernel_param_ops seen_ops = {
	.get = tell_seen,
};
module_param_cb(inject_seen, &seen_ops, NULL, 0400);
MODULE_PARM_DESC(inject_seen, "Test build: how many places were passed since then");
