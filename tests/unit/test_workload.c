// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lab guest's workload must find every kind of damage: it is what all self-checks in the lab rest on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lab/workload/churn.h"
#include "../lab/workload/clocks.h"
#include "../lab/workload/console.h"
#include "../lab/workload/memory.h"

#define SEED 0x5eed
#define PAGES 64

static void fills_are_good_and_differ(void **state)
{
	uint64_t a[PAGE_WORDS], b[PAGE_WORDS];

	(void)state;
	for (uint32_t generation = 0; generation < 4; generation++) {
		page_fill(a, SEED, 7, generation);
		assert_int_equal(page_check(a, SEED, 7, generation), PAGE_GOOD);
	}
	page_fill(a, SEED, 7, 1);
	page_fill(b, SEED, 8, 1);
	for (int i = 0; i < PAGE_WORDS; i++)
		assert_int_not_equal(a[i], b[i]);
	page_fill(b, SEED, 7, 2);
	for (int i = 0; i < PAGE_WORDS; i++)
		assert_int_not_equal(a[i], b[i]);
	page_fill(b, SEED + 1, 7, 1);
	assert_int_equal(page_check(b, SEED, 7, 1), PAGE_ALTERED);
}

static void any_altered_bit_is_found(void **state)
{
	uint64_t page[PAGE_WORDS];
	unsigned char *bytes = (unsigned char *)page;

	(void)state;
	page_fill(page, SEED, 3, 9);
	for (int bit = 0; bit < PAGE_BYTES * 8; bit++) {
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_int_not_equal(page_check(page, SEED, 3, 9), PAGE_GOOD);
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	assert_int_equal(page_check(page, SEED, 3, 9), PAGE_GOOD);
	page[PAGE_WORDS / 2] ^= 1;
	assert_int_equal(page_check(page, SEED, 3, 9), PAGE_ALTERED);
}

static void kinds_of_damage_are_told_apart(void **state)
{
	uint64_t page[PAGE_WORDS];

	(void)state;
	page_fill(page, SEED, 3, 8);
	assert_int_equal(page_check(page, SEED, 3, 9), PAGE_STALE);
	page_fill(page, SEED, 4, 9);
	assert_int_equal(page_check(page, SEED, 3, 9), PAGE_SWAPPED);
	memset(page, 0, sizeof(page));
	assert_int_equal(page_check(page, SEED, 3, 9), PAGE_LOST);
	assert_int_equal(page_check(page, SEED, 3, 0), PAGE_GOOD);
	page[PAGE_WORDS - 1] = 1;
	assert_int_equal(page_check(page, SEED, 3, 0), PAGE_ALTERED);
	/* Half of the page from one generation, half from the next: a copy torn by a write. */
	page_fill(page, SEED, 3, 9);
	uint64_t next[PAGE_WORDS];
	page_fill(next, SEED, 3, 10);
	memcpy(page + PAGE_WORDS / 2, next + PAGE_WORDS / 2, sizeof(page) / 2);
	assert_int_equal(page_check(page, SEED, 3, 9), PAGE_ALTERED);
	assert_int_equal(page_check(page, SEED, 3, 10), PAGE_ALTERED);
}

static void sweep(struct memory *memory)
{
	for (uint32_t page = 0; page < PAGES; page++)
		memory_check(memory, page);
}

static void memory_counts_each_bad_page_once(void **state)
{
	struct memory memory;

	(void)state;
	assert_int_equal(memory_init(&memory, PAGES, SEED), 0);
	for (uint32_t page = 0; page < PAGES / 2; page++)
		memory_rewrite(&memory, page);
	sweep(&memory);
	assert_int_equal(memory.errors, 0);
	assert_int_equal(memory.written, PAGES / 2);

	memory_corrupt(&memory, 5);		/* written */
	memory_corrupt(&memory, PAGES - 1);	/* never written */
	memcpy(memory_page(&memory, 9), memory_page(&memory, 10), PAGE_BYTES);
	sweep(&memory);
	assert_int_equal(memory.errors, 3);
	assert_int_equal(memory.first_bad, 5);
	assert_int_equal(memory.first_state, PAGE_ALTERED);
	sweep(&memory);
	assert_int_equal(memory.errors, 3);
	memory_free(&memory);
}

static void a_rewrite_checks_first(void **state)
{
	struct memory memory;

	(void)state;
	assert_int_equal(memory_init(&memory, PAGES, SEED), 0);
	memory_rewrite(&memory, 1);
	page_fill(memory_page(&memory, 1), SEED, 1, 0);
	memory_rewrite(&memory, 1);
	assert_int_equal(memory.errors, 1);
	assert_int_equal(memory.first_state, PAGE_LOST);
	memory_free(&memory);
}

static void a_damaged_table_is_found(void **state)
{
	struct table table;

	(void)state;
	assert_int_equal(table_init(&table, PAGES), 0);
	for (int i = 0; i < 1000; i++)
		table_next(&table, (uint32_t)(i * 7 % PAGES));
	assert_true(table_intact(&table));
	table.generation[11]++;
	assert_false(table_intact(&table));
	table.generation[11]--;
	/* Two entries that changed places add up to the same, were it a plain sum. */
	uint32_t other = table.generation[2];
	table.generation[2] = table.generation[3] + 1;
	table.generation[3] = other - 1;
	assert_false(table_intact(&table));
	table_free(&table);
}

static void generations_never_come_back_to_zero(void **state)
{
	struct table table;

	(void)state;
	assert_int_equal(table_init(&table, 1), 0);
	table_next(&table, 0);
	table.generation[0] = UINT32_MAX;
	assert_int_equal(table_next(&table, 0), 1);
	table_free(&table);
}

static void clocks_see_gaps_and_steps_back(void **state)
{
	struct clocks clocks;

	(void)state;
	clocks_start(&clocks);
	clocks_look(&clocks);
	assert_int_equal(clocks.backwards, 0);
	clocks.real -= 5000000000LL;		/* as if it had been looked at 5 s ago */
	clocks_look(&clocks);
	assert_true(clocks.real_gap >= 5000000000LL);
	clocks.mono += 5000000000LL;		/* as if it had been further on */
	clocks_look(&clocks);
	assert_int_equal(clocks.backwards, 1);
	clocks_reset_gaps(&clocks);
	assert_int_equal(clocks.real_gap, 0);
}

static void console_takes_lines_whole(void **state)
{
	struct console console = { 0 };
	char line[64];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	console.fd = ends[0];
	assert_int_equal(write(ends[1], "sweep t1\nga", 11), 11);
	assert_true(console_hear(&console, line, sizeof(line)));
	assert_string_equal(line, "sweep t1");
	assert_int_equal(write(ends[1], "p t2\n", 5), 5);
	assert_true(console_hear(&console, line, sizeof(line)));
	assert_string_equal(line, "gap t2");

	console.fd = ends[1];
	console_say(&console, "tick n=%d", 1);
	console.fd = -1;			/* takes nothing: kept for later */
	console_say(&console, "tick n=%d", 2);
	assert_int_equal(console.out_len, strlen("\nxf tick n=2 .\n"));
	for (int i = 0; i < 10000; i++)
		console_say(&console, "tick n=%d", i);
	assert_true(console.out_len <= sizeof(console.out));
	assert_int_equal(console.out[console.out_len - 1], '\n');
	close(ends[0]);
	close(ends[1]);
}

static void churn_finds_altered_pages(void **state)
{
	struct churn_areas areas;

	(void)state;
	for (uint64_t round = 0; round < 20; round++) {
		assert_int_equal(churn_map(&areas, round), 0);
		assert_true(churn_holds(&areas));
		for (int a = 0; a < CHURN_AREAS; a++) {
			unsigned char *last = areas.area[a] + (CHURN_PAGES - 1) * PAGE_BYTES;

			*last ^= 1;
			assert_false(churn_holds(&areas));
			*last ^= 1;
		}
		/* Two pages that changed places. */
		memcpy(areas.area[3], areas.area[4], PAGE_BYTES);
		assert_false(churn_holds(&areas));
		churn_unmap(&areas);
	}
}

static void churn_counts_rounds_and_bad_ones(void **state)
{
	struct churn churn = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		churn_round(&churn, "/proc/self/exe");
	assert_int_equal(churn.error, 0);
	assert_int_equal(churn.rounds, 3);
	assert_int_equal(churn.bad, 0);

	/* A child that becomes what it should not, and one that can't become anything. */
	churn_round(&churn, "/bin/false");
	churn_round(&churn, "/no/such/program");
	assert_int_equal(churn.rounds, 5);
	assert_int_equal(churn.bad, 2);
}

static void churn_goes_on_by_itself(void **state)
{
	struct churn *churn = NULL;

	(void)state;
	assert_int_equal(churn_start("/proc/self/exe", &churn), 0);
	while (churn->rounds < 3)
		usleep(1000);
	assert_int_equal(churn->bad, 0);
	assert_int_equal(kill(churn->pid, SIGKILL), 0);
	assert_int_equal(waitpid(churn->pid, NULL, 0), churn->pid);
	munmap(churn, sizeof(*churn));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_are_good_and_differ),
		cmocka_unit_test(any_altered_bit_is_found),
		cmocka_unit_test(kinds_of_damage_are_told_apart),
		cmocka_unit_test(memory_counts_each_bad_page_once),
		cmocka_unit_test(a_rewrite_checks_first),
		cmocka_unit_test(a_damaged_table_is_found),
		cmocka_unit_test(generations_never_come_back_to_zero),
		cmocka_unit_test(clocks_see_gaps_and_steps_back),
		cmocka_unit_test(console_takes_lines_whole),
		cmocka_unit_test(churn_finds_altered_pages),
		cmocka_unit_test(churn_counts_rounds_and_bad_ones),
		cmocka_unit_test(churn_goes_on_by_itself),
	};

	if (argc == 2 && strcmp(argv[1], CHURN_WORD) == 0)
		return churn_grown_up();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
