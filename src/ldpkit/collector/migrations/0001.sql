CREATE TABLE collections (
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    envelope {blob} NOT NULL,
    retired INTEGER NOT NULL,
    checksum {blob} NOT NULL,
    PRIMARY KEY (id, version)
);
CREATE TABLE closed_rounds (
    collection TEXT NOT NULL,
    round {int64} NOT NULL,
    checksum {blob} NOT NULL,
    PRIMARY KEY (collection, round)
);
CREATE TABLE chunks (
    number {int64} NOT NULL PRIMARY KEY,
    collection TEXT NOT NULL,
    version INTEGER NOT NULL,
    question TEXT NOT NULL,
    round {int64} NOT NULL,
    n {int64} NOT NULL,
    reports {blob} NOT NULL,
    ids {blob} NOT NULL,
    checksum {blob} NOT NULL
);
CREATE INDEX chunks_of ON chunks (collection, question, round, version);
CREATE TABLE tallies (
    collection TEXT NOT NULL,
    version INTEGER NOT NULL,
    question TEXT NOT NULL,
    round {int64} NOT NULL,
    n {int64} NOT NULL,
    counts {blob} NOT NULL,
    checksum {blob} NOT NULL,
    PRIMARY KEY (collection, version, question, round)
);
CREATE TABLE tokens (
    name TEXT NOT NULL PRIMARY KEY,
    role TEXT NOT NULL,
    digest {blob} NOT NULL UNIQUE,
    checksum {blob} NOT NULL
);
CREATE TABLE audit (
    number {serial},
    day TEXT NOT NULL,
    what TEXT NOT NULL,
    checksum {blob} NOT NULL
);
