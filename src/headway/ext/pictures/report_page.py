"""Reports as web pages that load nothing: one template and one style sheet for those of all extensions."""

import base64


def render_report(package: str, template: str, **values: object) -> str:
    """Return a template with its values filled in; in ``*.html`` they are escaped.

    Args:
        package: Its folder ``page`` has the template, which may extend ``report.html`` of this package.
        template: The name of the file.
        values: By the names that the template uses.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape

    folders = [PackageLoader(name, "page") for name in (package, "headway.ext.pictures")]
    environment = Environment(
        loader=ChoiceLoader(folders),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["data_address"] = _data_address
    return environment.get_template(template).render(values)


def _data_address(svg: str) -> str:
    """Return a picture as a ``data:`` address, so that its styles and names do not clash with those of other pictures."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
