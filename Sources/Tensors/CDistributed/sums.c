// Loops over the elements that ranks exchange.
#include "CRanks.h"
#include "clones.h"

RT_CLONES void rt_ranks_add(float *sum, const float *x, size_t count) {
    for (size_t i = 0; i < count; i++) sum[i] += x[i];
}

RT_CLONES void rt_ranks_round(float *x, float *lost, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float sum = x[i] + lost[i];
        x[i] = (float)(_Float16)sum;
        lost[i] = sum - x[i];
    }
}

RT_CLONES void rt_ranks_to_halves(uint16_t *halves, const float *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        _Float16 half = (_Float16)x[i];
        __builtin_memcpy(&halves[i], &half, sizeof half);
    }
}

RT_CLONES void rt_ranks_from_halves(float *x, const uint16_t *halves, size_t count) {
    for (size_t i = 0; i < count; i++) {
        _Float16 half;
        __builtin_memcpy(&half, &halves[i], sizeof half);
        x[i] = (float)half;
    }
}
