-- The peer's tables: those that Rota reads and writes in the same calls.

CREATE TABLE account (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    is_suspended boolean NOT NULL DEFAULT false
);
CREATE TABLE token (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    account_id int NOT NULL REFERENCES account,
    digest bytea NOT NULL UNIQUE,
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE TABLE pickup_point (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id int NOT NULL REFERENCES account,
    latitude float8 NOT NULL,
    longitude float8 NOT NULL,
    radius_m int NOT NULL
);
CREATE INDEX ON pickup_point (account_id);
CREATE TABLE tariff (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id int REFERENCES account,
    vehicle_type varchar(10) NOT NULL,
    active boolean NOT NULL,
    base_fare numeric(8, 2) NOT NULL,
    included_km numeric(6, 2) NOT NULL,
    price_per_km numeric(8, 2) NOT NULL,
    price_per_extra_dropoff numeric(8, 2) NOT NULL,
    minimum_fare numeric(8, 2) NOT NULL,
    maximum_km numeric(6, 2) NOT NULL,
    maximum_kg numeric(8, 3) NOT NULL
);
CREATE TABLE driver (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    phone text NOT NULL
);
CREATE TABLE position (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    driver_id int NOT NULL REFERENCES driver,
    latitude float8 NOT NULL,
    longitude float8 NOT NULL,
    accuracy_m float8,
    recorded_at timestamptz NOT NULL
);
CREATE INDEX ON position (driver_id, recorded_at DESC);
CREATE TABLE delivery (
    id uuid PRIMARY KEY,
    route_id uuid NOT NULL UNIQUE,
    account_id int NOT NULL REFERENCES account,
    token_id uuid NOT NULL REFERENCES token,
    driver_id int REFERENCES driver,
    status varchar(9) NOT NULL,
    route_status varchar(9) NOT NULL,
    vehicle_type varchar(10) NOT NULL,
    contact_name text NOT NULL,
    contact_phone text NOT NULL,
    address jsonb NOT NULL,
    packages jsonb NOT NULL,
    shipping_value numeric(10, 2) NOT NULL,
    distance_km numeric(8, 2) NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    offer_expires_at timestamptz NOT NULL
);
CREATE INDEX ON delivery (account_id);
CREATE TABLE stop (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    delivery_id uuid NOT NULL REFERENCES delivery,
    index int NOT NULL,
    external_id text NOT NULL,
    contact_name text NOT NULL,
    contact_phone text NOT NULL,
    address jsonb NOT NULL,
    status varchar(9) NOT NULL
);
CREATE INDEX ON stop (delivery_id);
CREATE TABLE transition (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    delivery_id uuid NOT NULL REFERENCES delivery,
    trigger text NOT NULL,
    status varchar(9) NOT NULL,
    by text NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON transition (delivery_id);
CREATE TABLE event (
    id uuid PRIMARY KEY,
    delivery_id uuid NOT NULL REFERENCES delivery,
    name varchar(9) NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON event (delivery_id);
CREATE TABLE queue_item (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id uuid NOT NULL UNIQUE REFERENCES event,
    due_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON queue_item (due_at);

CREATE SEQUENCE tracking_number;
CREATE TABLE seller (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    is_suspended boolean NOT NULL DEFAULT false
);
CREATE TABLE api_key (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seller_id int NOT NULL REFERENCES seller,
    digest bytea NOT NULL UNIQUE,
    hint text NOT NULL,
    revoked_at timestamptz
);
CREATE TABLE company (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seller_id int NOT NULL REFERENCES seller,
    document varchar(14) NOT NULL UNIQUE
);
CREATE TABLE freight_rate (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    service varchar(7) NOT NULL,
    zone varchar(8) NOT NULL,
    origin_kind varchar(8) NOT NULL,
    destination_kind varchar(8) NOT NULL,
    base_centavos int NOT NULL,
    extra_kg_centavos int NOT NULL,
    deadline_days int NOT NULL,
    UNIQUE (service, zone, origin_kind, destination_kind)
);
-- One row. The defaults are those of Rota's migration.
CREATE TABLE freight_parameters (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    default_weight_g int NOT NULL DEFAULT 1000,
    max_weight_g int NOT NULL DEFAULT 30000,
    weight_rounding_g int NOT NULL DEFAULT 1000,
    cubic_divisor_cm3_per_kg int NOT NULL DEFAULT 6000,
    cubic_threshold_g int NOT NULL DEFAULT 5000,
    ad_valorem_bp int NOT NULL DEFAULT 100,
    ad_valorem_free_centavos int NOT NULL DEFAULT 5000,
    gris_bp int NOT NULL DEFAULT 0,
    minimum_charge_centavos int NOT NULL DEFAULT 2290,
    handling_days int NOT NULL DEFAULT 0,
    remote_states text[] NOT NULL DEFAULT '{AC,AM,AP,RR}',
    quote_service varchar(7) NOT NULL DEFAULT 'economy'
);
CREATE TABLE purchase (  -- `order` is a word of SQL
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seller_id int NOT NULL REFERENCES seller,
    company_id int NOT NULL REFERENCES company,
    code varchar(255) NOT NULL,
    tracking_code varchar(255) NOT NULL,
    status varchar(16) NOT NULL,
    service varchar(5) NOT NULL,
    cost numeric(16, 4) NOT NULL,
    items jsonb NOT NULL,
    receiver_name varchar(255) NOT NULL,
    receiver_document varchar(255) NOT NULL,
    receiver jsonb NOT NULL,
    invoice_data jsonb,
    invoice_key varchar(255) NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    UNIQUE (seller_id, code),
    UNIQUE (seller_id, tracking_code)
);
CREATE INDEX ON purchase (seller_id, receiver_document);
CREATE INDEX ON purchase (seller_id, invoice_key);
CREATE TABLE status_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id int NOT NULL REFERENCES purchase,
    company_id int NOT NULL REFERENCES company,
    status varchar(16) NOT NULL,
    via_api boolean NOT NULL,
    by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON status_log (order_id);
CREATE TABLE search_code (  -- one value by which a tracking query finds an order
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seller_id int NOT NULL REFERENCES seller,
    order_id int NOT NULL REFERENCES purchase,
    kind varchar(14) NOT NULL,
    value varchar(255) NOT NULL,
    UNIQUE (order_id, kind, value)
);
CREATE INDEX ON search_code (seller_id, value, order_id DESC);
CREATE TABLE invoice (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seller_id int NOT NULL REFERENCES seller,
    access_key varchar(44) NOT NULL,
    number varchar(9) NOT NULL,
    UNIQUE (seller_id, access_key)
);
CREATE TABLE invoice_reference (  -- an order that an invoice names, which may be created later
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seller_id int NOT NULL REFERENCES seller,
    invoice_id int NOT NULL REFERENCES invoice,
    value varchar(255) NOT NULL
);
CREATE INDEX ON invoice_reference (seller_id, value);
CREATE TABLE invoice_link (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    invoice_id int NOT NULL REFERENCES invoice,
    order_id int NOT NULL REFERENCES purchase,
    linked_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (invoice_id, order_id)
);
CREATE INDEX ON invoice_link (order_id);
