-- Cache keys that the history sweep left to be changed, and the version to leave there at least (D-33).
CREATE TABLE CACHE_PENDING (
    FLID INTEGER NOT NULL PRIMARY KEY,
    STATE_VERSION INTEGER NOT NULL,
    CREATED_AT TEXT NOT NULL
) STRICT;
