-- What each rater declares of itself in each administration. Its rows are added by steps.py.
CREATE TABLE rater_declarations (
	id INTEGER NOT NULL,
	administration_id INTEGER NOT NULL,
	rater_id INTEGER NOT NULL,
	kind VARCHAR NOT NULL,
	scope VARCHAR NOT NULL,
	features_id INTEGER NOT NULL,
	caution_id INTEGER NOT NULL,
	prompt_id INTEGER,
	recorded_at VARCHAR NOT NULL,
	CONSTRAINT pk_rater_declarations PRIMARY KEY (id),
	CONSTRAINT fk_rater_declarations_administration_id FOREIGN KEY(administration_id) REFERENCES administrations (id),
	CONSTRAINT fk_rater_declarations_rater_id FOREIGN KEY(rater_id) REFERENCES raters (id),
	CONSTRAINT fk_rater_declarations_features_id FOREIGN KEY(features_id) REFERENCES texts (id),
	CONSTRAINT fk_rater_declarations_caution_id FOREIGN KEY(caution_id) REFERENCES texts (id),
	CONSTRAINT fk_rater_declarations_prompt_id FOREIGN KEY(prompt_id) REFERENCES texts (id)
);
CREATE INDEX ix_rater_declarations_administration_id ON rater_declarations (administration_id);
