"""The generated reference of the HTTP API."""

from __future__ import annotations

import json
import re

from dashboards.api import reference
from sinks.doris import sql


def test_every_path_and_object_is_on_the_page_and_every_link_leads_somewhere():
    document, page = json.loads(reference.document()), reference.page()
    for path in document["paths"]:
        assert f"## GET {path}\n" in page
    headings = {heading.lower() for heading in re.findall(r"^### (\w+)$", page, re.MULTILINE)}
    assert headings == {name.lower() for name in document["components"]["schemas"]}
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= headings


def test_the_document_names_no_host_and_every_parameter_has_a_meaning():
    text = reference.document()
    assert "://" not in text
    for operations in json.loads(text)["paths"].values():
        for parameter in operations["get"].get("parameters", ()):
            assert parameter["in"] == "path" or parameter["description"], parameter


def test_the_document_is_the_same_each_time():
    assert reference.document() == reference.document()


def test_the_questions_are_among_the_statements_that_are_written_for_the_grammar(tmp_path):
    sql.write(tmp_path)
    written = {file.name.split("_", 1)[1] for file in tmp_path.iterdir()}
    assert {"figure_job.sql", "figure_reason_edges.sql", "view_v_job_wait.sql"} <= written
