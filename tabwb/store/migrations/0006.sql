-- The version stands in PRAGMA user_version of SQLite, and in a table of a server.
DROP TABLE alembic_version;
-- only postgresql
CREATE TABLE schema_version (
	version INTEGER NOT NULL
);
