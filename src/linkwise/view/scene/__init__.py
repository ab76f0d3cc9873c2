"""The scene of a mechanism: primitives fixed to its links, built once and drawn by painters."""

from linkwise.view.scene.layout import SceneLayout as SceneLayout
from linkwise.view.scene.layout import coordinates as coordinates
from linkwise.view.scene.layout import evaluate as evaluate
from linkwise.view.scene.layout import few as few
from linkwise.view.scene.layout import frames_at as frames_at
from linkwise.view.scene.layout import lay_out as lay_out
from linkwise.view.scene.layout import near as near
from linkwise.view.scene.layout import points_of as points_of
from linkwise.view.scene.layout import poses_at as poses_at
from linkwise.view.scene.scene import Label as Label
from linkwise.view.scene.scene import Primitive as Primitive
from linkwise.view.scene.scene import Scene as Scene
from linkwise.view.scene.scene import build as build
