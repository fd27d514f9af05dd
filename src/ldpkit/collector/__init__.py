"""The service: it takes reports from devices, keeps what it acknowledged, and answers with estimates."""

from __future__ import annotations

__all__: list[str] = []
