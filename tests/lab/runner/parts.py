# What is run in one boot: scenarios that can share it, and, where several boots run at once, not too many of them.
# SPDX-License-Identifier: LGPL-2.1-or-later

MOST = 8    # scenarios in a boot, where it has others beside it: a boot takes 15 s, a scenario about 40


def groups(results):
    """Results that can share a boot, in the order of the first of each; those with one module next to each other."""
    by_key = {}
    for result in results:
        by_key.setdefault(result.scenario.boot_key(), []).append(result)
    return [by_module(group) for group in by_key.values()]


def by_module(results):
    return sorted(results, key=lambda r: r.scenario.settings["module"])


def seconds(results):
    """A guess at how long they take: what they may take at most."""
    return sum(r.scenario.timeout for r in results)


def parts(results, jobs):
    """The boots to make. With several jobs: groups cut so that all have work to the end, the longest part first."""
    whole = groups(results)
    if jobs == 1:
        return whole
    share = max(1, -(-seconds(results) // jobs))
    cut = [part for group in whole for part in pieces(group, pieces_of(group, share))]
    return sorted(cut, key=seconds, reverse=True)


def pieces_of(group, share):
    """How many: none with more than MOST scenarios, none that is more than one job's share of everything."""
    wanted = max(-(-len(group) // MOST), -(-seconds(group) // share))
    return min(wanted, len(group))


def pieces(group, count):
    """About equally long: the longest scenario left always goes to the shortest piece that has room."""
    cut, most = [[] for _ in range(count)], -(-len(group) // count)
    for result in sorted(group, key=lambda r: r.scenario.timeout, reverse=True):
        min((piece for piece in cut if len(piece) < most), key=seconds).append(result)
    return [by_module(piece) for piece in cut]
