"""Memory is stated before it is taken, by files and by what a few characters ask for."""

from __future__ import annotations

import tracemalloc

import pytest

from ldpkit.bench.numeric_data import load_numbers
from ldpkit.core.errors import InvalidParameterError
from ldpkit.simulation.populations import from_spec


@pytest.mark.parametrize(
    ("read", "small", "asked", "needed"),
    [
        (load_numbers, "gaussian:n=8", "gaussian:n=100000000", "6104M"),
        (from_spec, "zipf:k=8,n=8", "zipf:k=67108864,n=8", "3072M"),
    ],
)
def test_large_populations_are_refused_before_memory_is_taken(read, small, asked, needed, monkeypatch):
    monkeypatch.delenv("LDPKIT_MEMORY", raising=False)
    read(small)  # what is imported at first is not meant
    tracemalloc.start()
    try:
        with pytest.raises(InvalidParameterError, match=f"ask for fewer, or set LDPKIT_MEMORY={needed}"):
            read(asked)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_the_limit_can_be_raised_and_lowered(monkeypatch):
    monkeypatch.setenv("LDPKIT_MEMORY", "1M")
    with pytest.raises(InvalidParameterError, match="takes 7 MiB of memory, the limit is 1"):
        load_numbers("uniform:n=100000")
    monkeypatch.setenv("LDPKIT_MEMORY", "7M")
    assert load_numbers("uniform:n=100000").n == 100_000
