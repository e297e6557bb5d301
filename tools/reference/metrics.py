"""Metrics and the stages of a message's way, from the table of metrics."""

from __future__ import annotations

from msgx_core.ports.metrics import METRICS, STAGES
from reference.markdown import code, page, sentence, table

INTRO = """\
`GET /metrics` tells all of them ([HTTP](../http.md)). The name on the left is the one that Prometheus
scrapes, the one in the code is what logs and other pages say. Durations are in seconds. Of one metric at
most 200 sets of labels are told apart, later ones are counted together as `other`.
"""


def text() -> str:
    """The page."""
    rows = [
        (
            code(metric.exposed),
            metric.kind.value,
            ", ".join(map(code, metric.labels)),
            code(name),
            sentence(metric.meaning),
        )
        for name, metric in METRICS.items()
    ]
    stages = [(code(name), sentence(meaning)) for name, meaning in STAGES.items()]
    return page(
        "Metrics",
        INTRO,
        table(("metric", "kind", "labels", "in the code", "meaning"), rows),
        "## Stages\n\nThe label `stage`, and the spans of a trace.\n",
        table(("stage", "one piece of its work"), stages),
    )
