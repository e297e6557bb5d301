-- Cache keys that the history sweep left to be changed (D-33).

CREATE TABLE msgx.CACHE_PENDING (
    FLID bigint NOT NULL PRIMARY KEY,
    STATE_VERSION bigint NOT NULL,
    CREATED_AT timestamptz NOT NULL
);
