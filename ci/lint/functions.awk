# functions.awk: after strip.awk: functions of more than 70 lines. A brace is a scope (namespace, class, enum), the value
# of a concept, or else the body of a function; what stands inside a function belongs to it.
FNR == 1 { depth = 0; text = ""; first = 0; function_depth = 0; continued = 0 }
continued || /^[ \t]*#/ { continued = raw ~ /\\$/; next }
{
  for (i = 1; i <= length($0); i++) {
    c = substr($0, i, 1)
    if (c == "{") {
      depth++
      if (!function_depth && !is_scope(text)) { function_depth = depth; start = first ? first : FNR; what = text }
      text = ""; if (!function_depth) first = 0
    } else if (c == "}") {
      if (function_depth == depth) {
        if (FNR - start + 1 > 70) {
          sub(/^[ \t]+/, "", what)
          printf "%s:%d: a function of %d lines, 70 is the most: %s\n", FILENAME, start, FNR - start + 1, substr(what, 1, 60)
          bad = 1
        }
        function_depth = 0
      }
      depth--; text = ""; first = 0
    } else if (c == ";") { text = ""; if (!function_depth) first = 0 }
    else { text = text c; if (!first && c !~ /[ \t]/) first = FNR }
  }
  text = text " "
}
END { exit bad }
