/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CASES_H
#define CASES_H

/* cases_map.c */
void map_whole(void), map_scattered(void), map_across_tables(void), map_one(void);
void map_v1(void), map_v1_errors(void), map_holes(void), map_retry_hole(void);
void map_many(void), map_own(void), map_nobody(void), map_writable(void);
void map_private(void), map_domains_mixed(void), map_bad_everywhere(void);
void runs_map(void), runs_errors(void), runs_other_vma(void);
/* cases_args.c */
void args_batch(void), args_batch_order(void), args_huge(void), args_vma(void), args_unknown(void);
void args_dm_op(void), dm_op_empty(void), args_resource(void), resource_grants(void), resource_twice(void);
void resource_outside(void), args_hypercall(void), restriction(void);
/* cases_vma.c */
void part_munmap(void), part_mprotect(void), part_fixed(void), part_mremap(void);
void move_small(void), move_large(void), move_mixed(void), move_refused(void), fixed_over(void);
void unmap_two(void), advise(void), protect_whole(void), move_empty(void);
/* cases_process.c */
void fork_child(void), exit_mapped(void), kill_mapper(void), signalled(void), exec_mapped(void), close_first(void);
void threads_map(void), kernel_access(void), buffers(void), buffers_fork(void), buffers_huge(void);
/* cases_later.c */
void irqfd_args(void), irqfd_use(void), ioeventfd_args(void), ioeventfd_memory(void), gsi_args(void), later_restricted(void);

#endif
