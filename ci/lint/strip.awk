# strip.awk: code without its comments and the contents of its literals. Put before a rule: awk -f strip.awk -f rule.awk.
# Each line is first rewritten in $0 (its number stays), then the rule's own patterns see it; `raw` is the line as it was.
FNR == 1 { in_comment = 0; raw_end = "" }
{ raw = $0; $0 = strip($0) }

function strip(line,    out, c, two, i, n, quote) {
  out = ""; n = length(line); i = 1
  if (raw == "") return ""
  while (i <= n) {
    if (raw_end != "") {  # inside R"x( ... )x"
      c = index(substr(line, i), raw_end)
      if (c == 0) return out
      i += c - 1 + length(raw_end); raw_end = ""; out = out "\"\""
      continue
    }
    two = substr(line, i, 2)
    if (in_comment) {
      if (two == "*/") { in_comment = 0; i += 2 } else i++
      continue
    }
    if (two == "//") return out
    if (two == "/*") { in_comment = 1; i += 2; continue }
    c = substr(line, i, 1)
    if (two == "R\"" && (i == 1 || substr(line, i - 1, 1) !~ /[A-Za-z0-9_]/)) {
      quote = index(substr(line, i + 2), "(")
      raw_end = ")" substr(line, i + 2, quote - 1) "\""
      i += 2 + quote
      continue
    }
    # A quote after a digit or letter separates digits: 1'000.
    if (c == "\"" || (c == "\047" && (i == 1 || substr(line, i - 1, 1) !~ /[0-9A-Za-z_]/))) {
      quote = c; i++
      while (i <= n && substr(line, i, 1) != quote) { if (substr(line, i, 1) == "\\") i++; i++ }
      i++; out = out quote quote
      continue
    }
    out = out c; i++
  }
  return out
}
