/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows over the nights: what each night measured, its ratio with its interval, and where the ratio
 * changed. Pure.
 */
#ifndef HISTORY_TRENDS_H
#define HISTORY_TRENDS_H

#include "history/nights.h"

struct trend_point {
	size_t night; /* index in nights */
	const struct compared_row *row;
	double factor; /* from the row's unit to the trend's */
};

/* By which of the two a change was told; both may. */
enum { CHANGE_BY_SERIES = 1, CHANGE_BY_ALARM = 2 };

struct trend_change {
	size_t night; /* index in nights: the first night of the new level */
	unsigned int by;
	double size;	   /* ln ratio of the new level to the one before */
	double p, pettitt; /* of e-divisive and of Pettitt's test around it; NaN: not told by it */
};

struct trend {
	enum night_kind kind; /* anchor, undo or series */
	const char *name;     /* unique, and fit for a file: "anchor.LABEL.icount.smoke" */
	const char *label;
	const char *before, *after; /* what the two sides are, for a legend */
	const char *unit, *engine, *metric;
	double documented;	    /* after/before, NaN: nothing is documented */
	bool expected;		    /* .. that is what the engine is expected to show */
	struct trend_point *points; /* nights that measured it, oldest first */
	size_t npoints, points_room;
	struct trend_change *changes; /* oldest first */
	size_t nchanges, changes_room;
};

struct trends {
	const struct nights *nights;
	struct trend *items; /* claims first, then proposals, then all rows against the anchor */
	size_t count, room;
	const char *anchor;   /* commit that the anchor's rows are against; NULL: none */
	size_t other_anchors; /* nights against another anchor, which are left out */
};

void trends_build(struct arena *arena, const struct nights *nights, struct trends *trends);

/* The point of a night, or NULL. */
const struct trend_point *trend_at(const struct trend *trend, size_t night);

/* A level must move by this much to be marked, ln; by the row's margin where that is smaller. */
#define TREND_LEAST_CHANGE .005

#endif
