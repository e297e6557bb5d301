-- The outbound table as the embedded set makes it. Times are airport local time, 'YYYY-MM-DD HH:MM:SS'.
CREATE TABLE IF NOT EXISTS {table} (
    {id} INTEGER PRIMARY KEY AUTOINCREMENT,
    {text} BLOB,
    {inserted} TEXT NOT NULL,
    {sent} TEXT,
    {routing_id} TEXT NOT NULL
)
