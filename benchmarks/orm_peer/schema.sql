-- What this peer reads and writes beside the tables of `benchmarks/api_peer/schema.sql`, with its rows.

CREATE INDEX ON stop (external_id);
CREATE TABLE webhook_endpoint (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id int NOT NULL REFERENCES account,
    number smallint NOT NULL,
    url text NOT NULL,
    statuses text[] NOT NULL DEFAULT '{}',  -- none: all
    UNIQUE (account_id, number)
);
INSERT INTO webhook_endpoint (account_id, number, url) SELECT id, 1, 'http://127.0.0.1:9/hook' FROM account;
ALTER TABLE event ADD endpoint_id int NOT NULL REFERENCES webhook_endpoint, ADD state varchar(11) NOT NULL;
CREATE INDEX ON event (endpoint_id);

CREATE TABLE seller_endpoint (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seller_id int NOT NULL REFERENCES seller,
    number smallint NOT NULL,
    url text NOT NULL,
    UNIQUE (seller_id, number)
);
INSERT INTO seller_endpoint (seller_id, number, url) SELECT id, 1, '' FROM seller;
CREATE TABLE carrier (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    active boolean NOT NULL
);
CREATE TABLE carrier_rule (  -- an empty condition holds for every order
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    carrier_id int NOT NULL REFERENCES carrier,
    state varchar(2) NOT NULL,
    service varchar(5) NOT NULL,
    UNIQUE (state, service)
);
ALTER TABLE invoice ADD is_void boolean NOT NULL DEFAULT false;
-- `unrecorded_at`: since when the order has no events, because no endpoint had a URL.
ALTER TABLE purchase ADD carrier_id int REFERENCES carrier, ADD unrecorded_at timestamptz;
