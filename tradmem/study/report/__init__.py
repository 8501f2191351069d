"""The report: the track record, charts and all decisions in one self-contained HTML page."""

from tradmem.study.report.page import report_page, write_report

__all__ = ["report_page", "write_report"]
