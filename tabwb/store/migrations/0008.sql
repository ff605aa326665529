-- The tables of ratings, whose content is in verdicts.
DROP TABLE ratings;
DROP TABLE measures;
DROP TABLE reasons;
DROP TABLE rating_statuses;
ALTER TABLE trials DROP COLUMN subtest;
ALTER TABLE trials DROP COLUMN item;
ALTER TABLE trials DROP COLUMN options;
-- only postgresql
ALTER TABLE trials ADD CONSTRAINT fk_trials_item_id FOREIGN KEY (item_id) REFERENCES items (id);
-- only postgresql
ALTER TABLE trials ADD CONSTRAINT fk_trials_options_id FOREIGN KEY (options_id) REFERENCES texts (id);
-- only postgresql
ALTER TABLE verdicts ADD CONSTRAINT fk_verdicts_measures_id FOREIGN KEY (measures_id) REFERENCES texts (id);
-- only postgresql
ALTER SEQUENCE rating_sets_id_seq RENAME TO verdicts_id_seq;
