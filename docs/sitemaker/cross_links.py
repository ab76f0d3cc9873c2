"""A public name in code letters becomes a link to its entry in the reference."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from sitemaker.naming import bare, canonical
from sitemaker.public import aliases

OTHER_WORDS = {"api", "coming-from", "control", "planar", "robo", "rtss", "spacelib", "spacelib-names", "spacelib-errata"}
"""Pages that speak of other things by names that Linkwise has too: there only names in full are links."""


class NamesToEntries(SphinxPostTransform):
    """Wraps each literal that is a public name, as ``lw.Mechanism.jacobian``, in a link to where it is described."""

    default_priority: ClassVar[int] = 400

    def run(self, **kwargs: Any) -> None:
        """Look through one page."""
        objects = self.env.domains["py"].data["objects"]
        for node in list(self.document.findall(nodes.literal)):
            if self._within_link(node):
                continue
            found = self._entry(objects, node)
            if found is None:
                continue
            uri = self.app.builder.get_relative_uri(self.env.docname, found.docname)
            link = nodes.reference("", "", internal=True, refuri=f"{uri}#{found.node_id}")
            node.replace_self(link)
            link += node

    def _entry(self, objects: dict[str, Any], node: nodes.literal) -> Any:
        """The entry of a name: in full, of the class or module that the section is about, or one that is called so alone."""
        text = node.astext()
        names = [canonical(text)]
        if self.env.docname == "reference":
            names += [f"{canonical(title) or f'linkwise.{title}'}.{bare(text)}" for title in self._titles(node)]
        elif self.env.docname.split("/")[0] not in OTHER_WORDS:
            names += [f"linkwise.{bare(text)}"] if bare(text)[:1].isupper() else []
            names += [f"linkwise.Mechanism.{bare(text)}"] if "_" in bare(text) else []
        return next((objects[aliases().get(name, name)] for name in names if aliases().get(name, name) in objects), None)

    @staticmethod
    def _titles(node: nodes.Node) -> list[str]:
        section = node.parent
        while section is not None and not isinstance(section, nodes.section):
            section = section.parent
        title = section.next_node(nodes.title) if section is not None else None
        return [title.astext()] if title is not None else []

    @staticmethod
    def _within_link(node: nodes.Node) -> bool:
        parent = node.parent
        while parent is not None:
            if isinstance(parent, (nodes.reference, nodes.title)):
                return True
            parent = parent.parent
        return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.add_post_transform(NamesToEntries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
