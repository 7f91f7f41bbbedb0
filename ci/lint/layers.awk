BEGIN {
  may["base"] = " base "
  may["kernel"] = " base kernel "
  may["net"] = may["kernel"] "net "
  may["reactor"] = may["net"] "reactor "
  may["timer"] = " base timer "
  may["handoff"] = " base handoff "
  may["worker"] = may["reactor"] "timer handoff worker "
  may["scheduler"] = may["worker"] "scheduler "
  may["http"] = may["scheduler"] "http "
}
function offence(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }
FNR == 1 {
  room = ""; inside = FILENAME ~ /runtime\/flare\//
  if (inside) { room = FILENAME; sub(/.*runtime\/flare\//, "", room); sub(/\/.*/, "", room) }
  if (inside && !(room in may)) offence("no such room: " room)
}
/^[ \t]*#[ \t]*include/ {
  name = $0; sub(/^[^"<]*/, "", name); sub(/["<]/, "", name); sub(/[">].*/, "", name)
  split(name, part, "/")
  if ($0 ~ /<flare\//) offence("spell it \"" name "\"")
  if (part[1] ~ /^(support|sim|tests|unit)$/ || name ~ /tests\//) offence("includes a file of tests/: " name)
  if (!inside) next
  if (part[1] == "flare_model" && FILENAME !~ /flare\/(base\/sync|kernel\/system_kernel)\.h$/) offence("only the two doors include the model: " name)
  if (name ~ /llhttp/) { if (room != "http") offence("llhttp belongs to http/"); next }
  if (part[1] == "flare") {
    if (!(part[2] in may)) offence("no such room: " name)
    else if (index(may[room], " " part[2] " ") == 0) offence(room " may not include " part[2] ": " name)
  } else if ($0 ~ /"/ && part[1] != "flare_model") offence("spell it \"flare/room/file.h\": " name)
}
END { exit bad }
