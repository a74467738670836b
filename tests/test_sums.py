"""Sums in words, computed again: the right ones pass, each wrong one says what is right."""

from __future__ import annotations

import pytest

from bookbuild.sums import SumError, check_sum, read_sum

RIGHT = [
    "2 × 70e9 B = 140 GB",
    "70B × 2 B = 140 GB",
    "70B params × 2 B/param = 140 GB",
    "8 × 700 W = 5.6 kW",
    "8 GPUs × 700 W/GPU = 5.6 kW",
    "80 GiB = 85.9 GB",
    "400 Gbps = 50 GB/s",
    "8 × 400 Gbps = 3,200 Gbps = 400 GB/s",
    "8 × 400 Gbps / 8 bits/B = 400 GB/s",
    "2^30 B = 1,073,741,824 B",
    "2 FLOPs × 1410 MHz × 432 × 256 = 311.9 TFLOPS",
    "312 TFLOPS / 2.039 TB/s = 153 FLOPs per byte",
    "6 × 70e9 × 15e12 FLOPs = 6.3 × 10^24 FLOPs",
    "6 FLOPs × 70e9 × 15 · 10¹² = 6.3e24 FLOPs",
    "√(16) + √9 = 7",
    "(2 + 3) * 4 − 1 = 19",
    "1 / 3 = 0.33 = 33 %",
    "1 − 1.5 = −0.5",
    "81\u202f559 MiB = 79.6 GiB",
    "10 GB / 450 GB/s = 0.022 s = 22 ms",
    "1307.4 TFLOPS × 1207 MHz / 2100 MHz = 751 TFLOPS",
    "22.4 ≈ 23",  # within one of the last digit
]
# the sum, the code, what its message or hint must hold
WRONG = [
    ("2 × 70e9 B = 150 GB", "sum-wrong", "140 GB"),
    ("8 × 700 W = 5.5 kW", "sum-wrong", "5.6 kW"),
    ("80 GiB = 80.0 GB", "sum-wrong", "85.9 GB"),
    ("400 Gbps = 400 GB/s", "sum-wrong", "50 GB/s"),
    ("8 × 400 Gbps = 3,200 Gbps = 40 GB/s", "sum-wrong", "400 GB/s"),
    ("10 GB / 450 GB/s = 0.044 s", "sum-wrong", "0.022 s"),
    ("312 TFLOPS / 2.039 TB/s = 153 GB/s", "sum-wrong", "no value in GB/s"),
    ("10 GB × 2 s = 20 GB", "sum-wrong", "no value in GB"),
    ("3 tokens + 2 params = 5 tokens", "sum-wrong", "units do not fit"),
    ("700 W + 3 GB = 703 W", "sum-wrong", "units do not fit"),
    ("2 × 3 = 2 + 3", "sum-wrong", "6"),
    ("6 × 70e9 × 15e12 FLOPs = 6.4 × 10^24 FLOPs", "sum-wrong", "6.3 × 10^24"),
    ("1.04 = 1.0 = 1.1", "sum-wrong", "1.0"),
    ("22 ≈ 24", "sum-wrong", "22"),
    ("10 GB + 1 GiB = 11.07 GB", "unit-mix", "binary and decimal"),
    ("2 × 80 GiB = 171.8 GB", "unit-mix", "binary and decimal"),
    ("8 × 400 Gbps = 400 GB/s", "unit-mix", "bits and bytes"),
    ("80 GiB / 3.35 TB/s = 25.6 ms", "unit-mix", "binary and decimal"),
    ("3 GBs + 1 GB = 4 GB", "sum-unread", "GB"),
    ("3 GB", "sum-unread", "no sum"),
    ("= 3 GB", "sum-unread", "no sum"),
    ("1 / 0 = 3", "sum-unread", "zero"),
    ("2 × (3 + 1 = 8", "sum-unread", ""),
    ("2 × x = 8", "sum-unread", "x"),
    ("9**9**9**9 = 3", "sum-unread", "finite"),
    ("10^999 = 3", "sum-unread", "too large"),
    ("1e999 = 1e999", "sum-unread", "too large"),
    ("(1 − 3) ** 0.5 = 1", "sum-unread", ""),
    ("3 GB ** 1e300 = 1 GB", "sum-unread", ""),
]


@pytest.mark.parametrize("words", RIGHT)
def test_right_sums_pass(words):
    check_sum(read_sum(words))


@pytest.mark.parametrize(("words", "code", "says"), WRONG)
def test_wrong_sums_say_what_is_right(words, code, says):
    with pytest.raises(SumError) as error:
        check_sum(read_sum(words))
    assert error.value.code == code
    assert says in f"{error.value.text} ({error.value.hint})"
