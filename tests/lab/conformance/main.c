// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * privcmd-conform: runs the same calls on whatever xen-privcmd is loaded and
 * prints what came of each, nothing that differs from run to run. The output
 * on the stock module is the measure for ours; `exceptions` lists where they
 * may differ and why.
 */
#include "cases.h"
#include "conform.h"

static const struct test_case cases[] = {
	CASE("map-whole", map_whole),
	CASE("map-one", map_one),
	CASE("map-scattered", map_scattered),
	CASE("map-across-tables", map_across_tables),
	CASE("map-v1", map_v1),
	CASE("map-v1-errors", map_v1_errors),
	CASE("map-holes", map_holes),
	CASE("map-retry-hole", map_retry_hole),
	CASE("map-bad-everywhere", map_bad_everywhere),
	CASE("map-many", map_many),
	CASE("map-own", map_own),
	CASE("map-nobody", map_nobody),
	CASE("map-writable", map_writable),
	CASE("map-private", map_private),
	CASE("map-domains-mixed", map_domains_mixed),
	CASE("runs-map", runs_map),
	CASE("runs-errors", runs_errors),
	OURS_ONLY("runs-other-vma", runs_other_vma, "it takes any vma, and stops the kernel", NULL),
	CASE("args-batch", args_batch),
	CASE("args-batch-order", args_batch_order),
	CASE("args-huge", args_huge),
	CASE("args-vma", args_vma),
	CASE("args-unknown", args_unknown),
	CASE("args-dm-op", args_dm_op),
	OURS_ONLY("dm-op-empty", dm_op_empty, "it stops the kernel",
		  "it stops the kernel"),
	CASE("args-resource", args_resource),
	CASE("args-hypercall", args_hypercall),
	CASE("resource-grants", resource_grants),
	OURS_ONLY("resource-twice", resource_twice, NULL, "it stops the kernel"),
	OURS_ONLY("resource-outside", resource_outside, "it maps beyond the vma", "it maps beyond the vma"),
	CASE("restriction", restriction),
	CASE("irqfd-args", irqfd_args),
	CASE("ioeventfd-args", ioeventfd_args),
	CASE("irqfd-use", irqfd_use),
	OURS_ONLY("ioeventfd-memory", ioeventfd_memory, "where it has the call, it takes any memory for an area",
		  "where it has the call, it takes any memory for an area"),
	CASE("gsi-args", gsi_args),
	CASE("later-restricted", later_restricted),
	CASE("part-munmap", part_munmap),
	CASE("part-mprotect", part_mprotect),
	CASE("part-fixed", part_fixed),
	CASE("part-mremap", part_mremap),
	CASE("move-empty", move_empty),
	CASE("move-refused", move_refused),
	OURS_ONLY("move-small", move_small, "the kernel warns, and the frames are lost",
		  "it frees its pages twice"),
	OURS_ONLY("move-large", move_large, "the kernel warns, and the frames are lost",
		  "it frees its pages twice"),
	OURS_ONLY("move-mixed", move_mixed, "the kernel warns, and the frames are lost",
		  "it frees its pages twice"),
	CASE("fixed-over", fixed_over),
	CASE("unmap-two", unmap_two),
	CASE("advise", advise),
	OURS_ONLY("protect-whole", protect_whole, "the kernel warns, and the process faults for ever", NULL),
	CASE("fork-child", fork_child),
	CASE("exit-mapped", exit_mapped),
	CASE("kill-mapper", kill_mapper),
	CASE("signalled", signalled),
	CASE("exec-mapped", exec_mapped),
	CASE("close-first", close_first),
	CASE("threads-map", threads_map),
	CASE("kernel-access", kernel_access),
	CASE("buffers", buffers),
	CASE("buffers-fork", buffers_fork),
	OURS_ONLY("buffers-huge", buffers_huge, "the page allocator warns", "the page allocator warns"),
	END_OF_CASES
};

int main(int argc, char **argv)
{
	return run_cases(argc, argv, cases);
}
