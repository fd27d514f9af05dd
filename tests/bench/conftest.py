import pytest

import ldpkit


@pytest.fixture
def seeded():
    """The seeded source of a number."""
    return ldpkit.random.seeded
