"""Well-formed but absurd numbers."""

INT32_MAX = 2**31 - 1
INT32_MIN = -(2**31)
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)

# For fields of 32 bits.
INT32 = [0, -1, 1, 17, 1 << 16, 1 << 20, INT32_MAX, INT32_MIN]
# For fields of 64 bits.
INT64 = [0, -1, INT32_MAX, 2**31, 2**40, 2**62, INT64_MAX, INT64_MIN]
# For unsigned fields of 64 bits.
UINT64 = [0, 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
FLOATS = [0.0, -1.0, 1e-45, 1e30, -1e30, float("nan"), float("inf"), float("-inf")]

# Numbers as text, in options and configurations.
TEXTS = [
    "0", "-1", "-0", "1e-320", "1048576", "2147483647", "2147483648", "4294967296",
    "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1e400", "1e308", "nan",
    "inf", "-inf", "0x10", "1_000", "１", "", " ", "word",
]
