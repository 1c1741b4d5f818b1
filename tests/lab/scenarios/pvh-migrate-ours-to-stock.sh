# A PVH guest that dirties memory migrates three times in a row, sent by our engine, received by the stock one.
# SPDX-License-Identifier: LGPL-2.1-or-later
#: module=ours needs=engine timeout=400
migrate_in_a_row 3 from=ours to=stock
