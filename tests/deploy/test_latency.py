"""The latency table reads histograms as PromQL does."""

from __future__ import annotations

import http.server
import threading

import pytest
from latency import Histogram, parse, table

LABELS = 'op="rms_norm",direction="forward",dtype="float16",width="128",rows="256"'
SHAPE = ("rms_norm", "forward", "float16", "128", "256")
METRIC = "normd_request_duration_seconds"
TEXT = f"""# HELP {METRIC} Time.
# TYPE {METRIC} histogram
{METRIC}_count{{{LABELS}}} 10
{METRIC}_sum{{{LABELS}}} 0.02
{METRIC}_bucket{{{LABELS},le="0.001"}} 0
{METRIC}_bucket{{{LABELS},le="0.002"}} 8
{METRIC}_bucket{{{LABELS},le="0.004"}} 9
{METRIC}_bucket{{{LABELS},le="+Inf"}} 10
normd_ready{{}} 1
"""


def test_histograms_are_read():
    histogram = parse(TEXT, METRIC)[SHAPE]
    assert histogram.count == 10
    assert histogram.mean() == pytest.approx(0.002)
    assert histogram.quantile(0.4) == pytest.approx(0.0015)
    assert histogram.quantile(0.5) == pytest.approx(0.001 + 0.001 * 5 / 8)
    # Above the last bound: that bound.
    assert histogram.quantile(0.99) == 0.004


def test_shapes_without_requests_are_left_out():
    assert parse(TEXT.replace("_count", "_other"), METRIC) == {}


def test_buckets_that_end_early_are_an_error():
    with pytest.raises(ValueError, match="end below the count"):
        Histogram(count=2, sum=1, buckets={1.0: 1}).quantile(0.99)


@pytest.mark.parametrize("text", [TEXT, "normd_ready 1\n"], ids=["requests", "none"])
def test_the_table_is_read_from_a_url(text):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *arguments):
            """Nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as metrics:
        thread = threading.Thread(target=metrics.handle_request)
        thread.start()
        url = f"http://127.0.0.1:{metrics.server_port}/metrics"
        if text == TEXT:
            assert table(url)[1].split()[:9] == [*SHAPE, "10", "2", "ms", "1.62"]
        else:
            with pytest.raises(ValueError, match="shows no request"):
                table(url)
        thread.join()
