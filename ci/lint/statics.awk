function offence(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }
/(^|[^A-Za-z0-9_])(thread_local|__thread)([^A-Za-z0-9_]|$)/ { offence("thread_local") }
/atomic_(thread|signal)_fence/ { offence("a fence: order through an atomic that names its partner") }
/std::(unordered_)?(multi)?(map|set)<[^,<>]*\*/ { offence("a container keyed by pointers: its order differs from run to run") }
FNR == 1 { depth = 0; text = ""; inside = 0; continued = 0 }
continued || /^[ \t]*#/ { continued = raw ~ /\\$/; next }
{
  for (i = 1; i <= length($0); i++) {
    c = substr($0, i, 1)
    if (c == "{") { depth++; if (!inside && !is_scope(text)) inside = depth; text = "" }
    else if (c == "}") { if (inside == depth) inside = 0; depth--; text = "" }
    else if (c == ";") text = ""
    else {
      text = text c
      if (inside && text ~ /^[ \t]*static[ \t]+$/ && substr($0, i + 1) !~ /^(constexpr|constinit)[ \t]/)
        offence("a static inside a function: constexpr or constinit, or none")
    }
  }
  text = text " "
}
END { exit bad }
