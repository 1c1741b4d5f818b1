/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace-count TRACE MARKS: how many hypercalls, page-table traps and flushes
 * Xen saw in each operation of `xenferry bench map`.
 *
 * TRACE is what xentrace wrote for the PV event class, MARKS what the bench
 * wrote with --marks: the same counter, rdtsc, stands in both. An interrupt or
 * a task switch within an operation adds calls, and nothing takes any away, so
 * for each operation and size the sample with the fewest events is printed:
 *   OP N samples=S calls= entries= flushes= traps= tables= resumed= other=
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_LOST	 0x0001f001u
#define EVENT_HYPERCALL	 0x0020100du
#define EVENT_SUBCALL	 0x0020200eu
#define EVENT_PTWR	 0x0020110bu	/* an emulated write to a page table, 64-bit */

#define OP_MMU_UPDATE	 1u
#define OP_MULTICALL	 13u
#define OP_UPDATE_VA	 14u
#define OP_MMUEXT	 26u
#define OP_MASK		 0xfffffu	/* above it: which arguments follow */

/* Set in a count of a call that Xen had interrupted and goes on with: no new call of the kernel's. */
#define RESUMED		 0x80000000u

enum what {
	CALLS,		/* mmu_update and update_va_mapping, save those for TABLES */
	ENTRIES,	/* in them */
	FLUSHES,	/* mmuext_op: TLB flushes, of all or of one page */
	TRAPS,		/* writes to page-table entries that Xen trapped and emulated */
	TABLES,		/* page-table pages made or released */
	RESUMPTIONS,	/* of interrupted calls */
	OTHER,		/* multicalls that are none of these */
	WHATS
};
static const char *const names[WHATS] = {
	"calls", "entries", "flushes", "traps", "tables", "resumed", "other",
};

struct sample {
	char op[16];
	uint64_t n, begin, end;
	uint64_t count[WHATS];
	bool lost;		/* Xen had no room for some of its records */
};

static struct sample *samples;
static size_t samples_count;

/* The multicall being read: its parts follow it as events of their own. */
static struct {
	struct sample *in;
	unsigned update_va, mmuext;
} group;

static void die(const char *what, const char *file)
{
	fprintf(stderr, "trace-count: %s: %s\n", file, what);
	exit(1);
}

static void read_marks(const char *file)
{
	FILE *f = fopen(file, "r");
	struct sample s = { .n = 0 };

	if (!f)
		die("can't be opened", file);
	while (fscanf(f, "%15s %" SCNu64 " %" SCNu64 " %" SCNu64, s.op, &s.n, &s.begin, &s.end) == 4) {
		samples = realloc(samples, (samples_count + 1) * sizeof(*samples));
		if (!samples)
			die("no memory", file);
		samples[samples_count++] = s;
	}
	if (!feof(f) || samples_count == 0)
		die("is not what xenferry bench map --marks writes", file);
	fclose(f);
}

/* The marks come in time's order within an operation, not over all: look through. */
static struct sample *sample_at(uint64_t tsc)
{
	static size_t last;

	for (size_t i = 0; i < samples_count; i++) {
		struct sample *s = &samples[(last + i) % samples_count];

		if (tsc < s->begin || tsc >= s->end)
			continue;
		last = (size_t)(s - samples);
		return s;
	}
	return NULL;
}

/*
 * The kernel makes or releases a page-table page with a multicall that pins or
 * unpins it (mmuext_op) and changes its protection (update_va_mapping), and an
 * mmu_update of one entry that hangs it into the table above.
 */
static void end_group(void)
{
	if (group.in && group.update_va && group.mmuext) {
		group.in->count[TABLES]++;
	} else if (group.in) {
		group.in->count[FLUSHES] += group.mmuext;
		group.in->count[OTHER]++;
	}
	memset(&group, 0, sizeof(group));
}

static void hypercall(struct sample *s, const uint32_t *extra)
{
	uint32_t op = extra[0] & OP_MASK;

	end_group();
	if (!s)
		return;
	if ((op == OP_MMU_UPDATE || op == OP_MMUEXT) && extra[1] & RESUMED) {
		s->count[RESUMPTIONS]++;
	} else if (op == OP_MMU_UPDATE || op == OP_UPDATE_VA) {
		s->count[CALLS]++;
		s->count[ENTRIES] += op == OP_MMU_UPDATE ? extra[1] : 1;
	} else if (op == OP_MMUEXT) {
		s->count[FLUSHES]++;
	} else if (op == OP_MULTICALL) {
		group.in = s;
	}
}

