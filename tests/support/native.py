"""Whether the scheduler core that is tested is the compiled one (`make native`)."""

import pytest

from scheduler_core.session import session

COMPILED = not (session.__file__ or "").endswith(".py")

interpreted_only = pytest.mark.skipif(COMPILED, reason="reaches into classes, which compiled ones do not allow")
