// SPDX-License-Identifier: LGPL-2.1-or-later
#include "guest/guest.h"

#include <stdlib.h>

void guest_blob_free(struct guest_blob *b)
{
	free(b->data);
	b->data = NULL;
	b->size = 0;
}
