#include <cblas.h>

// LAPACK, which OpenBLAS carries and cblas.h does not declare.
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info);
void spotri_(const char *uplo, const int *n, float *a, const int *lda, int *info);
