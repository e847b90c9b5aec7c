#include <string.h>

#include "CKernels.h"
#include "clones.h"

// The position of an iteration: the index on each axis, and the element's offset.
typedef struct {
    ptrdiff_t index[RT_MAX_RANK];
    ptrdiff_t place;
} cursor;

static cursor seek(const rt_view *view, ptrdiff_t begin) {
    cursor at = {.place = 0};
    for (int axis = view->rank - 1; axis >= 0; axis--) {
        at.index[axis] = begin % view->extent[axis];
        begin /= view->extent[axis];
        at.place += at.index[axis] * view->step[axis];
    }
    return at;
}

// Advances by `run` elements of the innermost axis, carrying into the outer ones.
static void advance(cursor *at, const rt_view *view, ptrdiff_t run) {
    int axis = view->rank - 1;
    at->index[axis] += run;
    at->place += run * view->step[axis];
    while (axis > 0 && at->index[axis] == view->extent[axis]) {
        at->place -= view->extent[axis] * view->step[axis];
        at->index[axis] = 0;
        axis--;
        at->index[axis]++;
        at->place += view->step[axis];
    }
}

static ptrdiff_t run_length(const cursor *at, const rt_view *view, ptrdiff_t left) {
    ptrdiff_t run = view->extent[view->rank - 1] - at->index[view->rank - 1];
    return run < left ? run : left;
}

RT_CLONES
static void gather_run(float *restrict d, const float *restrict s, ptrdiff_t step, ptrdiff_t n) {
    if (step == 0) {
        for (ptrdiff_t i = 0; i < n; i++) d[i] = s[0];
    } else {
        for (ptrdiff_t i = 0; i < n; i++) d[i] = s[i * step];
    }
}

void rt_gather(float *d, const float *s, const rt_view *view, ptrdiff_t begin, ptrdiff_t n) {
    if (n <= 0) return;
    cursor at = seek(view, begin);
    ptrdiff_t step = view->step[view->rank - 1];
    while (n > 0) {
        ptrdiff_t run = run_length(&at, view, n);
        if (step == 1) memcpy(d, s + at.place, (size_t)run * sizeof *d);
        else gather_run(d, s + at.place, step, run);
        d += run;
        n -= run;
        if (n > 0) advance(&at, view, run);
    }
}

void rt_scatter(float *d, const float *s, const rt_view *view, ptrdiff_t begin, ptrdiff_t n) {
    if (n <= 0) return;
    cursor at = seek(view, begin);
    ptrdiff_t step = view->step[view->rank - 1];
    s += begin;
    while (n > 0) {
        ptrdiff_t run = run_length(&at, view, n);
        if (step == 1) memcpy(d + at.place, s, (size_t)run * sizeof *d);
        else for (ptrdiff_t i = 0; i < run; i++) d[at.place + i * step] = s[i];
        s += run;
        n -= run;
        if (n > 0) advance(&at, view, run);
    }
}
