#!/bin/sh
# A device that holds no socket, in curl and openssl: it pairs, waits for commands, carries out what it is given, and reports it.
#   ERRAND_GATEWAY_HTTP=http://127.0.0.1:7420 ERRAND_TOKEN=... sh docs/http-device.sh [TASKS]
# It ends after TASKS tasks; without a number it goes on for ever. What it "does" is to say that it did it.
set -eu
url=${ERRAND_GATEWAY_HTTP:-http://127.0.0.1:7420}
url=${url%/}
left=${1:--1}
dir=${DEVICE_STATE:-.errand/http-device}
mkdir -p "$dir"

b64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
# field NAME: the first text or number of that name in the JSON on stdin. Good enough for what is asked of it here.
field() { tr -d '\n' | sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }

# Who it is: an Ed25519 key that stays. Its id is the hash of its public half.
[ -f "$dir/key.pem" ] || openssl genpkey -algorithm ed25519 -out "$dir/key.pem"
openssl pkey -in "$dir/key.pem" -pubout -outform DER | tail -c 32 >"$dir/public"
public=$(b64url <"$dir/public")
id=$(openssl dgst -sha256 -r <"$dir/public" | cut -d' ' -f1)

# What it can be relied on for, and which boot this is. A device of yours keeps its boots while events of them are unacknowledged.
boot=b$(date +%s)-$$
errand='{"profile":{"status":true,"dedupe":true,"outbox":false},"boots":["'$boot'"],"store_id":"'$id'","retention_s":3600}'

# connect: sign the challenge with the key, and get the device's own token.
connect() {
  challenge=$(curl -sS -X POST "$url/v1/challenge")
  nonce=$(echo "$challenge" | field nonce) ts=$(echo "$challenge" | field ts)
  printf 'v3|%s|http-device|node|node||%s|%s|%s|linux|' "$id" "$ts" "$ERRAND_TOKEN" "$nonce" >"$dir/text"
  signature=$(openssl pkeyutl -sign -inkey "$dir/key.pem" -rawin -in "$dir/text" | b64url)
  curl -sS "$url/v1/connect" -d '{"minProtocol":4,"maxProtocol":4,"role":"node","scopes":[],"caps":[],
    "client":{"id":"http-device","displayName":"http-device","version":"1","platform":"linux","mode":"node"},
    "commands":["taskmanager.submitTask","taskmanager.getTaskStatus","assistant.say"],"auth":{"token":"'"$ERRAND_TOKEN"'"},
    "device":{"id":"'"$id"'","publicKey":"'"$public"'","signature":"'"$signature"'","signedAt":'"$ts"',"nonce":"'"$nonce"'"},
    "errand":'"$errand"'}'
}
answer=$(connect)
token=$(echo "$answer" | field device_token)
while [ -z "$token" ]; do # nobody approved it yet: errand device approve DEVICE
  echo "http-device waits: $answer" >&2
  sleep 2
  answer=$(connect)
  token=$(echo "$answer" | field device_token)
done
echo "http-device ready: $id"

ask() { curl -sS -H "Authorization: Bearer $token" "$@"; }
respond() { ask "$url/v1/devices/$id/responses" -d '{"request_id":"'"$1"'","ok":true,"payload":'"$2"'}' >/dev/null; }

seq=0
# tell NAME OPERATION METHOD RESULT: one event, sent until it is acknowledged.
tell() {
  seq=$((seq + 1))
  event='{"event_id":"'$boot-$seq'","boot_id":"'$boot'","seq":'$seq',"event_name":"'$1'","operation_id":"'$2'","task_method":"'$3'","task_id":"'$2'","result":'$4'}'
  until ask -f "$url/v1/task-events" -d '{"errand":'"$errand"',"event":'"$event"'}'; do sleep 1; done
  echo
}

while [ "$left" != 0 ]; do
  got=$(ask -f "$url/v1/devices/$id/requests?wait=30s" | tr -d '\n') || { sleep 1; continue; }
  # One command at a time: what is left over is told again.
  request=$(echo "$got" | field request_id) command=$(echo "$got" | field command)
  operation=$(echo "$got" | field operation_id) method=$(echo "$got" | field taskMethod)
  case "$command" in
  taskmanager.submitTask)
    respond "$request" '{"accepted":true,"taskId":"'"$operation"'","taskState":"QUEUED","taskMethod":"'"$method"'","store_id":"'"$id"'"}'
    if ! grep -qsxF "$operation" "$dir/done"; then # the same operation again moves nothing
      echo "$operation" >>"$dir/done"
      tell COMPLETED "$operation" "$method" '{"area_id":"6"}'
      left=$((left - 1))
    fi ;;
  taskmanager.getTaskStatus)
    if grep -qsxF "$operation" "$dir/done"; then
      respond "$request" '{"found":true,"status":"COMPLETED","taskId":"'"$operation"'","store_id":"'"$id"'","boot_id":"'"$boot"'","as_of_seq":'"$seq"'}'
    else
      respond "$request" '{"found":false,"store_id":"'"$id"'"}'
    fi ;;
  ?*) respond "$request" '{}' ;;
  esac
done
