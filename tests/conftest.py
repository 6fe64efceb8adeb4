"""What every test begins with.

Drawn examples are the same on every run, so that a run is green or red by the code alone. Hypothesis would mix in constants of
whatever modules of ours are loaded, which are others in another order of the tests or with another number of workers: it gets
none. `KC_EXPLORE=1` draws others on each run, such constants among them; what it finds becomes a test. How long an example takes,
to draw or to run, says something of the machine and nothing of the code, so no test fails for it.

Servers of tests are on loopback, which no proxy that the environment names has a way to.

Settings that the environment carries are those of whoever runs the tests, and none of a test's.

Under nohup SIGHUP is ignored, and would be in every process that a test starts, which ours heed. What is handled is not handed
down, so here it is handled by doing nothing.
"""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

settings.register_profile("explore", print_blob=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", settings.get_profile("explore"), derandomize=True)
if os.environ.get("KC_EXPLORE"):
    settings.load_profile("explore")
else:
    settings.load_profile("fixed")
    nothing = providers._local_constants
    assert hasattr(providers, "_get_local_constants") and not len(nothing), "Hypothesis keeps them in another way now"
    providers._get_local_constants = lambda: nothing

for name in [each for each in os.environ if each.startswith("KUBE_COLLECTOR")]:
    del os.environ[name]
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1,localhost"

if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)
