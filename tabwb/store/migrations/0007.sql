-- One row for each verdict, the facts of an answer as numbers. The rows follow in migrate.py.
CREATE TABLE items (
	id INTEGER NOT NULL,
	subtest VARCHAR NOT NULL,
	item VARCHAR NOT NULL,
	CONSTRAINT pk_items PRIMARY KEY (id),
	CONSTRAINT uq_items_subtest_item UNIQUE (subtest, item)
);
-- only sqlite
ALTER TABLE trials ADD COLUMN item_id INTEGER NOT NULL DEFAULT 0 REFERENCES items (id);
-- only sqlite
ALTER TABLE trials ADD COLUMN options_id INTEGER NOT NULL DEFAULT 0 REFERENCES texts (id);
-- only postgresql
ALTER TABLE trials ADD COLUMN item_id INTEGER NOT NULL DEFAULT 0;
-- only postgresql
ALTER TABLE trials ADD COLUMN options_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN ok BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE attempts ADD COLUMN text BIGINT NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN spoken BIGINT NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN blank BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE attempts ADD COLUMN thinks BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE attempts ADD COLUMN asked BIGINT NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN seed BIGINT;
ALTER TABLE attempts ADD COLUMN line BIGINT;
ALTER TABLE attempts ADD COLUMN notes_id INTEGER REFERENCES texts (id);
ALTER TABLE rating_sets RENAME TO verdicts;
-- only sqlite
ALTER TABLE verdicts ADD COLUMN measures_id INTEGER NOT NULL DEFAULT 0 REFERENCES texts (id);
-- only postgresql
ALTER TABLE verdicts ADD COLUMN measures_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE verdicts ADD COLUMN codes BLOB NOT NULL DEFAULT X'';
ALTER TABLE verdicts ADD COLUMN numbers TEXT;
ALTER TABLE verdicts ADD COLUMN reasons TEXT;
DROP INDEX ix_rating_sets_attempt_id;
CREATE INDEX ix_verdicts_attempt_id ON verdicts (attempt_id);
ALTER TABLE judgements RENAME COLUMN set_id TO verdict_id;
ALTER TABLE sample_ratings RENAME COLUMN rating_set_id TO verdict_id;
