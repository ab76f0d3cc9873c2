"""The viewer in the browser: a mechanism in space with sliders, a target to drag, motions played and plotted.

It needs viser, the extra ``view``; nothing here imports it before it is used.
"""
