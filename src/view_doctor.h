/* SPDX-License-Identifier: GPL-2.0-only */
/* view_doctor.h - what doctor found, as text and as sections of the JSON document. */
#ifndef KDEFER_VIEW_DOCTOR_H
#define KDEFER_VIEW_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../bpf/defer.h"
#include "facts.h"
#include "json.h"
#include "model.h"

struct kernel;

/* Kernel memory of a source's tables, in bytes; 0: nothing known. */
struct doctor_memory {
	uint64_t least; /* with less the source stays off */
	uint64_t taken; /* what they took when they were made */
};

struct view_doctor {
	const struct model *model; /* host and plan, as they would be in a capture */
	const struct kernel *kernel;
	const struct facts *facts;
	const struct doctor_memory *memory; /* by source id */
	bool tried;                         /* hooks were really attached */
	size_t width;
};

size_t view_doctor_usable(const struct model *m); /* rows that are not off */
void view_doctor_text(FILE *out, const struct view_doctor *v);
/* The sections abilities, facts, capabilities, memory; the caller writes host and plan. */
void view_doctor_json(struct json *j, const struct view_doctor *v);

#endif
