#!/usr/bin/env bash
# Checks a running service against the OpenAPI description: requests made from it by Schemathesis find no server error, no
# answer that differs from the description, and no undocumented status. Bounded to about two minutes.
# Usage: tests/contract/run.sh URL TEST_TOKEN API_KEY
set -euo pipefail
cd "$(dirname "$0")/../.."
url=$1 token=$2 key=$3
SCHEMATHESIS_VERSION=4.32.5

# Off: checks that accepted data is valid by the description. Numbers are accepted as text too, as documented.
check() {
    .venv/bin/uv tool run "schemathesis@$SCHEMATHESIS_VERSION" run documentation/openapi.json --url "$url" \
        --include-path-regex "$1" --header "$2" --phases examples,coverage,fuzzing,stateful --max-examples 10 \
        --exclude-checks negative_data_rejection,positive_data_acceptance,ignored_auth,missing_required_header \
        --request-timeout 10 --seed 1 --no-color
}

check '^/api/(?!integration)' "Authorization: Bearer $token"
check '^/api/integration' "Authorization: Basic $key"
