from aggregation.operators import dedup


def test_an_identity_seen_before_is_a_copy():
    recent = []
    assert not dedup.is_copy(recent, "c/uid/1/added")
    assert dedup.is_copy(recent, "c/uid/1/added")


def test_the_last_eight_identities_are_known():
    recent = []
    for version in range(9):
        dedup.is_copy(recent, f"c/uid/{version}/modified")
    assert len(recent) == dedup.KEPT
    assert dedup.is_copy(recent, "c/uid/1/modified")
    assert not dedup.is_copy(recent, "c/uid/0/modified"), "the ninth last is forgotten"


def test_a_digest_is_the_same_in_every_process():
    assert dedup.digest("c/uid/1/added") == 13331361551989841590
