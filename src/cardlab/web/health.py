"""The state of the server: /api/health for monitoring, /metrics for Prometheus."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from cardlab.web.server_state import Site

METRICS = {  # name -> what it counts
    "tables": "tables in memory",
    "sockets": "open sockets",
    "connections": "open connections",
    "unsaved": "tables with moves that are not in the store yet",
    "behind_seconds": "seconds that the oldest of these moves has waited",
    "waiting": "decisions that wait for a worker",
    "replays_waiting": "replays that wait for a worker",
    "workers_started": "worker processes started so far",
    "files": "file descriptors in use",
    "most_files": "limit of file descriptors",
    "ok": "1 if moves reach the store and file descriptors are left, 0 otherwise",
}


def health_json(site: Site) -> dict[str, Any]:
    """Return the state of the server; `ok`: moves are saved and new connections are possible."""
    files, most = descriptors()
    trouble = []
    if not site.writer.healthy:
        trouble.append("moves cannot be saved and wait for the store")
    if most is not None and files is not None and files > 0.9 * most:
        trouble.append("almost all file descriptors are in use")
    return {
        "ok": not trouble,
        "trouble": trouble,
        "tables": len(site.rooms.live),
        "sockets": site.admission.total["sockets"],
        "connections": site.admission.total["connections"],
        "unsaved": site.writer.unsaved,
        "behind_seconds": round(site.writer.behind, 1),
        "waiting": site.pool.waiting,
        "replays_waiting": site.replay_pool.waiting,
        "workers_started": site.pool.started + site.replay_pool.started,
        "files": files,
        "most_files": most,
    }


def metrics_text(site: Site) -> str:
    """Return the same in the text format of Prometheus, with the refused requests by kind."""
    health = health_json(site)
    lines = []
    for name, what in METRICS.items():
        if health[name] is not None:
            lines += [f"# HELP cardlab_{name} {what}", f"# TYPE cardlab_{name} gauge"]
            lines.append(f"cardlab_{name} {float(health[name]):g}")
    lines += [
        "# HELP cardlab_refused_total requests and connections refused, by kind",
        "# TYPE cardlab_refused_total counter",
    ]
    for kind, count in sorted(site.admission.refused.items()):
        lines.append(f'cardlab_refused_total{{kind="{kind}"}} {count}')
    return "\n".join(lines) + "\n"


def descriptors() -> tuple[int | None, int | None]:
    """Return the number of file descriptors in use and its limit, where the system provides it."""
    used = most = None
    with suppress(OSError):
        used = len(os.listdir("/proc/self/fd"))
    with suppress(ImportError, OSError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return used, most
