#!/bin/sh
# Writes certificates.pem: the certificates of the tests of TLS, with fresh keys, valid from 2000 to 2100.
# After each line `# name` stand a certificate and its key; those of the authorities are not needed again, and left out.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/ca.cnf" <<END
[ca]
default_ca = ca_default
[ca_default]
database = $folder/index.txt
new_certs_dir = $folder
rand_serial = yes
unique_subject = no
default_md = sha256
policy = names
[names]
commonName = supplied
[req]
distinguished_name = names
END
: >"$folder/index.txt"

# sign NAME AUTHORITY COMMON-NAME EXTENSIONS [END]: an authority of the same name signs itself.
sign() {
    openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$folder/$1.key"
    openssl req -new -config "$folder/ca.cnf" -key "$folder/$1.key" -subj "/CN=$3" -out "$folder/$1.csr"
    printf '%b\n' "$4" >"$folder/$1.ext"
    signer="-cert $folder/$2.pem"
    if [ "$1" = "$2" ]; then signer=-selfsign; fi
    # shellcheck disable=SC2086
    openssl ca -batch -notext -config "$folder/ca.cnf" -keyfile "$folder/$2.key" $signer -extfile "$folder/$1.ext" \
        -startdate 20000101000000Z -enddate "${5:-21000101000000Z}" -in "$folder/$1.csr" -out "$folder/$1.pem" \
        2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
    {
        echo "# $1"
        cat "$folder/$1.pem"
        case $4 in *CA:TRUE*) ;; *) cat "$folder/$1.key" ;; esac
    } >>"$folder/certificates.pem"
}

authority='basicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign, cRLSign'
localhost='subjectAltName = DNS:localhost, IP:127.0.0.1'
for name in servers clients strangers; do sign "$name" "$name" "Backplane test $name" "$authority"; done
sign server servers localhost "$localhost"
sign expired servers localhost "$localhost" 20010101000000Z
sign other-host servers books.example.org 'subjectAltName = DNS:books.example.org'
sign strange-server strangers localhost "$localhost"
sign self-signed self-signed localhost "$localhost"
for name in ann bob; do sign "$name" clients "$name" "subjectAltName = DNS:$name"; done
sign strange-client strangers eve 'subjectAltName = DNS:eve'
mv "$folder/certificates.pem" certificates.pem
