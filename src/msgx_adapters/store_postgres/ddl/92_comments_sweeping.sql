-- What the tables of the history sweep mean.

COMMENT ON TABLE msgx.CACHE_PENDING IS
    'Cache keys that the history sweep left to be changed, before the next message of any instance (D-33).';
COMMENT ON COLUMN msgx.CACHE_PENDING.FLID IS 'Flight.';
COMMENT ON COLUMN msgx.CACHE_PENDING.STATE_VERSION IS 'The version to leave in the cache at least.';
COMMENT ON COLUMN msgx.CACHE_PENDING.CREATED_AT IS 'When it was left.';
