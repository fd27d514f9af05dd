"""The reference samplers: one report from the integers of a collection file, in plain Python.

They are the executable specification. The compiled kernels and the clients in other languages make
the same report from the same random bytes; golden vectors in `spec/` hold all of them to it.

A form is a little program with integers, and few forms serve all mechanisms:

==================  =======================================================================
response            the value, or any other (grr)
hashing             a hash function, and the response on its bucket (blh, olh)
unary               a randomised bit for each value (sue, oue, the)
subset              a random set that is likely to hold the value (ss)
window              a window of likely cells (pm, sw, ogpm, ... on a line or a circle)
coin, hybrid        one of two numbers (duchi), or a window (hm)
noise, turned       the place plus noise (laplace, staircase), around a circle (purkayastha, von_mises)
rows, table         a row of weights for each place; rows that places are rounded to (aaa, optimal)
sites               the response among cells of a map or public places
planar, pair        a window in the plane; two reports for a location (tracs_c, tracs_d)
chained_response    two rounds of response (lgrr); chained_hashing on buckets (lblh, lolh)
chained_unary       two rounds of bits (lsue, loue, lsoue, losue)
bitflip             kept bits for chosen buckets (dbitflip)
==================  =======================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from ldpkit.client.samplers.base import MemorySampler, Place, Sampler
from ldpkit.client.samplers.fields import LARGEST_TABLE, Fields
from ldpkit.core.errors import InvalidParameterError

__all__ = ["FORMS", "LARGEST_TABLE", "MemorySampler", "Place", "Sampler", "read_sampler"]

FORMS = {
    "response": ("response", "ResponseSampler"),
    "sites": ("response", "SiteSampler"),
    "hashing": ("hashing", "HashingSampler"),
    "unary": ("unary", "UnarySampler"),
    "subset": ("subset", "SubsetSampler"),
    "window": ("window", "WindowSampler"),
    "coin": ("coin", "CoinSampler"),
    "hybrid": ("coin", "HybridSampler"),
    "noise": ("noise", "NoiseSampler"),
    "turned": ("noise", "TurnedSampler"),
    "rows": ("rows", "RowSampler"),
    "table": ("rows", "TableSampler"),
    "planar": ("planar", "PlanarSampler"),
    "pair": ("planar", "LocationPair"),
    "chained_response": ("chained", "ChainedResponseSampler"),
    "chained_hashing": ("chained", "ChainedHashing"),
    "chained_unary": ("chained", "ChainedUnary"),
    "bitflip": ("bitflip", "BitFlipSampler"),
}
"""Every form, with its module and class: only the one that is used is loaded."""


@cache
def _kind(form: str) -> type[Sampler]:
    module, name = FORMS[form]
    found: type[Sampler] = getattr(import_module(f"{__name__}.{module}"), name)
    return found


def read_sampler(form: Mapping[str, Any]) -> Sampler:
    """Return the sampler of a form from a collection file, or refuse it.

    Examples
    --------
    >>> sampler = read_sampler({"form": "coin", "grid": 2, "base": str(2**62), "slope": str(2**62)})
    >>> sampler.places, sampler.report_bytes, sampler.draw(0, bytes).hex()
    ((3,), 1, '01')
    >>> read_sampler({"form": "coin", "grid": 2, "base": str(2**62), "slope": str(2**61)})
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the sampler 'coin' cannot be used: 2 * base + grid * slope is \
not 2**64: get the collection file again, or report it as forged
    """
    name = form.get("form") if isinstance(form, Mapping) else None
    if not isinstance(name, str) or name not in FORMS:
        raise InvalidParameterError(
            f"the form {str(name)[:50]!r} of a sampler is not known here: choose from {', '.join(FORMS)}, or "
            "take a newer client"
        )
    fields = Fields(form, name)
    made = _kind(name).read(fields)
    fields.done()
    return made
