/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace-count TRACE MARKS: how many hypercalls, page-table traps and flushes
 * Xen saw in each operation of `xenferry bench map`.
 *
 * TRACE is what xentrace wrote for the PV event class (PV Dom0), or for exits
 * and their handlers (PVH Dom0), MARKS what the bench wrote with --marks. The
 * counter that a PV Dom0 reads, rdtsc, is the one in the trace. Each reading of
 * a PVH Dom0 is an event of its own with what it read, if Xen emulates the
 * counter: so the operation is what lies between its two readings. Of a PVH
 * Dom0 only memory_op and multicall are counted, and those that Xen had
 interrupted count anew each time, as nothing tells them apart. An interrupt or
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

#define EVENT_RDTSC	 0x0008201au	/* a PVH Dom0 read the counter: low and high half */
#define EVENT_VMMCALL	 0x00082012u	/* a hypercall of a PVH Dom0, in EAX: has no time of its own */

#define OP_MMU_UPDATE	 1u
#define OP_MEMORY	 12u
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
	RESUMPTIONS,	/* of interrupted calls and multicalls */
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
	bool seen;		/* PVH: both of its readings */
};

/* PVH: between whose readings the trace is. */
static struct sample *open_sample;
static bool readings;		/* the trace has some */

static struct sample *samples;
static size_t samples_count;

/* The multicall being read: its parts follow it as events of their own. */
static struct {
	struct sample *in;
	unsigned calls, seen;	/* parts it has, and those read */
	unsigned update_va, mmuext, mmu_update;
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
 * mmu_update of one entry that hangs it into the table above. Our driver does
 * all of this in one multicall to empty such pages: a call of its own.
 */
static void end_group(void)
{
	if (group.in && group.mmu_update) {
		group.in->count[CALLS]++;
	} else if (group.in && group.update_va && group.mmuext) {
		group.in->count[TABLES]++;
	} else if (group.in) {
		group.in->count[FLUSHES] += group.mmuext;
		group.in->count[OTHER]++;
	}
	memset(&group, 0, sizeof(group));
}

/*
 * Xen interrupts a multicall between two parts, or within one. Before it goes
 * on, the kernel may have had an event to see to.
 */
static bool is_interrupted(const struct sample *s)
{
	return s && group.in == s && group.seen < group.calls;
}

static void hypercall(struct sample *s, const uint32_t *extra)
{
	uint32_t op = extra[0] & OP_MASK;

	if (!is_interrupted(s)) {
		end_group();
	} else if (op == OP_MULTICALL) {
		group.calls = extra[1];
		group.seen = 0;
		s->count[RESUMPTIONS]++;
		return;
	}
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
		group.calls = extra[1];
	}
}

static void subcall(const uint32_t *extra)
{
	uint32_t op = extra[0] & OP_MASK;

	group.seen++;
	group.update_va += op == OP_UPDATE_VA;
	group.mmuext += op == OP_MMUEXT;
	group.mmu_update += op == OP_MMU_UPDATE;
}

/* A record that says so carries when the first one was lost. */
static void lose(uint64_t tsc, const uint32_t *extra)
{
	uint64_t from = (uint64_t)extra[3] << 32 | extra[2];

	if (open_sample)
		open_sample->lost = true;
	for (size_t i = 0; i < samples_count; i++)
		if (samples[i].begin <= tsc && samples[i].end >= from)
			samples[i].lost = true;
}

/* A PVH Dom0's: it makes no page-table updates, and the flushes are its own. */
static void vmmcall(struct sample *s, const uint32_t *extra)
{
	end_group();
	if (!s || (extra[0] != OP_MEMORY && extra[0] != OP_MULTICALL))
		return;
	s->count[CALLS]++;
	s->count[ENTRIES] += extra[0] == OP_MEMORY;
}

static void reading(uint64_t value)
{
	readings = true;
	if (open_sample && open_sample->end == value) {
		open_sample->seen = true;
		open_sample = NULL;
	}
	for (size_t i = 0; i < samples_count; i++)
		if (samples[i].begin == value)
			open_sample = &samples[i];
}

static void event(uint32_t id, uint64_t tsc, const uint32_t *extra)
{
	struct sample *s = sample_at(tsc);

	if (id == EVENT_HYPERCALL)
		hypercall(s, extra);
	else if (id == EVENT_VMMCALL)
		vmmcall(open_sample, extra);
	else if (id == EVENT_RDTSC)
		reading((uint64_t)extra[1] << 32 | extra[0]);
	else if (id == EVENT_SUBCALL)
		subcall(extra);
	else if (id == EVENT_PTWR && s)
		s->count[TRAPS]++;
}

static bool has_no_time(uint32_t id)
{
	return id == EVENT_VMMCALL || id == EVENT_RDTSC;
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
		if (!timed && !has_no_time(id))
			continue;
		if (id == EVENT_LOST)
			lose((uint64_t)tsc[1] << 32 | tsc[0], extra);
		hypercalls += id == EVENT_HYPERCALL || id == EVENT_VMMCALL;
		event(id, (uint64_t)tsc[1] << 32 | tsc[0], extra);
	}
	end_group();
	fclose(f);
	if (hypercalls == 0)
		die("has no hypercall in it: were the right events traced?", file);
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
		if (!s[i].lost && (s[i].seen || !readings))
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
