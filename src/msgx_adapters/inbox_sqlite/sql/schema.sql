-- The mailbox tables as the embedded set and `msgx init` make them. Times are airport local time,
-- 'YYYY-MM-DD HH:MM:SS'. The text columns have no affinity: bytes stay bytes and text stays text (D-44).
CREATE TABLE IF NOT EXISTS {table} (
    {id} INTEGER PRIMARY KEY AUTOINCREMENT,
    {text} BLOB,
    {received} TEXT,
    {processed} TEXT,
    {status} TEXT
);

CREATE INDEX IF NOT EXISTS {index} ON {table} ({processed}, {id});

CREATE TABLE IF NOT EXISTS COUTMSGS (
    COUTMSGS_ID INTEGER PRIMARY KEY AUTOINCREMENT,
    COUTMSGS_CLOB_MSG BLOB,
    COUTMSGS_DATE_INSERTED TEXT NOT NULL,
    COUTMSGS_DATE_SENT TEXT,
    ROUTINGID TEXT NOT NULL
);
