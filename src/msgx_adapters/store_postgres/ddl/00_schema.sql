-- The store of msgx on PostgreSQL. Every function is called in a transaction of its own; none keeps session state.

CREATE SCHEMA IF NOT EXISTS "{{schema}}";

