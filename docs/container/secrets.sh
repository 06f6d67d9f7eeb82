#!/bin/sh
# Make the password of the database, once, for the two who need it; nobody ever types it.
set -eu
umask 077
folder="${SECRETS:-/secrets}"
if [ ! -s "$folder/password" ]; then
    head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' > "$folder/password.part"
    mv "$folder/password.part" "$folder/password"
fi
printf 'db:5432:askance:askance:%s\n' "$(cat "$folder/password")" > "$folder/pgpass"
chmod 755 "$folder"
chown "${DATABASE_USER:-postgres}" "$folder/password"
chown "${SERVICE_USER:-10001}" "$folder/pgpass"
