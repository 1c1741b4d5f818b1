/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The smallest PVH kernel: for guests that stay paused and are only there for
 * their memory. Loading a real one takes a PVH Dom0 a minute.
 */
	.section .note.Xen, "a", @note
	.balign 4
	.long 4, 4, 18		/* XEN_ELFNOTE_PHYS32_ENTRY, xen/include/public/elfnote.h */
	.asciz "Xen"
	.long start

	.text
	.code32
	.globl start
start:
	hlt
	jmp start

	.section .note.GNU-stack, "", @progbits
