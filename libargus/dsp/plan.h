/*
 * How the outputs of one or more products are cut into work items: row blocks times
 * columns, or panels of columns. For matmul.c and q8_matmul.c.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_PLAN_H
#define AG_DSP_PLAN_H

#include <math.h>

#include "libargus/base/common.h"

enum { AG_PLAN_JOBS = 8 }; /* most products of one call */

typedef struct AgItemPlan {
    int m, n_job, n_thread;
    int unit[AG_PLAN_JOBS];      /* columns or panels of each product */
    int mc, nc;                  /* rows and units of an item */
    int n_row;                   /* row blocks */
    int first[AG_PLAN_JOBS + 1]; /* first item of each product */
} AgItemPlan;

/* What there is to choose from, and what an item costs besides its product. */
typedef struct AgItemRange {
    int min_rows, max_rows; /* row blocks */
    int nc, step;           /* most units of an item, and from choice to choice */
    double rows, units;     /* as much as so many more rows and units */
} AgItemRange;

/* All items, once mc, nc and n_row are set. */
static inline int ag_plan_items(AgItemPlan *p)
{
    for (int j = 0; j < p->n_job; j++)
        p->first[j + 1] = p->first[j] + (p->unit[j] + p->nc - 1) / p->nc * p->n_row;
    return p->first[p->n_job];
}

/* Rows and units of an item such that the slowest thread is done soonest: it does
 * ceil(items / threads) of them. Of plans within 1 % the one with the smallest items
 * wins: it suffers least from a thread that is held up. @return the items */
static inline int ag_plan_make(AgItemPlan *p, const AgItemRange *range)
{
    int best_nc = range->step, best_rows = 1;
    double least = INFINITY;

    for (p->n_row = range->min_rows; p->n_row <= range->max_rows; p->n_row++) {
        p->mc = (p->m + p->n_row - 1) / p->n_row;
        for (p->nc = range->nc; p->nc >= range->step; p->nc -= range->step) {
            int turns = (ag_plan_items(p) + p->n_thread - 1) / p->n_thread;
            double cost = (double)turns * (p->mc + range->rows) * (p->nc + range->units);
            if (cost >= least * (p->n_row == best_rows ? 1.01 : 1))
                continue;
            least = AG_MIN(least, cost);
            best_nc = p->nc;
            best_rows = p->n_row;
        }
    }
    p->mc = (p->m + best_rows - 1) / best_rows;
    p->n_row = (p->m + p->mc - 1) / p->mc;
    p->nc = best_nc;
    return ag_plan_items(p);
}

/* Matrix times vector: two items a thread, long enough for one stream each, of whole
 * steps of units, at most `most`. @return the items */
static inline int ag_plan_vector(AgItemPlan *p, int step, int most)
{
    int want = p->n_thread == 1 ? 1 : 2 * p->n_thread, n = 0;

    for (int j = 0; j < p->n_job; j++)
        n += p->unit[j];
    p->mc = p->n_row = 1;
    p->nc = AG_CLIP(AG_ALIGN_UP((n + want - 1) / want, step), step, most);
    return ag_plan_items(p);
}

/* The product an item is of; *item counts from that one's first. */
static inline int ag_plan_job(const AgItemPlan *p, int *item)
{
    int j = 0;

    while (*item >= p->first[j + 1])
        j++;
    *item -= p->first[j];
    return j;
}

#endif /* AG_DSP_PLAN_H */
