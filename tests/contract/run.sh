#!/usr/bin/env bash
# Checks a running service against the OpenAPI description, with the tools that integrators use.
# Usage: tests/contract/run.sh CHECK URL TEST_TOKEN API_KEY CARRIER_KEY, where CHECK is one of the functions below.
set -euo pipefail
cd "$(dirname "$0")/../.."
check=$1 url=$2 token=$3 key=$4 carrier=$5
SCHEMATHESIS_VERSION=4.32.5
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
        --include-path-regex "$1" --header "$2" --phases "${3:-examples,coverage,fuzzing,stateful}" --max-examples 10 \
        --exclude-checks ignored_auth,missing_required_header \
        --request-timeout 10 --seed 1 --no-color
}

# The content of a block of code of the guide's page of clients.
block() { awk -v name="$1" '/^```/ { inside = !inside && $2 == name; next } inside' docs/guide/clients.md; }

# The client that the guide's command makes, in "$generated/NAME", with the tools that are pinned here.
client() {
    rm -rf "${generated:?}/$1"
    mkdir -p "$generated/$1"
    BASE_URL=$url command=$(block "generate-$1")
    (cd "$generated/$1" && eval "$command") >"$generated/$1.log" 2>&1 || { tail -50 "$generated/$1.log"; return 1; }
}
uvx() { timeout 180 "$PWD/../../../.venv/bin/uv" tool run "$@"; }
npx() {
    local contract=$PWD/../../../tests/contract
    while [[ $1 == -p ]]; do
        grep -F "\"${2%@*}\": \"${2##*@}\"" "$contract/package.json" || return 1
        shift 2
    done
    timeout 180 "$contract/node_modules/.bin/$1" "${@:2}"
}

# Runs the guide's program NAME as FILE by COMMAND, in the folder of its client: what it prints and saves of a new order is
# what curl gets.
program() {
    local name=$1 file=$2 folder=$generated/$1 printed
    export BASE_URL=$url API_KEY=$key ORDER_ID
    eval "$(block create-order-for-client)" >"$generated/order.json"
    block "use-$name" >"$folder/$file"
    printed=$(cd "$folder" && timeout 180 "${@:3}")
    echo "$printed"

    freight=$(get shipping/quote --json '{"origin": "01310100", "destination": "40020000", "weight": 2.5}' | number amount)
    [[ $printed =~ ^$freight\ centavos\ [0-9a-f-]{36}$'\n'order_not_found$ ]]
    get "orders/$ORDER_ID/label.pdf?size=a6" | cmp - "$folder/label.pdf"
    get "manifests/$(get 'manifests?limit=1' | number manifestId).pdf" | cmp - "$folder/manifest.pdf"
}
get() { curl --silent --show-error --fail --max-time 10 --user "$key:" "$url/api/integration/$1" "${@:2}"; }
number() { .venv/bin/python -c 'import re, sys; print(re.search(rf"\"{sys.argv[1]}\": *([0-9]+)", sys.stdin.read())[1])' "$1"; }

# Every call with the client for Python, and the guide's program, in CI.
python() {
    client python
    export PYTHONPATH=$PWD/$generated/python/rota-client
    timeout 180 .venv/bin/python tests/contract/client.py "$described" "$invoice" "$url" "$token" "$key" "$carrier"
    program python use.py "$PWD/.venv/bin/python" use.py
}

openapi_python_client() {
    client openapi-python-client
    program openapi-python-client use.py "$PWD/.venv/bin/uv" run --quiet --no-project --python "$PWD/.venv/bin/python" \
        --with ./rota-client python use.py
}

# Every call with the client for TypeScript, and the guide's program.
typescript() {
    typed_client typescript
    tool 180 tsc --project tests/contract
    tool 180 tsx tests/contract/client.ts "$invoice" "$url" "$token" "$key" "$carrier"
    typed_program typescript
}

hey_api() {
    typed_client hey-api
    typed_program hey-api
}

typed_client() {
    client "$1"
    echo '{"type": "module"}' >"$generated/$1/package.json"
}

# The compiler accepts the program too.
typed_program() {
    program "$1" use.ts "$PWD/tests/contract/node_modules/.bin/tsx" use.ts
    echo '{"extends": "../../../tests/contract/tsconfig.json", "include": ["use.ts"]}' >"$generated/$1/tsconfig.json"
    tool 180 tsc --project "$generated/$1"
}

# With Guzzle of Debian's package.
php() {
    client php
    find "$generated/php/rota-client/lib" -name '*.php' -print0 | timeout 180 xargs -0 -n 1 php -l >/dev/null
    mkdir "$generated/php/rota-client/vendor"
    cp tests/contract/autoload.php "$generated/php/rota-client/vendor"
    program php use.php php use.php
}

# Its client imports the standard library alone.
go() {
    client go
    export GO111MODULE=off GOPATH=$PWD/$generated/gopath GOFLAGS=-buildvcs=false
    mkdir -p "$generated/gopath/src/example.com"
    ln -sfn "$PWD/$generated/go" "$generated/gopath/src/example.com/shop"
    timeout 180 go vet example.com/shop/rota
    program go use.go go run use.go
}

# With Debian's packages, but for the library that reads moments, for which tests/contract/java stands.
java() {
    client java
    local folder=$generated/java jars
    jars=$(printf '%s:' /usr/share/java/{jackson-core,jackson-databind,jackson-annotations,httpcore,httpmime,httpclient}.jar \
        /usr/share/java/{jsr305,geronimo-annotation-1.3-spec}.jar)
    rm "$folder"/rota-client/src/main/java/rota/RFC3339{InstantDeserializer,JavaTimeModule}.java
    timeout 180 javac -encoding UTF-8 -nowarn -proc:none -d "$folder/classes" -cp "$jars" tests/contract/java/*.java \
        $(find "$folder/rota-client/src/main" -name '*.java')
    program java Use.java java -cp "classes:$jars" Use.java
}

# Each request of the collection succeeds.
postman() {
    tool 240 tsx tests/contract/run_postman.ts "$invoice" "$url" "$token" "$key" "$carrier"
}

fuzz_immediate_delivery() { fuzz '^/api/(?!integration)' "Authorization: Bearer $token"; }
fuzz_order_integration() { fuzz '^/api/integration/(?!carrier)' "Authorization: Basic $key"; }
fuzz_carriers() { fuzz '^/api/integration/carrier' "Authorization: Basic $carrier" examples,fuzzing; } # one call has no states

mkdir -p "$generated"
timeout 180 make --silent tests/contract/node_modules/.ready
"$check"
