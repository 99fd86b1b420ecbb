#!/usr/bin/env bash
# Checks a running service against the OpenAPI description, with the tools that integrators use.
# Usage: tests/contract/run.sh CHECK URL TEST_TOKEN API_KEY CARRIER_KEY, where CHECK is one of the functions below.
set -euo pipefail
cd "$(dirname "$0")/../.."
check=$1 url=$2 token=$3 key=$4 carrier=$5
SCHEMATHESIS_VERSION=4.32.5
OPENAPI_GENERATOR_VERSION=7.26.0
described=panel/guide/openapi.json
generated=var/contract
invoice=tests/contract/invoice.xml
# The generator and the compiler end before it pays to compile their code again, better.
export JAVA_TOOL_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

tool() { timeout "$1" "tests/contract/node_modules/.bin/$2" "${@:3}"; }

lint() {
    tool 180 redocly lint "$described" --config tests/contract/redocly.yaml
}

# Requests made from the description find no server error, no answer that differs from it, and no undocumented status. What
# it allows is accepted, and what it forbids is refused, but for what schemathesis_hooks.py lists, which makes rows first.
# The third argument: the phases, by default all of them.
fuzz() {
    ROTA_URL=$url ROTA_AUTHORIZATION=${2#*: } PYTHONPATH=tests/contract timeout 500 .venv/bin/uv tool run "schemathesis@$SCHEMATHESIS_VERSION" \
        --config-file tests/contract/schemathesis.toml run "$described" --url "$url" \
        --include-path-regex "$1" --header "$2" --phases "${3:-examples,coverage,fuzzing,stateful}" --max-examples 20 \
        --exclude-checks ignored_auth,missing_required_header \
        --request-timeout 10 --seed 1 --no-color
}

# The client that openapi-generator makes for a language, in "$generated/LANGUAGE". It makes files of webhooks too, unless told
# what to make, and those for TypeScript do not compile.
client() {
    rm -rf "${generated:?}/$1"
    mkdir -p "$generated/$1"
    timeout 180 .venv/bin/uv tool run --from "openapi-generator-cli==$OPENAPI_GENERATOR_VERSION" openapi-generator-cli \
        generate --input-spec "$described" --generator-name "$2" --output "$generated/$1" \
        --global-property apis,models,supportingFiles "${@:3}" >"$generated/$1.log" || { tail -50 "$generated/$1.log"; return 1; }
}

# Every call with the client for TypeScript, whose compiler accepts the program.
typescript() {
    client typescript typescript-fetch
    echo '{"type": "module"}' >"$generated/package.json"
    tool 180 tsc --project tests/contract
    tool 180 tsx tests/contract/client.ts "$invoice" "$url" "$token" "$key" "$carrier"
}

# Every call with the client for Python, in CI.
python() {
    client python python --package-name rota
    PYTHONPATH="$generated/python" timeout 180 .venv/bin/python tests/contract/client.py \
        "$described" "$invoice" "$url" "$token" "$key" "$carrier"
}

# The compilers of the other languages accept their clients, with Debian's packages of what these import.
go() {
    client go/src/rota go --additional-properties enumClassPrefix=true
    rm -r "$generated/go/src/rota/test" # imports packages that Debian has not
    GO111MODULE=off GOPATH="$PWD/$generated/go:/usr/share/gocode" timeout 180 go vet rota
}

php() {
    client php php
    find "$generated/php/lib" -name '*.php' -print0 | timeout 180 xargs -0 -n 1 php -l >/dev/null
}

# Without the reader of dates, for whose library Debian has no package.
java() {
    client java java --library native --additional-properties openApiNullable=false
    local client=org/openapitools/client jars
    jars=$(printf '%s:' /usr/share/java/{jackson-core,jackson-databind,jackson-annotations,httpcore,httpmime,httpclient}.jar \
        /usr/share/java/{jsr305,geronimo-annotation-1.3-spec}.jar)
    rm "$generated/java/src/main/java/$client"/RFC3339{InstantDeserializer,JavaTimeModule}.java
    timeout 180 javac -encoding UTF-8 -nowarn -proc:none -d "$generated/java/classes" -cp "$jars" tests/contract/java/*.java \
        $(find "$generated/java/src/main" -name '*.java')
}

# Each request of the collection succeeds.
postman() {
    tool 240 tsx tests/contract/run_postman.ts "$invoice" "$url" "$token" "$key" "$carrier"
}

fuzz_immediate_delivery() { fuzz '^/api/(?!integration)' "Authorization: Bearer $token"; }
fuzz_order_integration() { fuzz '^/api/integration/(?!carrier)' "Authorization: Basic $key"; }
fuzz_carriers() { fuzz '^/api/integration/carrier' "Authorization: Basic $carrier" examples,coverage,fuzzing; } # one call has no states

mkdir -p "$generated"
timeout 180 make --silent tests/contract/node_modules/.ready
"$check"
