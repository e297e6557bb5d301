"""Store suite: tokens for the HTTP interface."""

from __future__ import annotations

from msgx_core.ports import Store
from msgx_core.ports.tokens import ApiRole, ApiToken
from msgx_core.testing.builders import AUDIT, NOW, later
from msgx_core.testing.store_contract import Oracle, StoreContract, one

BOARD = ApiToken("board", ApiRole.READER, "ab" * 32)
DESK = ApiToken("desk", ApiRole.OPERATOR, "cd" * 32)


class TokenContract(StoreContract):
    """`ports.tokens.ApiTokens`."""

    def test_a_token_is_kept_by_its_digest(self, store: Store, oracle: Oracle) -> None:
        """No lease is needed; who made it and why is in the audit."""
        assert store.tokens() == []
        assert store.add_token(BOARD, AUDIT, NOW)
        assert store.add_token(DESK, AUDIT, later(1))
        assert list(store.tokens()) == [
            ApiToken("board", ApiRole.READER, "ab" * 32, NOW),
            ApiToken("desk", ApiRole.OPERATOR, "cd" * 32, later(1)),
        ]
        audit = one(oracle, "SELECT * FROM OPS_AUDIT WHERE TARGET = 1")
        assert (audit["ACTION"], audit["DETAIL"]) == ("create_token", "board reader")
        assert (audit["ACTOR"], audit["REASON"]) == (AUDIT.actor, AUDIT.reason)

    def test_a_name_and_a_digest_are_taken_once(self, store: Store) -> None:
        """Two tokens of one name could not be told apart in the audit."""
        assert store.add_token(BOARD, AUDIT, NOW)
        assert not store.add_token(ApiToken("board", ApiRole.READER, "ef" * 32), AUDIT, NOW)
        assert not store.add_token(ApiToken("other", ApiRole.READER, "ab" * 32), AUDIT, NOW)
        assert len(store.tokens()) == 1
        assert len(store.audit()) == 1

    def test_a_revoked_token_stays_revoked(self, store: Store) -> None:
        """Its name is free again, its digest is not."""
        store.add_token(BOARD, AUDIT, NOW)
        assert store.revoke_token("board", AUDIT, later(5))
        assert not store.revoke_token("board", AUDIT, later(6))
        assert not store.revoke_token("nobody", AUDIT, later(6))
        assert [token.revoked_at for token in store.tokens()] == [later(5)]
        assert [row["ACTION"] for row in store.audit()] == ["revoke_token", "create_token"]
        assert not store.add_token(BOARD, AUDIT, later(7))
        assert store.add_token(ApiToken("board", ApiRole.SENDER, "ef" * 32), AUDIT, later(7))
        assert [token.revoked_at for token in store.tokens()] == [later(5), None]

    def test_a_digest_is_not_shown_by_accident(self) -> None:
        """Logs show values by their `repr`."""
        assert "ab" * 32 not in repr(BOARD)
