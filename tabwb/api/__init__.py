"""The Python interface: what the command line can do, for scripts and notebooks.

``import tabwb`` has all of it. No rule of scoring, order, storage or consent is here: the command
line, the workbench and this interface call the same engine.
"""
