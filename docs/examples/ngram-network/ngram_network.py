"""An example plugin: a language model that can be lesioned, in numpy alone.

This module is imported whenever tabwb starts, so the model is in its own module.
"""

from tabwb.plugin_api import Descriptor, hookimpl


def make(spec, options):
    from ngram_network_model import Backend

    return Backend()


@hookimpl
def tabwb_register_models(register):
    register(
        Descriptor(
            "ngram-network",
            "Continues texts by the letters before, as a feed-forward network",
            make,
            needs=("numpy",),
            likelihood=True,
            lesions=True,
            activations=True,
            lanes=True,
        )
    )
