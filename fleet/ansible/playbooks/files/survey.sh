#!/bin/sh
# Prints one line: board; system; kernel; disk below /; model; maker; made; sectors; state of /; Python; cardmark. Reads only.
# $1: path of cardmark.
of() { tr -d '\0\r\n;' 2>/dev/null; }
file() { if [ -r "$1" ]; then of <"$1"; fi; }
source=$(findmnt -no SOURCE / 2>/dev/null | sed 's/\[.*//')
disk=$(lsblk -nrso NAME,TYPE "$source" 2>/dev/null | awk '$2 == "disk" { print $1; exit }')
device=/sys/block/$disk/device
board=$(file /proc/device-tree/model)
system=$(. /etc/os-release 2>/dev/null && printf %s "$PRETTY_NAME" | of)
model=$(file "$device/name")
root=$(findmnt -no OPTIONS / 2>/dev/null | cut -d , -f 1)
python=$(python3 --version 2>/dev/null | of)
cardmark=$("$1" --version 2>/dev/null | of)
printf 'cardmark-survey;%s;%s;%s;%s;%s;%s;%s;%s;%s;%s;%s\n' \
  "${board:-$(file /sys/class/dmi/id/product_name)}" "$system" "$(uname -rm)" "$disk" \
  "${model:-$(file "$device/model")}" "$(file "$device/manfid")" "$(file "$device/date")" \
  "$(file "/sys/block/$disk/size")" "$root" "$python" "$cardmark"