static void subcall(const uint32_t *extra)
{
	uint32_t op = extra[0] & OP_MASK;

	group.update_va += op == OP_UPDATE_VA;
	group.mmuext += op == OP_MMUEXT;
}

/* A record that says so carries when the first one was lost. */
static void lose(uint64_t tsc, const uint32_t *extra)
{
	uint64_t from = (uint64_t)extra[3] << 32 | extra[2];

	for (size_t i = 0; i < samples_count; i++)
		if (samples[i].begin <= tsc && samples[i].end >= from)
			samples[i].lost = true;
}

static void event(uint32_t id, uint64_t tsc, const uint32_t *extra)
{
	struct sample *s = sample_at(tsc);

	if (id == EVENT_HYPERCALL)
		hypercall(s, extra);
	else if (id == EVENT_SUBCALL)
		subcall(extra);
	else if (id == EVENT_PTWR && s)
		s->count[TRAPS]++;
}

static void read_trace(const char *file)
{
	FILE *f = fopen(file, "r");
	uint32_t head, tsc[2], extra[8];
	size_t hypercalls = 0;

	if (!f)
		die("can't be opened", file);
	while (fread(&head, sizeof(head), 1, f) == 1) {
		uint32_t id = head & 0x0fffffff, words = (head >> 28) & 7;
		bool timed = head >> 31;

		memset(extra, 0, sizeof(extra));
		memset(tsc, 0, sizeof(tsc));
		if ((timed && fread(tsc, sizeof(tsc), 1, f) != 1) ||
		    (words && fread(extra, sizeof(*extra), words, f) != words))
			die("ends within a record", file);
		if (!timed)
			continue;
		if (id == EVENT_LOST)
			lose((uint64_t)tsc[1] << 32 | tsc[0], extra);
		hypercalls += id == EVENT_HYPERCALL;
		event(id, (uint64_t)tsc[1] << 32 | tsc[0], extra);
	}
	end_group();
	fclose(f);
	if (hypercalls == 0)
		die("has no hypercall in it: was the PV event class traced?", file);
}

static uint64_t events(const struct sample *s)
{
	uint64_t sum = 0;

	for (int w = 0; w < WHATS; w++)
		sum += s->count[w];
	return sum;
}

static void print_least(const struct sample *s, size_t n)
{
	const struct sample *least = s;

	for (size_t i = 1; i < n; i++)
		if (events(&s[i]) < events(least))
			least = &s[i];
	printf("%s %" PRIu64 " samples=%zu", s->op, s->n, n);
	for (int w = 0; w < WHATS; w++) {
		uint64_t count = least->count[w];

		/* Each table took one call with one entry. */
		if (w == CALLS || w == ENTRIES)
			count -= least->count[TABLES] < count ? least->count[TABLES] : count;
		printf(" %s=%" PRIu64, names[w], count);
	}
	printf("\n");
}

/* How many samples from s on are of the same operation and size. */
static size_t same_row(const struct sample *s, size_t left)
{
	size_t n = 1;

	while (n < left && s[n].n == s->n && !strcmp(s[n].op, s->op))
		n++;
	return n;
}

/* The whole ones to the front; how many they are. */
static size_t keep_whole(struct sample *s, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!s[i].lost)
			s[kept++] = s[i];
	return kept;
}

int main(int argc, char **argv)
{
	size_t first, n, whole;

	if (argc != 3) {
		fprintf(stderr, "usage: trace-count TRACE MARKS\n");
		return 2;
	}
	read_marks(argv[2]);
	read_trace(argv[1]);
	for (first = 0; first < samples_count; first += n) {
		struct sample *s = &samples[first];

		n = same_row(s, samples_count - first);
		whole = keep_whole(s, n);
		if (whole == 0)
			die("records were lost in every sample of a row: the trace buffer is too small", argv[1]);
		print_least(s, whole);
	}
	return 0;
}
