#include <cblas.h>

// LAPACK, which OpenBLAS carries and cblas.h does not declare.
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info);
void spotri_(const char *uplo, const int *n, float *a, const int *lda, int *info);
void dsyev_(
    const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
    double *work, const int *lwork, int *info);
