"""Who may come in: one user, root, whose password is empty unless the server was started with one."""

from __future__ import annotations

import hashlib
import hmac

import msgspec

USER = "root"


class Access(msgspec.Struct, frozen=True):
    """The password of root; both protocols ask here."""

    password: str = ""

    def allows(self, user: str, password: str) -> bool:
        return user == USER and hmac.compare_digest(password.encode(), self.password.encode())

    def allows_scrambled(self, user: str, salt: bytes, answer: bytes) -> bool:
        """MySQL's native password: the answer is SHA1(password) xor SHA1(salt + SHA1(SHA1(password)))."""
        if user != USER:
            return False
        if not self.password:
            return not answer
        once = hashlib.sha1(self.password.encode()).digest()
        mask = hashlib.sha1(salt + hashlib.sha1(once).digest()).digest()
        return hmac.compare_digest(answer, bytes(a ^ b for a, b in zip(once, mask, strict=True)))
