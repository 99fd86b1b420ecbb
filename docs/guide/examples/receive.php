<?php
// Whether Rota signed this body within the last five minutes. $headers with names in lower case, $body as it arrived.
function isSignedByRota(array $headers, string $body): bool
{
    $secret = base64_decode(substr(getenv('WEBHOOK_SECRET'), strlen('whsec_')));
    $sentAt = $headers['webhook-timestamp'] ?? '';
    if (!ctype_digit($sentAt) || abs(time() - (int) $sentAt) > 300) {
        return false;
    }
    $signed = ($headers['webhook-id'] ?? '') . '.' . $sentAt . '.' . $body;
    $expected = base64_encode(hash_hmac('sha256', $signed, $secret, true));
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $part) {
        if (hash_equals($expected, (string) substr($part, strpos($part, ',') + 1))) {
            return true;
        }
    }
    return false;
}

$headers = array_change_key_case(getallheaders());
$body = file_get_contents('php://input');
if (!isSignedByRota($headers, $body)) {
    error_log('Not signed with this WEBHOOK_SECRET, or clocks differ. Take the secret of this endpoint.');
    http_response_code(401);
    exit;
}
$event = json_decode($body, true);
$id = $event['deliveryId'] ?? $event['orderId'];
error_log("{$headers['webhook-id']} $id {$event['status']}");
http_response_code(204);
