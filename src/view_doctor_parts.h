/* SPDX-License-Identifier: GPL-2.0-only */
/* view_doctor_parts.h - what the text and the JSON of doctor share. */
#ifndef KDEFER_VIEW_DOCTOR_PARTS_H
#define KDEFER_VIEW_DOCTOR_PARTS_H

#include "kernel.h"

/* One by one what measures stand on, in the order in which a person would look. */
#define DOCTOR_ABILITIES 10
struct doctor_ability {
	const char *key, *text;
};
extern const struct doctor_ability doctor_ability[DOCTOR_ABILITIES];
void doctor_abilities(const struct kernel *k, enum tri has[DOCTOR_ABILITIES]);

#endif
