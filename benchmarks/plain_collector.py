"""What one would write in an afternoon: FastAPI, JSON, and an INSERT for each report. For comparison only.

SQLite is as it comes: every INSERT is on the disk before the next.
"""

from __future__ import annotations

import sqlite3
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI, Request


def make_app(path: str) -> FastAPI:
    app = FastAPI()
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    database.execute("CREATE TABLE reports (id TEXT PRIMARY KEY, question TEXT, round INTEGER, report TEXT)")

    @app.post("/reports")
    async def reports(request: Request) -> dict[str, Any]:
        accepted = 0
        for each in (await request.json())["reports"]:
            cursor = database.execute(
                "INSERT INTO reports VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (each["id"], each["question"], each["round"], each["report"]),
            )
            accepted += cursor.rowcount
        return {"accepted": accepted}

    return app


if __name__ == "__main__":
    uvicorn.run(make_app(sys.argv[1]), port=int(sys.argv[2]), access_log=False, log_level="warning")
