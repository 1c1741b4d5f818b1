// SPDX-License-Identifier: LGPL-2.1-or-later
#include "guest/guest.h"

#include <stdlib.h>

#include "stream/limits.h"

#define FRAMES_BELOW_4G (UINT64_C(1) << 20)
#define FRAMES_SPARE	(UINT64_C(1) << 18)

uint64_t guest_frames_limit(const struct guest_info *info)
{
	uint64_t limit = FRAMES_BELOW_4G + 2 * info->max_pages + FRAMES_SPARE;

	return limit < XF_PFN_LIMIT ? limit : XF_PFN_LIMIT;
}

void guest_blob_free(struct guest_blob *b)
{
	free(b->data);
	b->data = NULL;
	b->size = 0;
}
