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

// Advances by `run` elements of an axis, carrying into the outer ones. The inner axes are at 0.
static void advance(cursor *at, const rt_view *view, int axis, ptrdiff_t run) {
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

static ptrdiff_t run_length(const cursor *at, const rt_view *view, int axis, ptrdiff_t left) {
    ptrdiff_t run = view->extent[axis] - at->index[axis];
    return run < left ? run : left;
}

// MARK: Transposed matrices, such as images of a few channels

// Rows whose elements of all columns are copied before those of the next rows: they share lines of
// the cache.
enum { TILE = 64 };

// Whole rows of the two innermost axes that follow the cursor, if the view transposes those; 0 if
// it does not.
static ptrdiff_t transposed_rows(const cursor *at, const rt_view *view, ptrdiff_t left) {
    int last = view->rank - 1;
    if (last < 1 || view->step[last - 1] != 1 || at->index[last] != 0) return 0;
    return run_length(at, view, last - 1, left / view->extent[last]);
}

// Copies columns of `s`, whose rows lie side by side, to columns `step` apart.
RT_INLINE void split(float *restrict d, const float *restrict s, ptrdiff_t step, ptrdiff_t rows,
                     ptrdiff_t columns) {
    for (ptrdiff_t first = 0; first < rows; first += TILE) {
        ptrdiff_t end = first + TILE < rows ? first + TILE : rows;
        for (ptrdiff_t c = 0; c < columns; c++)
            for (ptrdiff_t r = first; r < end; r++) d[c * step + r] = s[r * columns + c];
    }
}

RT_CLONES
static void split_columns(float *d, const float *s, ptrdiff_t step, ptrdiff_t rows,
                          ptrdiff_t columns) {
    // a and b: the compiler makes vectors of strides that it knows.
    if (columns == 2) split(d, s, step, rows, 2);
    else split(d, s, step, rows, columns);
}

// The reverse.
RT_INLINE void join(float *restrict d, const float *restrict s, ptrdiff_t step, ptrdiff_t rows,
                    ptrdiff_t columns) {
    for (ptrdiff_t first = 0; first < rows; first += TILE) {
        ptrdiff_t end = first + TILE < rows ? first + TILE : rows;
        for (ptrdiff_t c = 0; c < columns; c++)
            for (ptrdiff_t r = first; r < end; r++) d[r * columns + c] = s[c * step + r];
    }
}

RT_CLONES
static void join_columns(float *restrict d, const float *restrict s, ptrdiff_t step,
                         ptrdiff_t rows, ptrdiff_t columns) {
    if (columns == 2)
        for (ptrdiff_t r = 0; r < rows; r++) d[2 * r] = s[r], d[2 * r + 1] = s[step + r];
    else join(d, s, step, rows, columns);
}

// MARK: Any views

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
    int axis = view->rank - 1;
    ptrdiff_t columns = view->extent[axis], step = view->step[axis];
    while (n > 0) {
        ptrdiff_t rows = transposed_rows(&at, view, n), run = rows * columns;
        if (rows > 0) {
            join_columns(d, s + at.place, step, rows, columns);
        } else {
            run = run_length(&at, view, axis, n);
            if (step == 1) memcpy(d, s + at.place, (size_t)run * sizeof *d);
            else gather_run(d, s + at.place, step, run);
        }
        d += run;
        n -= run;
        if (n > 0) advance(&at, view, rows > 0 ? axis - 1 : axis, rows > 0 ? rows : run);
    }
}

void rt_scatter(float *d, const float *s, const rt_view *view, ptrdiff_t begin, ptrdiff_t n) {
    if (n <= 0) return;
    cursor at = seek(view, begin);
    int axis = view->rank - 1;
    ptrdiff_t columns = view->extent[axis], step = view->step[axis];
    s += begin;
    while (n > 0) {
        ptrdiff_t rows = transposed_rows(&at, view, n), run = rows * columns;
        if (rows > 0) {
            split_columns(d + at.place, s, step, rows, columns);
        } else {
            run = run_length(&at, view, axis, n);
            if (step == 1) memcpy(d + at.place, s, (size_t)run * sizeof *d);
            else for (ptrdiff_t i = 0; i < run; i++) d[at.place + i * step] = s[i];
        }
        s += run;
        n -= run;
        if (n > 0) advance(&at, view, rows > 0 ? axis - 1 : axis, rows > 0 ? rows : run);
    }
}
