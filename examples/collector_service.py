"""Run a collector and let devices answer.

"I want to see it end to end: a collection file, a service that receives reports, devices that answer, and
a result." Devices always draw secure randomness, so the numbers differ a little each time.

Figure: Bars of four estimated shares with wide 95% intervals, from sixty devices.
Guide: guide/collector.md
"""

import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import ldpkit

Path("commute.toml").write_text("""
id = "commute"
version = 1
purpose = "How people in town travel to work."
least_reports = 40
rounds = {every = "once", start = 2026-11-01}
[[questions]]
id = "way"
text = "How do you travel to work?"
domain = ["walk", "bike", "bus", "car"]
mechanism = "grr"
epsilon = 3
""")
program = [sys.executable, "-m", "ldpkit"]
key = subprocess.check_output([*program, "collection", "keygen", "commute.pem"], text=True).strip()
sign = ["collection", "sign", "commute.toml", "--private-key", "commute.pem", "-o", "commute.json"]
subprocess.run([*program, *sign], check=True)
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{probe.getsockname()[1]}"
command = [*program, "serve", "commute.json", "--port", url.rpartition(":")[2]]
service = subprocess.Popen(command, stdout=subprocess.DEVNULL)
try:
    for _ in range(600):  # a busy machine takes its time
        try:
            urllib.request.urlopen(f"{url}/readyz").close()
            break
        except OSError:
            time.sleep(0.1)
    for number in range(60):
        # The key pins the collection: a device refuses what somebody else signed.
        device = ldpkit.Client.fetch(url, "commute", f"device-{number}.db", public_key=key)
        device.answer("way", ["bike", "walk", "bike", "car"][number % 4])
        device.flush()
    token = Path("ldpkit-data/token").read_text().strip()  # no terminal, so it is not printed
    estimate = ldpkit.Collector(url, token).estimate("commute", "way")
finally:
    service.terminate()
    service.wait()
print(estimate)

estimate.figure().savefig("collector_service.png")
