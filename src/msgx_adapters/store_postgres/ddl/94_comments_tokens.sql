-- What the table of access tokens means.

COMMENT ON TABLE msgx.API_TOKEN IS 'Who may use the HTTP interface, and for what.';
COMMENT ON COLUMN msgx.API_TOKEN.TOKEN_ID IS 'Number; TARGET in the audit.';
COMMENT ON COLUMN msgx.API_TOKEN.NAME IS 'Who: the actor in the audit. Of those not revoked each name is there once.';
COMMENT ON COLUMN msgx.API_TOKEN.ROLE IS 'reader, sender or operator.';
COMMENT ON COLUMN msgx.API_TOKEN.SHA256 IS 'Hex digest of the token, which itself is kept nowhere.';
COMMENT ON COLUMN msgx.API_TOKEN.CREATED_AT IS 'When it was made; who and why is in OPS_AUDIT.';
COMMENT ON COLUMN msgx.API_TOKEN.REVOKED_AT IS 'Since when it is good for nothing.';
