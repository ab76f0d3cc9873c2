"""What people look at: pictures of a mechanism, curves of a motion, and the text layout of SpaceLib's OUT files.

Pictures and curves need matplotlib, the extra ``plot``; nothing here imports it before it is used.
"""

from linkwise.view.picture import draw as draw
