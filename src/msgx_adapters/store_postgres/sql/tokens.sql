-- Tokens for the HTTP interface. A change and its audit row are one statement.

-- name: tokens
SELECT NAME, ROLE, SHA256, CREATED_AT, REVOKED_AT FROM msgx.API_TOKEN ORDER BY TOKEN_ID;

-- name: add_token
WITH T AS (
    INSERT INTO msgx.API_TOKEN (NAME, ROLE, SHA256, CREATED_AT) VALUES (:name, :role, :digest, :now)
    ON CONFLICT DO NOTHING RETURNING TOKEN_ID, NAME, ROLE
)
INSERT INTO msgx.OPS_AUDIT (ACTION, TARGET, ACTOR, REASON, DETAIL, CREATED_AT)
SELECT 'create_token', T.TOKEN_ID, :actor, :why, T.NAME || ' ' || T.ROLE, :now FROM T RETURNING TARGET;

-- name: revoke_token
WITH T AS (
    UPDATE msgx.API_TOKEN SET REVOKED_AT = :now WHERE NAME = :name AND REVOKED_AT IS NULL
    RETURNING TOKEN_ID, NAME, ROLE
)
INSERT INTO msgx.OPS_AUDIT (ACTION, TARGET, ACTOR, REASON, DETAIL, CREATED_AT)
SELECT 'revoke_token', T.TOKEN_ID, :actor, :why, T.NAME || ' ' || T.ROLE, :now FROM T RETURNING TARGET;
