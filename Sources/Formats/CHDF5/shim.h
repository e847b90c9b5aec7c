#ifndef CHDF5_SHIM_H
#define CHDF5_SHIM_H

// The interface of HDF5 1.10, also where the headers are newer.
#define H5_USE_110_API 1
#include <hdf5.h>
#include <stdio.h>
#include <zlib.h>

// HDF5 names its constants by macros that Swift cannot import, and versions some functions by
// macros too. Each function here is one such macro, and nothing more.

static inline hid_t chdf5_default(void) { return H5P_DEFAULT; }
static inline unsigned chdf5_read_only(void) { return H5F_ACC_RDONLY; }
static inline unsigned chdf5_truncate(void) { return H5F_ACC_TRUNC; }

static inline hid_t chdf5_file_access(void) { return H5Pcreate(H5P_FILE_ACCESS); }
static inline hid_t chdf5_file_creation(void) { return H5Pcreate(H5P_FILE_CREATE); }
static inline hid_t chdf5_group_creation(void) { return H5Pcreate(H5P_GROUP_CREATE); }
static inline hid_t chdf5_dataset_creation(void) { return H5Pcreate(H5P_DATASET_CREATE); }
static inline hid_t chdf5_link_creation(void) { return H5Pcreate(H5P_LINK_CREATE); }

static inline hid_t chdf5_float32(int big) {
    return H5Tcopy(big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE);
}
static inline hid_t chdf5_float64(int big) {
    return H5Tcopy(big ? H5T_IEEE_F64BE : H5T_IEEE_F64LE);
}
static inline hid_t chdf5_native_double(void) { return H5Tcopy(H5T_NATIVE_DOUBLE); }
static inline hid_t chdf5_native_int64(void) { return H5Tcopy(H5T_NATIVE_INT64); }
static inline hid_t chdf5_int64(void) { return H5Tcopy(H5T_STD_I64LE); }
static inline hid_t chdf5_uint8(void) { return H5Tcopy(H5T_STD_U8LE); }

// A float of two bytes with the given width of its exponent: 5 for half precision, 8 for bfloat16.
static inline hid_t chdf5_float16(int big, size_t exponent_bits) {
    hid_t type = chdf5_float32(big);
    size_t mantissa_bits = 15 - exponent_bits;
    H5Tset_fields(type, 15, mantissa_bits, exponent_bits, 0, mantissa_bits);
    H5Tset_precision(type, 16);
    H5Tset_size(type, 2);
    H5Tset_ebias(type, (1u << (exponent_bits - 1)) - 1);
    return type;
}

// A UTF-8 string of a fixed length in bytes, filled up with zeros.
static inline hid_t chdf5_string(size_t length) {
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, length);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static inline int chdf5_keep_link_order(hid_t properties) {
    return H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
}

static inline int chdf5_links_are_ordered(hid_t properties) {
    unsigned flags = 0;
    return H5Pget_link_creation_order(properties, &flags) >= 0 && (flags & H5P_CRT_ORDER_INDEXED);
}

// What an object is and where it lies in its file: the same address is the same object.
static inline int chdf5_object_info(hid_t object, int *type, unsigned long long *address) {
    H5O_info_t info;
    if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) return -1;
    *type = (int)info.type;
    *address = (unsigned long long)info.addr;
    return 0;
}

// The type of a link, or a negative number if there is no such link.
static inline int chdf5_link_type(hid_t group, const char *name) {
    H5L_info_t info;
    if (H5Lget_info(group, name, &info, H5P_DEFAULT) < 0) return -1;
    return (int)info.type;
}

// A visitor stops a walk by returning a number other than 0.
typedef int (*chdf5_visitor)(const char *name, int type, void *context);
struct chdf5_visit {
    chdf5_visitor visitor;
    void *context;
};

static inline herr_t chdf5_visit_link(
    hid_t group, const char *name, const H5L_info_t *info, void *visit) {
    struct chdf5_visit *v = (struct chdf5_visit *)visit;
    return v->visitor(name, (int)info->type, v->context);
}

static inline int chdf5_each_link(hid_t group, int by_order, chdf5_visitor visitor, void *context) {
    struct chdf5_visit visit = {visitor, context};
    return H5Literate(
        group, by_order ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, NULL, chdf5_visit_link,
        &visit);
}

static inline herr_t chdf5_visit_attribute(
    hid_t object, const char *name, const H5A_info_t *info, void *visit) {
    struct chdf5_visit *v = (struct chdf5_visit *)visit;
    return v->visitor(name, 0, v->context);
}

static inline int chdf5_each_attribute(hid_t object, chdf5_visitor visitor, void *context) {
    struct chdf5_visit visit = {visitor, context};
    return H5Aiterate2(
        object, H5_INDEX_NAME, H5_ITER_INC, NULL, chdf5_visit_attribute, &visit);
}

struct chdf5_message {
    char *text;
    size_t capacity;
};

static inline herr_t chdf5_take_message(unsigned n, const H5E_error2_t *error, void *message) {
    struct chdf5_message *m = (struct chdf5_message *)message;
    if (n == 0 && error->desc) snprintf(m->text, m->capacity, "%s", error->desc);
    return 0;
}

// The innermost message of the last call that failed.
static inline void chdf5_last_message(char *text, size_t capacity) {
    struct chdf5_message message = {text, capacity};
    text[0] = 0;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, chdf5_take_message, &message);
}

static inline void chdf5_silence(void) { H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }

#endif
