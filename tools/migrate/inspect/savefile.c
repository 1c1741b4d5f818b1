/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What xl puts in front: its header and the domain's configuration. */
#include "inspect/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_DEPTH 32

static int check_header(struct inspection *in, const struct xf_savefile_header *h, uint64_t at)
{
	static const char what[] = "Save file header";

	if (memcmp(h->magic, XF_SAVEFILE_MAGIC, sizeof(h->magic)))
		return xf_inspect_refuse(in, at, what, "found another magic than \"Xen saved domain, xl"
					 " format\", expected exactly that; give a file that \"xl save\""
					 " wrote");
	if (h->byteorder != XF_SAVEFILE_BYTEORDER)
		return xf_inspect_refuse(in, at, what, "found byte order mark 0x%08x, expected 0x%08x; the"
					 " file is damaged or was saved on a host of the other byte"
					 " order", h->byteorder, XF_SAVEFILE_BYTEORDER);
	if (h->mandatory_flags & ~(XF_SAVEFILE_JSON | XF_SAVEFILE_STREAM_V2))
		return xf_inspect_refuse(in, at, what, "found mandatory flags 0x%x, expected none but 0x%x;"
					 " the file is damaged or of a newer xl", h->mandatory_flags,
					 XF_SAVEFILE_JSON | XF_SAVEFILE_STREAM_V2);
	if (!(h->mandatory_flags & XF_SAVEFILE_STREAM_V2))
		return xf_inspect_refuse(in, at, what, "found a legacy stream (mandatory flags 0x%x),"
					 " expected one of Xen 4.6 or later (flag 0x%x); convert it with"
					 " Xen's convert-legacy-stream", h->mandatory_flags,
					 XF_SAVEFILE_STREAM_V2);
	if (h->optional_data_len && h->optional_data_len < sizeof(uint32_t))
		return xf_inspect_refuse(in, at, what, "found %u bytes of optional data, expected none or"
					 " at least 4; the file is damaged, so save the guest again",
					 h->optional_data_len);
	return 0;
}

/* The name and type of the domain, as far as the configuration has them as text. */
static void describe(struct json_object *config, struct xf_inspect_item *item)
{
	struct json_object *info, *value;
	const char *type = NULL, *name = NULL;

	if (!json_object_object_get_ex(config, "c_info", &info) ||
	    !json_object_is_type(info, json_type_object))
		return;
	if (json_object_object_get_ex(info, "name", &value))
		name = json_object_get_string(value);
	if (json_object_object_get_ex(info, "type", &value))
		type = json_object_get_string(value);
	snprintf(item->detail, sizeof(item->detail), "%s guest \"%.80s\"", type ? type : "unknown",
		 name ? name : "");
	for (char *p = item->detail; *p; p++)	/* it goes to a terminal */
		if (*p < ' ' || *p > '~')
			*p = '?';
}

static int check_json(struct inspection *in, const char *text, uint32_t len, uint64_t at,
		      struct xf_inspect_item *item)
{
	struct json_tokener *tok = json_tokener_new_ex(CONFIG_DEPTH);
	struct json_object *config;
	enum json_tokener_error why;

	if (!tok)
		return xf_error_set(in->e, -ENOMEM, "No memory to parse the configuration, expected it to"
				    " be there; free some and try again.");
	config = json_tokener_parse_ex(tok, text, (int)len);
	why = json_tokener_get_error(tok);
	json_tokener_free(tok);
	if (!config || !json_object_is_type(config, json_type_object)) {
		json_object_put(config);
		return xf_inspect_refuse(in, at, "Configuration", "found %u bytes that are no JSON object"
					 " (%s), expected one as the header's flags say; the file is"
					 " damaged, so save the guest again", len,
					 why == json_tokener_success ? "another value" :
					 json_tokener_error_desc(why));
	}
	describe(config, item);
	json_object_put(config);
	return 0;
}

static int read_config(struct inspection *in, const struct xf_savefile_header *h, uint32_t len,
		       uint64_t at, struct xf_inspect_item *item)
{
	char *text;
	int ret;

	text = malloc(len + 1);
	if (!text)
		return xf_error_set(in->e, -ENOMEM, "No memory for a configuration of %u bytes, expected"
				    " it to be there; free some and try again.", len);
	ret = xf_inspect_fetch(in, text, len, "the configuration");
	text[len] = '\0';
	if (!ret && (h->mandatory_flags & XF_SAVEFILE_JSON))
		ret = check_json(in, text, (uint32_t)strlen(text), at, item);
	free(text);
	return ret;
}

static int config(struct inspection *in, const struct xf_savefile_header *h)
{
	uint64_t at = in->t->bytes_read;
	struct xf_inspect_item item = { .layer = "xl", .name = "Configuration", .offset = at };
	uint32_t len, left;
	int ret;

	if (!h->optional_data_len)
		return 0;
	ret = xf_inspect_fetch(in, &len, sizeof(len), "the configuration's length");
	if (ret)
		return ret;
	left = h->optional_data_len - (uint32_t)sizeof(len);
	if (len > left || len > XF_CONFIG_MAX)
		return xf_inspect_refuse(in, at, "Configuration", "found a length of %u bytes, expected at"
					 " most %u; the file is damaged, so save the guest again", len,
					 left < XF_CONFIG_MAX ? left : XF_CONFIG_MAX);
	item.length = len;
	if (len)
		ret = read_config(in, h, len, at, &item);
	if (!ret)
		ret = xf_inspect_skim(in, left - len, "the optional data", NULL, NULL);
	if (!ret)
		xf_inspect_tell(in, &item);
	return ret;
}

int xf_inspect_savefile(struct inspection *in)
{
	uint64_t at = in->t->bytes_read;
	struct xf_inspect_item item = { .layer = "xl", .name = "Save file header", .offset = at };
	struct xf_savefile_header h;
	int ret;

	ret = xf_inspect_fetch(in, &h, sizeof(h), "the save file header");
	if (!ret)
		ret = check_header(in, &h, at);
	if (ret)
		return ret;
	item.length = sizeof(h);
	snprintf(item.detail, sizeof(item.detail), "flags 0x%x, optional data %u bytes",
		 h.mandatory_flags, h.optional_data_len);
	xf_inspect_tell(in, &item);
	ret = config(in, &h);
	return ret ? ret : xf_inspect_libxl(in);
}
